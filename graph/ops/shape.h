// Data movement: the same structs serve float and integer tensors. Every axis counts in memory
// order, is >= 0 after import, and is rewritten by the layout pass. Output shapes are those of the
// output value.
#ifndef RSHIFT_GRAPH_OPS_SHAPE_H_
#define RSHIFT_GRAPH_OPS_SHAPE_H_

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "isa/ops/shape.h"

namespace rshift {

// What an operator does with its elements.
enum class Movement : uint8_t {
  kNone,      // computes
  kPermutes,  // the output has all elements of its inputs, in some order
  kCopies,    // elements of the first input, some more than once or not at all
  kPads,      // as kCopies, and a fill value
};

// Also Dropout; removed by the passes.
struct Identity {
  static constexpr Movement kMovement = Movement::kPermutes;
};
// Also Flatten, Squeeze, Unsqueeze: same elements in the same order.
struct Reshape {
  static constexpr Movement kMovement = Movement::kPermutes;
};
struct Transpose {
  static constexpr Movement kMovement = Movement::kPermutes;
  std::vector<int64_t> perm;  // output dimension i is input dimension perm[i]
};
struct Concat {
  static constexpr Movement kMovement = Movement::kPermutes;
  int64_t axis = 0;
};
// Output index i of dimension d reads input index starts[d] + i * steps[d] (steps may be negative).
struct Slice {
  static constexpr Movement kMovement = Movement::kCopies;
  std::vector<int64_t> starts, steps;  // one entry per dimension
};
// value: in float graphs the real value, in integer graphs the quantized one.
struct Pad {
  static constexpr Movement kMovement = Movement::kPads;
  PadMode mode = PadMode::kConstant;
  std::vector<int64_t> before, after;  // one entry per dimension; may be negative (crop)
  float value = 0.0f;
};
using isa::Expand;  // broadcast to the output shape
struct Tile {
  static constexpr Movement kMovement = Movement::kCopies;
  std::vector<int64_t> repeats;  // one entry per dimension
};
// inputs: data, indices (s64 or s32; negative counts from the end).
using isa::Gather;
// DCR: depth to (block_h, block_w, C'); CRD: depth to (C', block_h, block_w).
struct DepthToSpace {
  static constexpr Movement kMovement = Movement::kPermutes;
  int64_t block = 1;
  bool crd = false;
};
struct SpaceToDepth {
  static constexpr Movement kMovement = Movement::kPermutes;
  int64_t block = 1;
};
struct Cast {
  DType to = DType::kF32;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPS_SHAPE_H_
