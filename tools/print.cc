#include "tools/print.h"

#include <cstdio>

namespace rshift {

void PrintJson(const nlohmann::json& json) { std::printf("%s\n", JsonText(json).c_str()); }

void PrintText(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) c = '?';
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);  // before what comes on stderr, where both go to one file
}

}  // namespace rshift
