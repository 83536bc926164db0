// Names that users type: wildcards, and what they may have meant.
#ifndef RSHIFT_BASE_NAMES_H_
#define RSHIFT_BASE_NAMES_H_

#include <set>
#include <string>
#include <string_view>

namespace rshift {

// Whether the whole text matches: `*` stands for any characters ('/' too, or none), so `**` means
// the same, and `?` for one; every other character for itself. Takes at most |pattern| * |text|
// steps.
bool MatchesGlob(std::string_view pattern, std::string_view text);

// "'conv1', 'conv2'": up to three of the names that hold `wanted` or are a few letters away from
// it, the nearest first; empty when there is none.
std::string CloseNames(const std::set<std::string>& names, const std::string& wanted);

}  // namespace rshift

#endif  // RSHIFT_BASE_NAMES_H_
