// What executing operators over constants may cost. A file of a few hundred bytes can ask for any
// amount; a large model may prepare its large weights.
#ifndef RSHIFT_GRAPH_FOLD_LIMITS_H_
#define RSHIFT_GRAPH_FOLD_LIMITS_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// Each limit is a base, for models without weights, plus a multiple of the bytes that the file
// brings (initializers, Constant nodes).
// One constant, 128 MiB; all that an import makes, 256 MiB.
inline constexpr int64_t kFoldedBytesOfOne = int64_t{1} << 27;
inline constexpr int64_t kFoldedBytesOfAll = int64_t{1} << 28;
// Where one number is spread out (ConstantOfShape), 512 MiB and 640 MiB of their own: published
// nets are stored so, without their weights. What is made of these adds to the limits above.
inline constexpr int64_t kFilledBytesOfOne = int64_t{1} << 29;
inline constexpr int64_t kFilledBytesOfAll = kFilledBytesOfOne + kFoldedBytesOfOne;
// Elements read and written, and products added.
inline constexpr int64_t kFoldedWork = int64_t{1} << 29;
inline constexpr int64_t kFoldedBytesOfOnePerGiven = 4;
inline constexpr int64_t kFoldedBytesOfAllPerGiven = 8;
inline constexpr int64_t kFoldedWorkPerGiven = 64;
// Of a Range, whose result has no file to be measured by.
inline constexpr int64_t kFoldedElements = kFoldedBytesOfOne / 4;

// Steps that FoldNode() takes for `op`; saturates.
int64_t FoldWork(const Op& op, const std::vector<const Value*>& inputs, const Shape& shape);

// What one import has spent.
class FoldBudget {
 public:
  // Bytes that the file brings.
  void Give(int64_t bytes) { given_ += bytes; }
  // Whether this much more work is within the limits.
  bool HasWork(int64_t work) const;
  // Counts a constant of `bytes` that takes `work` steps; `filled`: one number, spread out. Throws
  // kUnsupported naming the limit when it is too much. To be called before it is made.
  void Spend(int64_t bytes, int64_t work, bool filled = false);

 private:
  int64_t given_ = 0, work_ = 0;
  int64_t bytes_ = 0, filled_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_FOLD_LIMITS_H_
