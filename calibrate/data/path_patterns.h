// Patterns of file names in data sets: 'photos/*.jpg', 'train-{000..003}.tar'. Not for use outside
// calibrate/data; other folders ask MatchingPaths (dataset.h).
#ifndef RSHIFT_CALIBRATE_DATA_PATH_PATTERNS_H_
#define RSHIFT_CALIBRATE_DATA_PATH_PATTERNS_H_

#include <string>
#include <vector>

namespace rshift {

struct PathMatches {
  std::vector<std::string> paths;
  bool is_pattern = false;
  std::string root;  // of a pattern: the folder before its first wildcard
};

// Whatever exists is taken as it is called. Else braces are expanded in their order ({000..003}
// with the zeros of its first number, {a,b}) and each text with *, ? or [ ] becomes the files that
// it matches, sorted by their bytes. Throws kInvalidInput for a pattern that matches nothing and
// for a range of more than a million names; a text that is no pattern is returned even where it
// does not exist.
PathMatches MatchPaths(const std::string& text);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_PATH_PATTERNS_H_
