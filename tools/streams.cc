#include "tools/streams.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "runtime/threads.h"

namespace rshift {
namespace {

// Lets the results of [0, n) pass in order, up to the first error.
class Turns {
 public:
  // Waits until everything before `index` has passed, then commits it or takes note of `error`.
  // False when an earlier one failed or this one does: there is nothing more to do.
  bool Pass(int64_t index, const std::exception_ptr& error, const Commit& commit) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == index || error_ != nullptr; });
    if (error_ != nullptr) return false;
    try {
      if (error != nullptr) std::rethrow_exception(error);
      commit();
    } catch (...) {
      error_ = std::current_exception();
    }
    ++turn_;
    changed_.notify_all();
    return error_ == nullptr;
  }

  void Rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t turn_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::vector<Session> OpenSessions(const Program& program, int streams, SessionOptions options) {
  if (options.threads == 0) options.threads = std::max(1, DefaultThreads() / streams);
  std::vector<Session> sessions;
  sessions.reserve(static_cast<size_t>(streams));
  for (int i = 0; i < streams; ++i) sessions.emplace_back(program, options);
  return sessions;
}

void OnStreams(int streams, const std::function<void(int stream)>& work) {
  if (streams == 1) return work(0);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(streams));
  std::promise<bool> gate;
  const std::shared_future<bool> complete = gate.get_future().share();
  std::vector<std::jthread> threads;
  try {
    for (int s = 0; s < streams; ++s) {
      threads.emplace_back([&, s, complete] {
        if (!complete.get()) return;
        try {
          work(s);
        } catch (...) {
          errors[static_cast<size_t>(s)] = std::current_exception();
        }
      });
    }
  } catch (const std::system_error& error) {
    gate.set_value(false);
    Fail(ErrorCode::kUnsupported, "cannot start ", streams, " streams: after ", threads.size(),
         " the system gives no more threads (", error.code().message(), ")");
  }
  gate.set_value(true);
  threads.clear();  // joins
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

void InOrder(int streams, int64_t count,
             const std::function<Commit(int stream, int64_t index)>& work) {
  std::atomic<int64_t> next{0};
  Turns turns;
  OnStreams(streams, [&](int stream) {
    for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      Commit commit;
      std::exception_ptr error;
      try {
        commit = work(stream, i);
      } catch (...) {
        error = std::current_exception();
      }
      if (!turns.Pass(i, error, commit)) return;
    }
  });
  turns.Rethrow();
}

}  // namespace rshift
