#include "interop/formats.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/names.h"
#include "interop/format_list.h"

namespace rshift {
namespace {

std::string Names() {
  std::string names;
  for (const ScaleFormat& format : ScaleFormats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

// The length of the longest of the format's endings that the path has; 0: none.
size_t MatchedEnding(const ScaleFormat& format, const std::string& path) {
  std::istringstream endings(format.names);
  size_t longest = 0;
  for (std::string ending; endings >> ending;) {
    if (path.ends_with(ending)) longest = std::max(longest, ending.size());
  }
  return longest;
}

// Some editors put a byte order mark in front of UTF-8.
std::string WithoutMark(const std::string& text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

}  // namespace

std::span<const ScaleFormat> ScaleFormats() {
  static const std::array<ScaleFormat, 11> formats = {
      kRshiftScales, kRshiftTable, kAimet10, kAimet06,       kOnnxRuntime, kTensorRt,
      kOpenVinoIr,   kNcnn,        kTpuMlir, kTpuMlirQtable, kOnnxModel};
  return formats;
}

const ScaleFormat& FindScaleFormat(const std::string& name) {
  const auto formats = ScaleFormats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const ScaleFormat& format) { return format.name == name; });
  if (found != formats.end()) return *found;
  std::set<std::string> names;
  for (const ScaleFormat& format : formats) names.insert(format.name);
  const std::string close = CloseNames(names, name);
  Fail(ErrorCode::kInvalidInput, "'", name, "' is no format of scales",
       close.empty() ? "" : "; did you mean " + close + "?", " Formats: ", Names());
}

const ScaleFormat& ScaleFormatForPath(const std::string& path) {
  const auto formats = ScaleFormats();
  const auto best = std::max_element(formats.begin(), formats.end(),
                                     [&](const ScaleFormat& a, const ScaleFormat& b) {
                                       return MatchedEnding(a, path) < MatchedEnding(b, path);
                                     });
  if (MatchedEnding(*best, path) > 0) return *best;
  Fail(ErrorCode::kInvalidInput, path, ": its name does not say which format to write; give --to, ",
       "one of ", Names());
}

ScaleSet ReadScales(const std::string& bytes, const std::string& where, const std::string& from) {
  const std::string text = WithoutMark(bytes);
  const auto formats = ScaleFormats();
  const std::string head = text.substr(0, size_t{1} << 16);
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const ScaleFormat& format) {
    return format.recognise(head);
  });
  RSHIFT_REQUIRE(!from.empty() || found != formats.end(), ErrorCode::kInvalidInput, where,
                 ": no format of scales that is known; if it is one, name it by --from: ", Names());
  const ScaleFormat& format = from.empty() ? *found : FindScaleFormat(from);
  ScaleSet set = format.read(text, where);
  set.format = format.name;
  set.where = where;
  RSHIFT_REQUIRE(!set.entries.empty() || !set.precisions.empty(), ErrorCode::kInvalidInput, where,
                 ": no scales in it (read as ", format.name, ")");
  CheckScales(set);
  return set;
}

ScaleSet ReadScaleFile(const std::string& path, const std::string& from) {
  return ReadScales(ReadTextFile(path), path, from);
}

}  // namespace rshift
