// A word of a preprocessing file that stands for a value of an enumeration. Not for use outside
// calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_YAML_CHOICE_H_
#define RSHIFT_CALIBRATE_DATA_YAML_CHOICE_H_

#include <initializer_list>
#include <string>

#include "yaml/reader.h"

namespace rshift {

// Of values that have a Name(). Throws kInvalidInput, with the names of all, for another word.
template <typename T>
T ReadWord(const YamlPart& part, const std::string& what, std::initializer_list<T> values) {
  const std::string text = ReadString(part, what);
  std::string all;
  for (const T value : values) {
    if (text == Name(value)) return value;
    all += Cat(all.empty() ? "" : " | ", Name(value));
  }
  FailAt(part, what, " is '", text, "', expected ", all);
}

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_YAML_CHOICE_H_
