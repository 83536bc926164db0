// Work of seconds or minutes, which Ctrl-C ends and which tells how far it has come.
#ifndef RSHIFT_PYTHON_CORE_INTERRUPTIBLE_H_
#define RSHIFT_PYTHON_CORE_INTERRUPTIBLE_H_

#include <atomic>
#include <exception>
#include <functional>

#include "python/core/core.h"
#include "rshift/toolchain.h"

namespace rshift::python {

class Interruptible {
 public:
  // `listener`: a callable (title, done, total), or None.
  explicit Interruptible(py::object listener) : listener_(std::move(listener)) {}

  // For the `progress` and `user` of the options.
  static int Progress(void* self, const char* title, int64_t done, int64_t total);
  // Runs `work` on a thread of its own, without the GIL, while the calling thread answers signals:
  // Python hands them to its main thread alone. Throws what a signal's handler or the listener
  // raised once the work has ended, which it does after its next step; else StatusError.
  void Run(const std::function<rshift_status()>& work);

 private:
  py::object listener_;
  std::atomic<bool> stop_ = false;
  std::exception_ptr raised_ = nullptr;  // guarded by the GIL
};

}  // namespace rshift::python

#endif  // RSHIFT_PYTHON_CORE_INTERRUPTIBLE_H_
