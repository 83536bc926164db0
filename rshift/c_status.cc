#include "rshift/c_status.h"

#include <exception>
#include <new>
#include <string>

namespace rshift {
namespace {

thread_local std::string t_error_text;

rshift_status StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return RSHIFT_INVALID_INPUT;
    case ErrorCode::kUnsupported:
      return RSHIFT_UNSUPPORTED;
    case ErrorCode::kIo:
      return RSHIFT_IO;
    case ErrorCode::kCorrupt:
      return RSHIFT_CORRUPT;
    case ErrorCode::kInternal:
      break;
  }
  return RSHIFT_INTERNAL;
}

rshift_status Failed(rshift_status status, const char* text) noexcept {
  try {
    t_error_text = text;
  } catch (...) {
    t_error_text.clear();
  }
  return status;
}

}  // namespace

rshift_status StatusOfCurrentException() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return Failed(StatusOf(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return Failed(RSHIFT_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return Failed(RSHIFT_INTERNAL, error.what());
  } catch (...) {
    return Failed(RSHIFT_INTERNAL, "an exception of unknown type; this is a bug in Rshift");
  }
}

const char* LastErrorText() noexcept { return t_error_text.c_str(); }

}  // namespace rshift
