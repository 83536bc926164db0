// Progress of work whose own errors are reported and not thrown.
#ifndef RSHIFT_PIPELINE_CALLER_PROGRESS_H_
#define RSHIFT_PIPELINE_CALLER_PROGRESS_H_

#include <exception>
#include <string>

#include "base/progress.h"

namespace rshift {

// Remembers what the caller's function throws: it says nothing of the work and ends it all, so
// whoever caught the work's errors calls Rethrow behind them.
class CallerProgress {
 public:
  explicit CallerProgress(const ProgressFunction& progress) {
    if (!progress) return;
    watched_ = [this, &progress](const std::string& title, int64_t done, int64_t total) {
      try {
        progress(title, done, total);
      } catch (...) {
        thrown_ = std::current_exception();
        throw;
      }
    };
  }
  CallerProgress(const CallerProgress&) = delete;
  CallerProgress& operator=(const CallerProgress&) = delete;

  // Empty where the caller's is.
  const ProgressFunction& function() const { return watched_; }
  void Rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  ProgressFunction watched_;
  std::exception_ptr thrown_;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CALLER_PROGRESS_H_
