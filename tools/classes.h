// The best classes of a classifier's output.
#ifndef RSHIFT_TOOLS_CLASSES_H_
#define RSHIFT_TOOLS_CLASSES_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"

namespace rshift {

// One score per class for one sample: a single dimension of the ONNX shape is more than 1.
bool HoldsClassScores(const Shape& shape);
// The name of each class, one per line of the file, from class 0; `classes`: how many there must
// be.
std::vector<std::string> ReadClassNames(const std::string& path, int64_t classes);

struct RankedClass {
  int64_t index = 0;
  float score = 0;
};
// The `count` highest scores, best first; of equal ones the lower class, NaN last.
std::vector<RankedClass> BestClasses(std::span<const float> scores, int64_t count);

// [{"class": 281, "name": "tabby", "score": 0.62}, ...]; `names` may be empty.
nlohmann::json ClassesToJson(const std::vector<RankedClass>& best,
                             const std::vector<std::string>& names);
// A line per class for people.
void PrintClasses(const std::string& sample, const std::vector<RankedClass>& best,
                  const std::vector<std::string>& names);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CLASSES_H_
