// How the tools print.
#ifndef RSHIFT_TOOLS_PRINT_H_
#define RSHIFT_TOOLS_PRINT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/json_text.h"
#include "pipeline/plural.h"

namespace rshift {

// One line on the standard output, as JsonText makes it.
void PrintJson(const nlohmann::json& json);

// On the standard output. Names come from files: control characters but the line end must not reach
// a terminal, and become '?'.
void PrintText(std::string text);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PRINT_H_
