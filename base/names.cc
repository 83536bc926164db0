#include "base/names.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rshift {
namespace {

// Levenshtein.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;  // the last `*`, and where it ends its match
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string CloseNames(const std::set<std::string>& names, const std::string& wanted) {
  const size_t most = std::max<size_t>(2, wanted.size() / 3);
  std::vector<std::pair<size_t, std::string>> close;
  for (const std::string& name : names) {
    const bool contains = name.find(wanted) != std::string::npos && wanted.size() > 2;
    const size_t longer =
        std::max(name.size(), wanted.size()) - std::min(name.size(), wanted.size());
    if (!contains && longer > most) continue;  // their distance is at least that
    const size_t distance = contains ? longer : Distance(name, wanted);
    if (contains || distance <= most) close.push_back({distance, name});
  }
  std::sort(close.begin(), close.end());
  std::string text;
  for (size_t i = 0; i < close.size() && i < 3; ++i)
    text += (i == 0 ? "'" : ", '") + close[i].second + "'";
  return text;
}

}  // namespace rshift
