// One function per operator: node -> commands. Overloads, so that a new alternative of Op does not
// compile until it has one; what is a command as it stands (command.h) has the one at the end. All
// throw kUnsupported, naming the node, for forms that have no command.
#ifndef RSHIFT_CODEGEN_LOWERING_LOWERING_H_
#define RSHIFT_CODEGEN_LOWERING_LOWERING_H_

#include <cstdint>
#include <vector>

#include "codegen/lowering/command.h"
#include "codegen/lowering/context.h"

namespace rshift::lowering {

// conv.cc
void Lower(LoweringContext& context, const Node& node, const Conv& op);
void Lower(LoweringContext& context, const Node& node, const ConvTranspose& op);
void Lower(LoweringContext& context, const Node& node, const QConv& op);
void Lower(LoweringContext& context, const Node& node, const QConvTranspose& op);
// matmul.cc
void Lower(LoweringContext& context, const Node& node, const QMatMul& op);
// dynamic.cc
void Lower(LoweringContext& context, const Node& node, const DynamicConv& op);
void Lower(LoweringContext& context, const Node& node, const DynamicMatMul& op);
// pool.cc
void Lower(LoweringContext& context, const Node& node, const MaxPool& op);
void Lower(LoweringContext& context, const Node& node, const AveragePool& op);
// eltwise.cc
void Lower(LoweringContext& context, const Node& node, const Binary& op);
void Lower(LoweringContext& context, const Node& node, const Where& op);
void Lower(LoweringContext& context, const Node& node, const QDiv& op);
void Lower(LoweringContext& context, const Node& node, const QBinaryTable& op);
// activation.cc
void Lower(LoweringContext& context, const Node& node, const Unary& op);
void Lower(LoweringContext& context, const Node& node, const QPRelu& op);
void Lower(LoweringContext& context, const Node& node, const QTable& op);
void Lower(LoweringContext& context, const Node& node, const QChannelTables& op);
// norm.cc
void Lower(LoweringContext& context, const Node& node, const BatchNorm& op);
void Lower(LoweringContext& context, const Node& node, const Lrn& op);
void Lower(LoweringContext& context, const Node& node, const Softmax& op);
void Lower(LoweringContext& context, const Node& node, const QSoftmax& op);
void Lower(LoweringContext& context, const Node& node, const QNormalize& op);
void Lower(LoweringContext& context, const Node& node, const QNormalizeS16& op);
// recurrent.cc
void Lower(LoweringContext& context, const Node& node, const QLstmCell& op);
void Lower(LoweringContext& context, const Node& node, const QGruCell& op);
void Lower(LoweringContext& context, const Node& node, const QGatedOutput& op);
void Lower(LoweringContext& context, const Node& node, const QFixedLstmCell& op);
void Lower(LoweringContext& context, const Node& node, const QFixedGatedOutput& op);
// int16.cc
void Lower(LoweringContext& context, const Node& node, const QConvS16& op);
void Lower(LoweringContext& context, const Node& node, const QMatMulS16& op);
void Lower(LoweringContext& context, const Node& node, const QTableS16& op);
void Lower(LoweringContext& context, const Node& node, const QChannelTablesS16& op);
void Lower(LoweringContext& context, const Node& node, const QResizeS16& op);
void Lower(LoweringContext& context, const Node& node, const QSoftmaxS16& op);
void Lower(LoweringContext& context, const Node& node, const QQuotientSoftmaxS16& op);
void Lower(LoweringContext& context, const Node& node, const QPowS16& op);
// reduce.cc
void Lower(LoweringContext& context, const Node& node, const Reduce& op);
void Lower(LoweringContext& context, const Node& node, const ArgMax& op);
void Lower(LoweringContext& context, const Node& node, const NonMaxSuppression& op);
void Lower(LoweringContext& context, const Node& node, const NonZero& op);
void Lower(LoweringContext& context, const Node& node, const TopK& op);
void Lower(LoweringContext& context, const Node& node, const Unique& op);
// resize.cc
void Lower(LoweringContext& context, const Node& node, const Resize& op);
void Lower(LoweringContext& context, const Node& node, const QResize& op);
void Lower(LoweringContext& context, const Node& node, const QResizeLinear& op);
// shape.cc, space.cc
void Lower(LoweringContext& context, const Node& node, const Identity& op);
void Lower(LoweringContext& context, const Node& node, const Reshape& op);
void Lower(LoweringContext& context, const Node& node, const Transpose& op);
void Lower(LoweringContext& context, const Node& node, const Concat& op);
void Lower(LoweringContext& context, const Node& node, const Slice& op);
void Lower(LoweringContext& context, const Node& node, const Pad& op);
void Lower(LoweringContext& context, const Node& node, const Expand& op);
void Lower(LoweringContext& context, const Node& node, const Tile& op);
void Lower(LoweringContext& context, const Node& node, const DepthToSpace& op);
void Lower(LoweringContext& context, const Node& node, const SpaceToDepth& op);
void Lower(LoweringContext& context, const Node& node, const Cast& op);

// Every other command of isa/ops that a node is. F32 commands take nothing else.
template <typename C>
requires(C::kOpcode != Opcode::kEnd) void Lower(LoweringContext& context, const Node& node,
                                                const C& op) {
  if (IsFloatCompute(C::kClass)) RequireF32(context, node);
  LowerAs(context, node, op);
}

// Source index of every output index of one dimension (resize.cc); float arithmetic as in ONNX
// Runtime.
std::vector<int64_t> NearestIndices(const Resize& op, float scale, int64_t in, int64_t out);

}  // namespace rshift::lowering

#endif  // RSHIFT_CODEGEN_LOWERING_LOWERING_H_
