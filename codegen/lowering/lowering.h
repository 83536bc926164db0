// One function per operator: node -> commands. Overloads, so that a new alternative of Op does not
// compile until it has one. All throw kUnsupported, naming the node, for forms that have no
// command.
#ifndef RSHIFT_CODEGEN_LOWERING_LOWERING_H_
#define RSHIFT_CODEGEN_LOWERING_LOWERING_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "codegen/lowering/context.h"

namespace rshift::lowering {

// conv.cc
void Lower(LoweringContext& context, const Node& node, const Conv& op);
void Lower(LoweringContext& context, const Node& node, const ConvTranspose& op);
void Lower(LoweringContext& context, const Node& node, const QConv& op);
void Lower(LoweringContext& context, const Node& node, const QConvTranspose& op);
// matmul.cc
void Lower(LoweringContext& context, const Node& node, const MatMul& op);
void Lower(LoweringContext& context, const Node& node, const QMatMul& op);
// pool.cc
void Lower(LoweringContext& context, const Node& node, const MaxPool& op);
void Lower(LoweringContext& context, const Node& node, const AveragePool& op);
void Lower(LoweringContext& context, const Node& node, const QAveragePool& op);
// eltwise.cc
void Lower(LoweringContext& context, const Node& node, const Binary& op);
void Lower(LoweringContext& context, const Node& node, const Where& op);
void Lower(LoweringContext& context, const Node& node, const QAdd& op);
void Lower(LoweringContext& context, const Node& node, const QAddShifted& op);
void Lower(LoweringContext& context, const Node& node, const QAddFma& op);
void Lower(LoweringContext& context, const Node& node, const QMul& op);
// activation.cc
void Lower(LoweringContext& context, const Node& node, const Clip& op);
void Lower(LoweringContext& context, const Node& node, const LeakyRelu& op);
void Lower(LoweringContext& context, const Node& node, const PRelu& op);
void Lower(LoweringContext& context, const Node& node, const Unary& op);
void Lower(LoweringContext& context, const Node& node, const QLeakyRelu& op);
void Lower(LoweringContext& context, const Node& node, const QPRelu& op);
void Lower(LoweringContext& context, const Node& node, const QTable& op);
// norm.cc
void Lower(LoweringContext& context, const Node& node, const BatchNorm& op);
void Lower(LoweringContext& context, const Node& node, const LayerNorm& op);
void Lower(LoweringContext& context, const Node& node, const InstanceNorm& op);
void Lower(LoweringContext& context, const Node& node, const Lrn& op);
void Lower(LoweringContext& context, const Node& node, const Softmax& op);
void Lower(LoweringContext& context, const Node& node, const QSoftmax& op);
// reduce.cc
void Lower(LoweringContext& context, const Node& node, const Reduce& op);
void Lower(LoweringContext& context, const Node& node, const ArgMax& op);
// resize.cc
void Lower(LoweringContext& context, const Node& node, const Resize& op);
// shape.cc, space.cc
void Lower(LoweringContext& context, const Node& node, const Identity& op);
void Lower(LoweringContext& context, const Node& node, const Reshape& op);
void Lower(LoweringContext& context, const Node& node, const Transpose& op);
void Lower(LoweringContext& context, const Node& node, const Concat& op);
void Lower(LoweringContext& context, const Node& node, const Slice& op);
void Lower(LoweringContext& context, const Node& node, const Pad& op);
void Lower(LoweringContext& context, const Node& node, const Expand& op);
void Lower(LoweringContext& context, const Node& node, const Tile& op);
void Lower(LoweringContext& context, const Node& node, const Gather& op);
void Lower(LoweringContext& context, const Node& node, const DepthToSpace& op);
void Lower(LoweringContext& context, const Node& node, const SpaceToDepth& op);
void Lower(LoweringContext& context, const Node& node, const Cast& op);
// quant.cc
void Lower(LoweringContext& context, const Node& node, const Quantize& op);
void Lower(LoweringContext& context, const Node& node, const Dequantize& op);
void Lower(LoweringContext& context, const Node& node, const Requantize& op);

// --- what several families share (shared.cc) ---
// "node (Op)" for messages.
std::string Describe(const Node& node);
// A command for the node with kDst and kSrc set to its output and first input.
Command UnaryCommand(LoweringContext& context, const Node& node, Opcode opcode);
// Throws kUnsupported when the window has fields that a command cannot hold (negative pads).
void RequireWindow(const Node& node, const Window& window);
// The same, and sets the fields.
void SetWindow(const Node& node, const Window& window, Command& command);
void SetClamp(const Clamp& clamp, Command& command);
void SetClamp(const ClampQ& clamp, Command& command);
// `axis` of a tensor with `rank` dimensions, negative ones counted from the end; throws
// kInvalidInput.
int64_t AxisOf(const Node& node, int64_t axis, size_t rank);
// The constant tensor of a requant table.
int32_t AddRequant(LoweringContext& context, const Node& node,
                   std::span<const ChannelRequant> channels, int64_t expected);
// The constant of the weight zero points, unless all are 0.
void SetZeroW(LoweringContext& context, const Node& node, std::span<const int32_t> zero_w,
              int64_t expected, Command& command);
// Rounding, post-operations and what follows them.
void SetEpilogue(LoweringContext& context, const Node& node, Rounding rounding,
                 std::span<const PostOp> post_ops, const HalfEpilogue& ascend, Command& command);
// Throws kUnsupported unless the value has NHWC layout.
void RequireNhwc(const Node& node, const Value& value);
// Throws kUnsupported unless every input that is there has one of the types.
void RequireTypes(LoweringContext& context, const Node& node, std::initializer_list<DType> types);
inline void RequireF32(LoweringContext& context, const Node& node) {
  RequireTypes(context, node, {DType::kF32});
}

// Source index of every output index of one dimension (resize.cc); float arithmetic as in ONNX
// Runtime.
std::vector<int64_t> NearestIndices(const Resize& op, float scale, int64_t in, int64_t out);

}  // namespace rshift::lowering

#endif  // RSHIFT_CODEGEN_LOWERING_LOWERING_H_
