#include "python/core/interruptible.h"

#include <chrono>
#include <future>

namespace rshift::python {

int Interruptible::Progress(void* self, const char* title, int64_t done, int64_t total) {
  auto* work = static_cast<Interruptible*>(self);
  if (work->stop_) return 1;
  if (work->listener_.is_none()) return 0;
  const py::gil_scoped_acquire held;
  try {
    work->listener_(ToStr(title), done, total);
    return 0;
  } catch (py::error_already_set&) {
    if (!work->raised_) work->raised_ = std::current_exception();
    work->stop_ = true;
    return 1;
  }
}

void Interruptible::Run(const std::function<rshift_status()>& work) {
  struct Outcome {
    rshift_status status;
    std::string text;
  };
  Outcome outcome{RSHIFT_OK, {}};
  {
    const py::gil_scoped_release released;
    // The text of an error belongs to the thread of the call.
    std::future<Outcome> future = std::async(std::launch::async, [&]() -> Outcome {
      const rshift_status status = work();
      return {status, status == RSHIFT_OK ? "" : rshift_error_text()};
    });
    while (future.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      const py::gil_scoped_acquire held;
      if (PyErr_CheckSignals() == 0) continue;
      const py::error_already_set error;  // takes it
      if (!raised_) raised_ = std::make_exception_ptr(error);
      stop_ = true;
    }
    outcome = future.get();
  }
  if (raised_) std::rethrow_exception(raised_);
  if (outcome.status != RSHIFT_OK) throw StatusError{outcome.status, outcome.text};
}

}  // namespace rshift::python
