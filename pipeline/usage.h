// Wrong usage of a tool: an option that is missing, contradicts another or cannot be read. Exit
// code 2; an Error of any other kind is exit code 1.
#ifndef RSHIFT_PIPELINE_USAGE_H_
#define RSHIFT_PIPELINE_USAGE_H_

#include <string>

#include "base/error.h"

namespace rshift {

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ErrorCode::kInvalidInput, message) {}
};

// RequireUsage(ok, parts...): throws UsageError when `ok` is false.
template <typename... Args>
void RequireUsage(bool ok, const Args&... args) {
  if (!ok) throw UsageError(Cat(args...));
}

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_USAGE_H_
