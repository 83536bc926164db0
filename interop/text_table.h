// What the formats of lines and words share.
#ifndef RSHIFT_INTEROP_TEXT_TABLE_H_
#define RSHIFT_INTEROP_TEXT_TABLE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rshift {

// Separated by blanks and tabs.
std::vector<std::string> WordsOf(std::string_view line);
// Calls `take` with each line, without its end, and "where:number".
void EachLine(const std::string& text, const std::string& where,
              const std::function<void(const std::string& line, const std::string& place)>& take);
// The first line that is neither blank nor begins with '#'; "" when there is none.
std::string FirstLine(const std::string& text);

// A number with nothing behind it, "nan" and "inf" too: what is wrong with them is said later.
bool IsNumber(std::string_view word);
// Throws kInvalidInput with `place` when it is not a number.
double NumberOf(const std::string& word, const std::string& place);
// Shortest decimal that reads back as the same double, or the same float.
std::string NumberText(double number);
std::string FloatNumberText(double number);
// Throws kUnsupported for names that a format of words cannot hold.
void CheckWord(const std::string& name, const char* format);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_TEXT_TABLE_H_
