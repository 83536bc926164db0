// Statuses and error texts of the C interface: what the inside throws ends here.
#ifndef RSHIFT_RSHIFT_C_STATUS_H_
#define RSHIFT_RSHIFT_C_STATUS_H_

#include "base/error.h"
#include "rshift/rshift.h"

namespace rshift {

// Of the exception that is being handled; keeps its text for the calling thread. Where even that
// cannot be kept, the status alone has to do.
rshift_status StatusOfCurrentException() noexcept;
// Of the calling thread; "" when none of its calls has failed.
const char* LastErrorText() noexcept;

// Calls `body`; what it throws becomes status and text.
template <typename Body>
rshift_status Guarded(const Body& body) noexcept {
  try {
    body();
    return RSHIFT_OK;
  } catch (...) {
    return StatusOfCurrentException();
  }
}

// Throws kInvalidInput naming both.
inline void RequirePointer(const void* pointer, const char* function, const char* argument) {
  RSHIFT_REQUIRE(pointer != nullptr, ErrorCode::kInvalidInput, function, ": ", argument,
                 " is NULL");
}

}  // namespace rshift

#endif  // RSHIFT_RSHIFT_C_STATUS_H_
