// The best classes of a classifier's output.
#ifndef RSHIFT_TOOLS_CLASSES_H_
#define RSHIFT_TOOLS_CLASSES_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "codegen/container/image.h"

namespace rshift {

// One score per class for one sample: a single dimension of the ONNX shape is more than 1.
bool HoldsClassScores(const Shape& shape);
// The name of each class, one per line of the file, from class 0; `classes`: how many there must
// be.
std::vector<std::string> ReadClassNames(const std::string& path, int64_t classes);
// Throws kInvalidInput, beginning with `asked`, where output 0 is not that for each of `batch`
// samples.
void RequireClassScores(const ProgramImage& image, int64_t batch, const std::string& asked);

struct RankedClass {
  int64_t index = 0;
  float score = 0;
};
// The `count` highest scores, best first; of equal ones the lower class, NaN last.
std::vector<RankedClass> BestClasses(std::span<const float> scores, int64_t count);

// The five best classes of every sample, where output 0 is a classifier's.
class BestClassesPrinter {
 public:
  // None when output 0 is something else, which is an error where a file of names is given.
  // `quiet`: nothing is printed, json() has it all.
  static std::optional<BestClassesPrinter> For(const ProgramImage& image, const std::string& names,
                                               bool quiet);
  // `scores`: output 0 as real values. To be called in order of the samples.
  void Add(const std::string& sample, std::span<const float> scores);
  // [{"sample": "x.jpg", "best": [{"class": 281, "name": "tabby", "score": 0.62}, ...]}, ...];
  // without "name" where there are none.
  const nlohmann::json& json() const { return json_; }

 private:
  bool quiet_ = false;
  std::vector<std::string> names_;
  nlohmann::json json_ = nlohmann::json::array();
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CLASSES_H_
