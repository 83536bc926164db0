// How the tools print: JSON, and numbers of things.
#ifndef RSHIFT_TOOLS_PRINT_H_
#define RSHIFT_TOOLS_PRINT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace rshift {

// `indent` -1: one line. Names come from files and may be no UTF-8: what is not becomes U+FFFD, for
// readers refuse anything else. NaN and infinities are null.
std::string JsonText(const nlohmann::json& json, int indent = -1);
// One line on the standard output.
void PrintJson(const nlohmann::json& json);

// On the standard output. Names come from files: control characters but the line end must not reach
// a terminal, and become '?'.
void PrintText(std::string text);

// "1 sample", "2 samples".
std::string Count(size_t number, const std::string& thing);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PRINT_H_
