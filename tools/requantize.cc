// model_tool requantize: accumulators in, integers out, one a line, in constant memory.
#include <charconv>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tools/requantize_rule.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

constexpr std::streamsize kLongestLine = 64;  // an int32 with generous blanks

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int32_t ParseAccumulator(std::string_view line, int64_t number) {
  std::string_view text = line;
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  RSHIFT_REQUIRE(error != std::errc::result_out_of_range, ErrorCode::kInvalidInput, "line ", number,
                 ": ", text, " is no int32, expected -2147483648..2147483647");
  RSHIFT_REQUIRE(error == std::errc() && end == text.data() + text.size(), ErrorCode::kInvalidInput,
                 "line ", number, ": '", text, "', expected one integer");
  return value;
}

}  // namespace

int RequantizeCommand(const RequantizeArguments& arguments, bool show, bool json) {
  const RequantizeRule rule = MakeRequantizeRule(arguments);
  if (show) std::fprintf(stderr, "%s\n", rule.Describe().c_str());
  if (json) {
    nlohmann::ordered_json head = {{"profile", arguments.profile},
                                   {"variant", arguments.variant},
                                   {"type", arguments.type},
                                   {"zero_point", arguments.zero_point},
                                   {"arithmetic", rule.Describe()}};
    std::string text = head.dump();
    text.pop_back();
    std::printf("%s,\"values\":[", text.c_str());
  }
  char line[kLongestLine + 1];
  // Where nobody reads the output, the input is not read on: ToolMain says why.
  for (int64_t number = 1; std::ferror(stdout) == 0; ++number) {
    std::cin.getline(line, sizeof line);
    const std::streamsize taken = std::cin.gcount();
    RSHIFT_REQUIRE(std::ferror(stdin) == 0, ErrorCode::kIo, "cannot read the standard input");
    if (taken == 0 && std::cin.eof()) break;
    RSHIFT_REQUIRE(!std::cin.fail(), ErrorCode::kInvalidInput, "line ", number, ": longer than ",
                   kLongestLine, " characters, expected one integer");
    const std::string_view text(line, static_cast<size_t>(std::cin.eof() ? taken : taken - 1));
    std::printf(json && number > 1 ? ",%d" : "%d", rule.Apply(ParseAccumulator(text, number)));
    if (!json) std::putchar('\n');
  }
  if (json) std::printf("]}\n");
  return 0;
}

}  // namespace rshift
