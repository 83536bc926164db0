// Executes operators over constants, so that the shape arithmetic and the weight preparation of
// exporters disappear at import. Scalar code: it runs once per model.
#ifndef RSHIFT_GRAPH_FOLD_FOLD_H_
#define RSHIFT_GRAPH_FOLD_FOLD_H_

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// The elements of the result of `op`, which has the given shape; null where `op` is not evaluated
// here (convolution, pooling, resize: they stay nodes over constants). inputs[i] is null for an
// omitted optional input. Throws kInvalidInput (index out of range, integer division by zero). What
// it may cost is the caller's to bound (fold/limits.h).
std::shared_ptr<const ConstantData> FoldNode(const Op& op, const std::vector<const Value*>& inputs,
                                             const Shape& shape);

// Whether FoldNode() knows the operator.
bool IsEvaluated(const Op& op);

// Elements of a constant of any integer type or bool, widened.
std::vector<int64_t> LoadInts(const Value& constant);
// The inverse: elements narrowed to `type` (wrapping), bool as 0 or 1.
std::shared_ptr<const ConstantData> StoreInts(const std::vector<int64_t>& elements, DType type);

// One family per file. `out` is the shape of the result.
using FoldInputs = std::vector<const Value*>;
using FoldResult = std::shared_ptr<const ConstantData>;
FoldResult FoldBinary(BinaryOp op, const Value& a, const Value& b, const Shape& out);
FoldResult FoldWhere(const Value& condition, const Value& a, const Value& b, const Shape& out);
FoldResult FoldUnary(const Unary& op, const Value& x);
FoldResult FoldClip(const Clamp& clamp, const Value& x);
FoldResult FoldPRelu(const Value& x, const Value& slope);
FoldResult FoldFakeQuantize(const FakeQuantize& op, const Value& x, const Value& ranges);
FoldResult FoldCast(const Value& x, DType to);
FoldResult FoldReduce(const Reduce& op, const Value& x, const Shape& out);
FoldResult FoldArgMax(const ArgMax& op, const Value& x, const Shape& out);
FoldResult FoldSoftmax(const Softmax& op, const Value& x);
FoldResult FoldMatMul(const MatMul& op, const FoldInputs& inputs, const Shape& out);
FoldResult FoldTranspose(const Transpose& op, const Value& x, const Shape& out);
FoldResult FoldSlice(const Slice& op, const Value& x, const Shape& out);
FoldResult FoldExpand(const Value& x, const Shape& out);
FoldResult FoldTile(const Value& x, const Shape& out);
FoldResult FoldConcat(const Concat& op, const FoldInputs& inputs, const Shape& out);
FoldResult FoldPad(const Pad& op, const Value& x, const Shape& out);
FoldResult FoldGather(const Gather& op, const Value& data, const Value& indices, const Shape& out);
FoldResult FoldDepthToSpace(const DepthToSpace& op, const Value& x);
FoldResult FoldSpaceToDepth(const SpaceToDepth& op, const Value& x);

// Strides of `shape` seen through numpy broadcasting to `out`: 0 along broadcast dimensions.
Shape BroadcastStrides(const Shape& shape, const Shape& out);

// Calls f(i) with i = 0, 1, ... over `out` in row-major order, with offsets[k] advancing by
// strides[k]. K operands are walked together.
template <size_t K, typename F>
void WalkStrided(const Shape& out, const std::array<Shape, K>& strides, F f) {
  const int64_t total = NumElements(out);
  Shape index(out.size(), 0);
  std::array<int64_t, K> offset{};
  for (int64_t i = 0; i < total; ++i) {
    f(i, offset);
    for (size_t d = out.size(); d-- > 0;) {
      for (size_t k = 0; k < K; ++k) offset[k] += strides[k][d];
      if (++index[d] < out[d]) break;
      for (size_t k = 0; k < K; ++k) offset[k] -= strides[k][d] * out[d];
      index[d] = 0;
    }
  }
}

}  // namespace rshift

#endif  // RSHIFT_GRAPH_FOLD_FOLD_H_
