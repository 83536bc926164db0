// Numbers as text.
#ifndef RSHIFT_BASE_NUMBER_TEXT_H_
#define RSHIFT_BASE_NUMBER_TEXT_H_

#include <array>
#include <charconv>
#include <string>

namespace rshift {

// The shortest text that reads back as the same number, whatever the locale is.
template <typename Number>
std::string ShortestText(Number number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace rshift

#endif  // RSHIFT_BASE_NUMBER_TEXT_H_
