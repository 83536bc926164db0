#include "tools/classes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "codegen/container/output_cuts.h"
#include "pipeline/tensor_view.h"

namespace rshift {
namespace {

constexpr int64_t kShown = 5;

}  // namespace

bool HoldsClassScores(const Shape& shape) {
  return !shape.empty() &&
         std::count_if(shape.begin(), shape.end(), [](int64_t dim) { return dim != 1; }) == 1 &&
         NumElements(shape) > 1;
}

void RequireClassScores(const ProgramImage& image, int64_t batch, const std::string& asked) {
  const Shape shape =
      image.outputs.empty() ? Shape() : OnnxShape(image.tensors[image.outputs[0].tensor]);
  Shape one = shape;
  if (batch > 1) one[0] = 1;
  // What the data cut is no list of classes.
  RSHIFT_REQUIRE(HoldsClassScores(one) && !image.meta.contains(kOutputCutsKey),
                 ErrorCode::kInvalidInput, asked, ": the program's first output is ",
                 ToString(shape), ", expected one score per class, 1xCLASSES");
}

std::vector<std::string> ReadClassNames(const std::string& path, int64_t classes) {
  std::vector<std::string> names = ReadClassNames(path);
  RSHIFT_REQUIRE(static_cast<int64_t>(names.size()) == classes, ErrorCode::kInvalidInput, path,
                 ": has ", names.size(), " lines, the model has ", classes,
                 " classes; expected the name of each on a line of its own, from class 0");
  return names;
}

std::vector<RankedClass> BestClasses(std::span<const float> scores, int64_t count) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t i) { return scores[static_cast<size_t>(i)]; };
  const auto better = [&](int64_t a, int64_t b) {
    if (std::isnan(score(a)) != std::isnan(score(b))) return std::isnan(score(b));
    if (score(a) > score(b)) return true;
    return !(score(a) < score(b)) && a < b;
  };
  const int64_t kept = std::min<int64_t>(count, static_cast<int64_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), better);
  std::vector<RankedClass> best;
  for (int64_t i = 0; i < kept; ++i) best.push_back({order[i], score(order[i])});
  return best;
}

std::optional<BestClassesPrinter> BestClassesPrinter::For(const ProgramImage& image,
                                                          const std::string& names, bool quiet) {
  const Shape shape =
      image.outputs.empty() ? Shape() : OnnxShape(image.tensors[image.outputs[0].tensor]);
  // What the data cut is no list of classes.
  const bool fits = HoldsClassScores(shape) && !image.meta.contains(kOutputCutsKey);
  RSHIFT_REQUIRE(fits || names.empty(), ErrorCode::kInvalidInput, "--names ", names,
                 ": the program's first output is ", ToString(shape),
                 ", names need one score per class, 1xCLASSES");
  if (!fits) return std::nullopt;
  BestClassesPrinter printer;
  printer.quiet_ = quiet;
  if (!names.empty()) printer.names_ = ReadClassNames(names, NumElements(shape));
  return printer;
}

void BestClassesPrinter::Add(const std::string& sample, std::span<const float> scores) {
  nlohmann::json best = nlohmann::json::array();
  if (!quiet_) std::printf("%s\n", sample.c_str());
  for (const RankedClass& one : BestClasses(scores, kShown)) {
    best.push_back({{"class", one.index}, {"score", one.score}});
    std::string name;
    if (!names_.empty()) {
      name = names_[static_cast<size_t>(one.index)];
      best.back()["name"] = name;
    }
    if (quiet_) continue;
    std::printf("  %5lld  %12.6g%s%s\n", static_cast<long long>(one.index),
                static_cast<double>(one.score), name.empty() ? "" : "  ", name.c_str());
  }
  json_.push_back({{"sample", sample}, {"best", std::move(best)}});
}

}  // namespace rshift
