#include "runtime/limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace rshift {
namespace {

struct Part {
  const char* key;   // of ParseLimits
  const char* what;  // in messages
  uint64_t RunWork::*member;
  double unit = 1;  // of the number in the text
};
constexpr std::array<Part, 5> kParts = {{
    {"seconds", "seconds on one thread", &RunWork::nanoseconds, 1e9},
    {"macs", "multiply-accumulates", &RunWork::macs},
    {"elements", "elements computed or moved", &RunWork::elements},
    {"buffers", "bytes of buffers", &RunWork::buffers},
    {"arena", "bytes of arena", &RunWork::arena},
}};

RunWork operator+(const RunWork& a, const RunWork& b) {
  RunWork sum;
  for (const Part& part : kParts) sum.*part.member = SaturatingAdd(a.*part.member, b.*part.member);
  return sum;
}

// 12.4 seconds as "12.4", enough of them as a limit; whole numbers as they are.
std::string InUnits(uint64_t count, const Part& part) {
  if (part.unit == 1) return Cat(count);
  char digits[32];
  const double value = std::ceil(static_cast<double>(count) / part.unit * 1000) / 1000;
  std::snprintf(digits, sizeof digits, "%.15g", value);
  return digits;
}

// "command 3 (conv 'res1')", that with the most of `part`.
std::string MostOf(const ProgramImage& image, const Part& part) {
  size_t most = 0;
  uint64_t greatest = 0;
  for (size_t i = 0; i < image.commands.size(); ++i) {
    const uint64_t work = PredictWork(image, image.commands[i]).*part.member;
    if (work > greatest) greatest = work, most = i;
  }
  if (greatest == 0) return "";
  std::string name =
      Cat(", of which command ", most, " (", FindOp(image.commands[most].opcode)->name);
  if (most < image.command_names.size()) name += Cat(" '", image.command_names[most], "'");
  return name + Cat(") ", InUnits(greatest, part));
}

uint64_t ParseCount(std::string_view text, double unit, const std::string& all) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view rest =
      error == std::errc() ? text.substr(static_cast<size_t>(end - text.data())) : "?";
  for (const char letter : std::string_view("KMGT")) {
    if (rest.empty()) break;
    value *= 1024;
    if (rest.size() == 1 && rest[0] == letter) rest = "";
  }
  value *= unit;
  RSHIFT_REQUIRE(rest.empty() && std::isfinite(value) && value >= 0 && value < 0x1p63,
                 ErrorCode::kInvalidInput, "limits '", all, "': '", std::string(text),
                 "' is no count, expected a number as 2000, 1e13 or 8G");
  return static_cast<uint64_t>(std::ceil(value));  // 1.001 seconds are 1000999999.9999999 ns
}

}  // namespace

Limits Limits::None() { return {{kAny, kAny, kAny, kAny, kAny}}; }

Limits ParseLimits(const std::string& text) {
  if (text == "none") return Limits::None();
  if (text.empty()) return {};
  Limits limits;
  std::array<bool, kParts.size()> is_given{};
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = std::string_view(text).substr(at, end - at);
    const size_t equals = item.find('=');
    const auto part = std::find_if(kParts.begin(), kParts.end(), [&](const Part& p) {
      return equals != std::string_view::npos && item.substr(0, equals) == p.key;
    });
    RSHIFT_REQUIRE(
        part != kParts.end(), ErrorCode::kInvalidInput, "limits '", text, "': '", std::string(item),
        "' is not known, expected seconds=N, macs=N, elements=N, buffers=N, arena=N, or none");
    bool& given = is_given[static_cast<size_t>(part - kParts.begin())];
    RSHIFT_REQUIRE(!std::exchange(given, true), ErrorCode::kInvalidInput, "limits '", text,
                   "': ", part->key, " stands twice");
    limits.most.*part->member = ParseCount(item.substr(equals + 1), part->unit, text);
    at = end + 1;
  }
  return limits;
}

RunWork PredictWork(const ProgramImage& image) {
  RunWork work{.arena = image.arena_size};
  for (const Command& command : image.commands) work = work + PredictWork(image, command);
  return work;
}

RunWork CheckLimits(const ProgramImage& image, const Limits& limits, const std::string& where) {
  const RunWork work = PredictWork(image);
  for (const Part& part : kParts) {
    const uint64_t found = work.*part.member, most = limits.most.*part.member;
    if (found <= most) continue;
    const std::string enough =
        found == Limits::kAny ? "none" : Cat(part.key, "=", InUnits(found, part));
    Fail(ErrorCode::kUnsupported, where, ": one run takes ", part.unit == 1 ? "" : "about ",
         InUnits(found, part), " ", part.what, MostOf(image, part), ", expected at most ",
         InUnits(most, part), "; where that is meant, allow it: --limits ", enough);
  }
  return work;
}

std::string ToString(const RunWork& work) {
  const auto text = [](uint64_t count) {
    if (count < 10000) return Cat(count);
    char digits[16];
    std::snprintf(digits, sizeof digits, "%.3g", static_cast<double>(count));
    return std::string(digits);
  };
  const auto megabytes = [](uint64_t bytes) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f MB", 1e-6 * static_cast<double>(bytes));
    return std::string(digits);
  };
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.2g", 1e-9 * static_cast<double>(work.nanoseconds));
  return Cat("about ", seconds, " s on one thread, ", text(work.macs), " multiply-accumulates, ",
             text(work.elements), " elements computed or moved, arena ", megabytes(work.arena),
             ", buffers at most ", megabytes(work.buffers));
}

}  // namespace rshift
