#include "tools/print.h"

#include <cstdio>

namespace rshift {

std::string JsonText(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

void PrintJson(const nlohmann::json& json) { std::printf("%s\n", JsonText(json).c_str()); }

void PrintText(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) c = '?';
  }
  std::fputs(text.c_str(), stdout);
}

std::string Count(size_t number, const std::string& thing) {
  return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

}  // namespace rshift
