// The one exception type of Rshift. Thrown while reading, compiling or loading; never while running
// a verified program. The message is one line that says what, where, what was expected, what was
// found and how to mend it:
//   conv_12: weight 'w12' has 3 dimensions, expected 4 [OC, IC/group, KH, KW]
#ifndef RSHIFT_BASE_ERROR_H_
#define RSHIFT_BASE_ERROR_H_

#include <sstream>
#include <stdexcept>
#include <string>

namespace rshift {

enum class ErrorCode {
  kInvalidInput,  // a file or value from the user is wrong
  kUnsupported,   // well-formed, but not something Rshift can do
  kIo,            // the operating system refused
  kCorrupt,       // a .rshift or .stats file fails its checks
  kInternal,      // a bug in Rshift; says so
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// Cat("conv ", 3, ": bad") -> "conv 3: bad". Floats print with enough digits to read them back.
template <typename... Args>
std::string Cat(const Args&... args) {
  std::ostringstream out;
  out.precision(9);
  (out << ... << args);
  return out.str();
}

template <typename... Args>
[[noreturn]] void Fail(ErrorCode code, const Args&... args) {
  throw Error(code, Cat(args...));
}

}  // namespace rshift

// RSHIFT_REQUIRE(ok, code, parts...): throws Error(code, Cat(parts...)) when `ok` is false. A
// macro, so that the parts are evaluated on failure alone: a check in a loop over elements costs
// one comparison.
#define RSHIFT_REQUIRE(ok, code, ...)    \
  do {                                   \
    if (!(ok)) [[unlikely]]              \
      ::rshift::Fail(code, __VA_ARGS__); \
  } while (false)

#endif  // RSHIFT_BASE_ERROR_H_
