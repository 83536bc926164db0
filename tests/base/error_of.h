// The message of the Error that a call throws.
#ifndef RSHIFT_TESTS_BASE_ERROR_OF_H_
#define RSHIFT_TESTS_BASE_ERROR_OF_H_

#include <gtest/gtest.h>

#include <concepts>
#include <string>

#include "base/error.h"

namespace rshift {

// What is returned when nothing is thrown.
inline constexpr char kNoError[] = "no error";

// Of a `Thrown` (UsageError): what else is thrown goes on to the test, which fails by it. May have
// several lines, as a list of unsupported nodes has.
template <typename Thrown = Error, std::invocable F>
std::string ErrorLinesOf(const F& f) {
  try {
    f();
  } catch (const Thrown& error) {
    return error.what();
  }
  return kNoError;
}

// Checks that it is one line.
template <typename Thrown = Error, std::invocable F>
std::string ErrorOf(const F& f) {
  const std::string message = ErrorLinesOf<Thrown>(f);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

// Checks the code too.
template <std::invocable F>
std::string ErrorOf(ErrorCode code, const F& f) {
  return ErrorOf([&] {
    try {
      f();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      throw;
    }
  });
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_BASE_ERROR_OF_H_
