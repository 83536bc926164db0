#include "calibrate/data/path_patterns.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "calibrate/data/dataset.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxNames = 1000000;
constexpr const char* kWildcards = "*?[";

bool PathExists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::optional<int64_t> WholeNumber(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

std::string Padded(int64_t value, size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// What stands between braces: "000..003", or "a,b". None for anything else.
std::vector<std::string> Alternatives(const std::string& inside, const std::string& pattern) {
  std::vector<std::string> found;
  const size_t dots = inside.find("..");
  if (dots != std::string::npos) {
    const std::string first = inside.substr(0, dots);
    const std::optional<int64_t> from = WholeNumber(first),
                                 to = WholeNumber(inside.substr(dots + 2));
    if (!from || !to) return {};
    RSHIFT_REQUIRE(*from <= *to && *to - *from < kMaxNames, ErrorCode::kInvalidInput, pattern,
                   ": the range {", inside, "} is expected to ascend, by at most ", kMaxNames,
                   " names");
    for (int64_t i = *from; i <= *to; ++i) found.push_back(Padded(i, first.size()));
    return found;
  }
  if (inside.find(',') == std::string::npos) return {};
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = inside.find(',', begin);
    found.push_back(inside.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return found;
}

// Every name that the braces of `text` stand for, from left to right.
std::vector<std::string> ExpandBraces(const std::string& text) {
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    const auto middle = Alternatives(text.substr(open + 1, close - open - 1), text);
    if (middle.empty()) continue;
    std::vector<std::string> names;
    const std::vector<std::string> ends = ExpandBraces(text.substr(close + 1));
    for (const std::string& one : middle) {
      for (const std::string& end : ends) names.push_back(text.substr(0, open) + one + end);
      RSHIFT_REQUIRE(static_cast<int64_t>(names.size()) <= kMaxNames, ErrorCode::kInvalidInput,
                     text, ": stands for more than ", kMaxNames, " names");
    }
    return names;
  }
  return {text};
}

std::vector<std::string> Glob(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  const int status = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  for (size_t i = 0; status == 0 && i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  RSHIFT_REQUIRE(status == 0 || status == GLOB_NOMATCH, ErrorCode::kIo, pattern,
                 ": cannot list the files that match");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The folder before the first wildcard or brace; "" for the current one.
std::string RootOf(const std::string& pattern) {
  const size_t special = pattern.find_first_of(Cat(kWildcards, "{"));
  const size_t slash = pattern.rfind('/', special);
  return slash == std::string::npos ? "" : pattern.substr(0, slash + 1);
}

}  // namespace

PathMatches MatchPaths(const std::string& text) {
  if (PathExists(text)) return {{text}, false, ""};
  const std::vector<std::string> names = ExpandBraces(text);
  const bool wild = text.find_first_of(kWildcards) != std::string::npos;
  if (!wild && names.size() == 1 && names[0] == text) return {{text}, false, ""};
  PathMatches matches{{}, true, RootOf(text)};
  for (const std::string& name : names) {
    const bool is_name = PathExists(name) || name.find_first_of(kWildcards) == std::string::npos;
    const std::vector<std::string> found = is_name ? std::vector{name} : Glob(name);
    RSHIFT_REQUIRE(!found.empty() && PathExists(found[0]), ErrorCode::kInvalidInput, text,
                   ": the data set is empty: no file ",
                   is_name ? Cat("is called '", name, "'") : Cat("matches '", name, "'"));
    matches.paths.insert(matches.paths.end(), found.begin(), found.end());
  }
  return matches;
}

std::vector<std::string> MatchingPaths(const std::string& text) {
  try {
    return MatchPaths(text).paths;
  } catch (const Error&) {
    return {};  // said when the data set is opened
  }
}

}  // namespace rshift
