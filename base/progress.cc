#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace rshift {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRedraw = std::chrono::milliseconds(100);  // a bar need not flicker
constexpr int64_t kManySteps = 10;                        // from which a log has more than the end
constexpr int64_t kBarWidth = 30, kShortestBar = 5;       // characters

// "0:07", "12:30", "3:05:00"
std::string Duration(double seconds) {
  const auto all = static_cast<int64_t>(seconds + 0.5);
  char text[40];
  if (all >= 3600) {
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", static_cast<long long>(all / 3600),
                  static_cast<long long>(all / 60 % 60), static_cast<long long>(all % 60));
  } else {
    std::snprintf(text, sizeof(text), "%lld:%02lld", static_cast<long long>(all / 60),
                  static_cast<long long>(all % 60));
  }
  return text;
}

// "1234/s", "12.3/s", "0.25/s"; "" before there is anything to tell.
std::string Rate(int64_t done, double seconds) {
  if (done == 0 || seconds <= 0) return "";
  const double rate = static_cast<double>(done) / seconds;
  char text[40];
  std::snprintf(text, sizeof(text), "%.*f/s", rate >= 100 ? 0 : rate >= 1 ? 1 : 2, rate);
  return text;
}

int64_t Percent(int64_t done, int64_t total) {
  return static_cast<int64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total));
}

std::string Remaining(int64_t done, int64_t total, double seconds) {
  if (done >= total) return Duration(seconds);
  if (done == 0) return "ETA -";
  return "ETA " + Duration(seconds / static_cast<double>(done) * static_cast<double>(total - done));
}

std::string Numbers(int64_t done, int64_t total, double seconds, bool with_rate) {
  const std::string rate = with_rate ? Rate(done, seconds) : "";
  return std::to_string(Percent(done, total)) + "% (" + std::to_string(done) + "/" +
         std::to_string(total) + "), " + rate + (rate.empty() ? "" : ", ") +
         Remaining(done, total, seconds);
}

// Of the terminal behind stderr; 0 when it does not say.
int Columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

std::string ProgressLine(const std::string& title, int64_t done, int64_t total, double seconds,
                         int columns) {
  // The last column stays free: some terminals go to the next line when it is written.
  const int64_t room = columns <= 0 ? INT64_MAX : columns - 1;
  const auto length = [](const std::string& text) { return static_cast<int64_t>(text.size()); };
  const std::string numbers = Numbers(done, total, seconds, true);
  const int64_t bar =
      std::min<int64_t>(kBarWidth, room - length(title) - length(numbers) - length(" [] "));
  if (bar >= kShortestBar) {
    const int64_t filled = bar * Percent(done, total) / 100;
    return title + " [" + std::string(static_cast<size_t>(filled), '#') +
           std::string(static_cast<size_t>(bar - filled), '-') + "] " + numbers;
  }
  for (const std::string& text :
       {title + " " + numbers, title + " " + Numbers(done, total, seconds, false),
        Numbers(done, total, seconds, false), std::to_string(Percent(done, total)) + "%"}) {
    if (length(text) <= room) return text;
  }
  return "";
}

struct Progress::State {
  std::string title;
  int64_t total = 0;
  bool terminal = false;
  std::chrono::milliseconds between{};
  std::mutex mutex;
  // Below: guarded by mutex.
  int64_t done = 0;
  int64_t tenths_shown = 0;
  bool drawn = false;
  Clock::time_point start = Clock::now();
  Clock::time_point last_draw = start;

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

  void DrawBar() {
    // "\033[K" clears what a longer line before left over. The width is asked for each time: users
    // change it.
    std::fprintf(stderr, "\r%s\033[K",
                 ProgressLine(title, done, total, Seconds(), Columns()).c_str());
    std::fflush(stderr);
    drawn = true;
    last_draw = Clock::now();
  }

  void Show() {
    if (terminal) {
      if (!drawn || done >= total || Clock::now() - last_draw >= kRedraw) DrawBar();
      return;
    }
    const int64_t tenths = Percent(done, total) / 10;
    const bool early = total < kManySteps || Clock::now() - last_draw < between;
    if (tenths <= tenths_shown || (early && done < total)) return;
    tenths_shown = tenths;
    last_draw = Clock::now();
    std::fprintf(stderr, "%s: %s\n", title.c_str(), Numbers(done, total, Seconds(), true).c_str());
  }
};

Progress::Progress(std::string title, int64_t total, bool quiet,
                   std::chrono::milliseconds between) {
  if (quiet || total <= 0) return;
  state_ = std::make_unique<State>();
  state_->title = std::move(title);
  state_->total = total;
  state_->between = between;
  state_->terminal = isatty(STDERR_FILENO) == 1;
}

Progress::~Progress() {
  if (state_ && state_->drawn) std::fputc('\n', stderr);
}

void Progress::Advance(int64_t steps) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->done = std::min(state_->total, state_->done + std::max<int64_t>(steps, 0));
  state_->Show();
}

ProgressReport::ProgressReport(std::string title, int64_t total, ProgressFunction listener)
    : title_(std::move(title)), total_(total), listener_(std::move(listener)) {
  if (listener_ && total_ > 0) listener_(title_, 0, total_);
}

void ProgressReport::Advance() {
  if (!listener_) return;
  const std::lock_guard lock(mutex_);
  if (done_ < total_) listener_(title_, ++done_, total_);
}

ProgressFunction ShowProgress() {
  const auto shown = std::make_shared<std::unique_ptr<Progress>>();
  return [shown](const std::string& title, int64_t done, int64_t total) {
    if (done == 0) {
      shown->reset();  // ends the line of a loop that failed
      *shown = std::make_unique<Progress>(title, total);
    } else if (*shown) {
      (*shown)->Advance();
    }
    if (done >= total) shown->reset();
  };
}

}  // namespace rshift
