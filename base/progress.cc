#include "base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <utility>

namespace rshift {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRedraw = std::chrono::milliseconds(100);  // a bar need not flicker
constexpr int64_t kBarWidth = 30;                         // characters

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

}  // namespace

struct Progress::State {
  std::string title;
  int64_t total = 0;
  bool terminal = false;
  std::mutex mutex;
  // Below: guarded by mutex.
  int64_t done = 0;
  int64_t tenths_shown = 0;
  bool drawn = false;
  Clock::time_point start = Clock::now();
  Clock::time_point last_draw;

  int64_t Percent() const { return static_cast<int64_t>(100.0 * done / total); }

  std::string Numbers() const {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    std::string text = std::to_string(Percent()) + "% (" + std::to_string(done) + "/" +
                       std::to_string(total) + "), ";
    if (done >= total) return text + Duration(elapsed);
    if (done == 0) return text + "ETA -";
    return text + "ETA " + Duration(elapsed / done * (total - done));
  }

  void DrawBar() {
    const int64_t filled = std::min(kBarWidth, kBarWidth * Percent() / 100);
    const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '-');
    // "\033[K" clears what a longer line before left over.
    std::fprintf(stderr, "\r%s [%s] %s\033[K", title.c_str(), bar.c_str(), Numbers().c_str());
    std::fflush(stderr);
    drawn = true;
    last_draw = Clock::now();
  }

  void Show() {
    if (terminal) {
      if (!drawn || done >= total || Clock::now() - last_draw >= kRedraw) DrawBar();
      return;
    }
    const int64_t tenths = Percent() / 10;
    if (tenths <= tenths_shown) return;
    tenths_shown = tenths;
    std::fprintf(stderr, "%s: %s\n", title.c_str(), Numbers().c_str());
  }
};

Progress::Progress(std::string title, int64_t total, bool quiet) {
  if (quiet || total <= 0) return;
  state_ = std::make_unique<State>();
  state_->title = std::move(title);
  state_->total = total;
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

}  // namespace rshift
