// The rules that turn one float operator into an integer one, a file for each family.
#ifndef RSHIFT_QUANTIZE_OPS_OPS_H_
#define RSHIFT_QUANTIZE_OPS_OPS_H_

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "quantize/emitter.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {

enum class OpKind {
  kFloat,     // no integer form
  kAlways,    // worth it wherever it stands: Conv, MatMul
  kFunction,  // integer next to integers: Add, AveragePool, activations
  kMove,      // bytes in, the same bytes out: follows its input
};

struct OpSupport {
  OpKind kind = OpKind::kFloat;
  std::string reason;  // for kFloat: why
};

// Whether a node that reads and writes f32 activations has an integer form in a profile.
// Independent of ranges.
OpSupport IntegerSupport(const Graph& graph, const Node& node, const Profile& profile = {});
// DynamicRange, DynamicQuantize and products of their integers: integer as the model says it,
// copied as they are.
bool IsDynamic(const Op& op);
// Writes the integer form of a node with IntegerSupport() != kFloat.
void EmitInteger(Emitter& emitter, const Node& node);

// --- by family
// -------------------------------------------------------------------------------------------
OpSupport SupportConv(const Graph& graph, const Node& node);
void EmitConv(Emitter& emitter, const Node& node, const Conv& op);
OpSupport SupportConvTranspose(const Graph& graph, const Node& node, const ConvTranspose& op);
void EmitConvTranspose(Emitter& emitter, const Node& node, const ConvTranspose& op);
// Of a MatMul: its second factor is a matrix of weights.
bool HasConstantMatrix(const Graph& graph, const Node& node);
// The constant slope of a PRelu: one number, or one for each element of the last dimension.
bool IsSlopeOfChannel(const Graph& graph, const Node& node);
OpSupport SupportMatMul(const Graph& graph, const Node& node, const Arithmetic& rules);
void EmitMatMul(Emitter& emitter, const Node& node, const MatMul& op);

void EmitMaxPool(Emitter& emitter, const Node& node, const MaxPool& op);
void EmitAveragePool(Emitter& emitter, const Node& node, const AveragePool& op);
OpSupport SupportReduce(const Graph& graph, const Node& node, const Reduce& op,
                        const Arithmetic& rules);
void EmitReduce(Emitter& emitter, const Node& node, const Reduce& op);

// Of the latter (reduce.cc): those that are no mean over height and width.
OpSupport SupportReduction(const Graph& graph, const Node& node, const Reduce& op,
                           const Arithmetic& rules);
void EmitReduction(Emitter& emitter, const Node& node, const Reduce& op);

OpSupport SupportSoftmax(const Graph& graph, const Node& node, const Softmax& op,
                         const Arithmetic& rules);
void EmitSoftmax(Emitter& emitter, const Node& node, const Softmax& op);
OpSupport SupportLayerNorm(const Graph& graph, const Node& node, const LayerNorm& op,
                           const Arithmetic& rules);
void EmitLayerNorm(Emitter& emitter, const Node& node, const LayerNorm& op);
OpSupport SupportInstanceNorm(const Graph& graph, const Node& node, const Arithmetic& rules);
void EmitInstanceNorm(Emitter& emitter, const Node& node, const InstanceNorm& op);

OpSupport SupportBinary(const Graph& graph, const Node& node, const Binary& op,
                        const Arithmetic& rules);
void EmitBinary(Emitter& emitter, const Node& node, const Binary& op);
bool IsScalarConstant(const Value& value);
// The operand that is one constant number beside an activation of the output's shape: 0, 1 or -1.
int ScalarOperand(const Graph& graph, const Node& node);
// Add, Sub or Mul.
bool IsSumOrProduct(BinaryOp op);
// Whether a constant of floats can be numbered by bytes, without rounding any.
bool HasFewNumbers(const Value& value);
// What the operator and its clamp make of two numbers.
std::function<double(double, double)> PairFunction(const Binary& op);
// The same of the activation beside that number.
std::function<double(double)> ScalarFunction(const Graph& graph, const Node& node, const Binary& op,
                                             int scalar);
// Of EmitBinary (two_operands.cc): Max and Min; Div, Pow and Mod.
void EmitExtremum(Emitter& emitter, const Node& node, BinaryLayer layer);
void EmitTwoOperands(Emitter& emitter, const Node& node, BinaryLayer layer);
// scalar: the operand that is one constant number, or -1.
void EmitComparison(Emitter& emitter, const Node& node, BinaryLayer layer, int scalar);
void EmitWhere(Emitter& emitter, const Node& node);
// Of slopes that are not one for each channel.
void EmitPReluOfPairs(Emitter& emitter, const Node& node);

void EmitClip(Emitter& emitter, const Node& node, const Clip& op);
void EmitLeakyRelu(Emitter& emitter, const Node& node, const LeakyRelu& op);
OpSupport SupportPRelu(const Graph& graph, const Node& node, const Arithmetic& rules);
void EmitPRelu(Emitter& emitter, const Node& node);
OpSupport SupportUnary(const Unary& op);
void EmitUnary(Emitter& emitter, const Node& node, const Unary& op);

// y = f(x). Channels may have scales of their own: those of x and y times 2^exponent, as of Unary.
struct ValueFunction {
  ValueId x;  // old
  std::function<double(double)> f;
  std::vector<int32_t> input_exponents{}, output_exponents{};
  bool scales_channels() const { return !input_exponents.empty() || !output_exponents.empty(); }
  std::pair<int32_t, int32_t> ExponentsOf(size_t channel) const {
    return {input_exponents.empty() ? 0 : input_exponents[channel],
            output_exponents.empty() ? 0 : output_exponents[channel]};
  }
};
constexpr size_t kMostTables = 256;  // a channel's is told by one byte
// How many tables its pairs of exponents are; 0 without exponents.
size_t CountTables(const ValueFunction& function);
// For each channel of a function with scales of channels the number of its table, at most 255.
// `append(input exponent, output exponent)` is called for each table in the order of the numbers.
std::vector<uint8_t> TableOfChannel(const ValueFunction& function, size_t channels,
                                    const std::function<void(int32_t, int32_t)>& append);
// Writes the node's output as the profile's table of f, of bytes or of 16 bits.
void EmitValueFunction(Emitter& emitter, const Node& node, const ValueFunction& function);

// Linear and cubic.
OpSupport SupportResize(const Graph& graph, const Node& node, const Resize& op,
                        const Arithmetic& rules);
void EmitResize(Emitter& emitter, const Node& node, const Resize& op);
// Linear or cubic. Bytes are widened to 1 / factor of their scale.
bool HasResizeOfInt16(const Graph& graph, const Node& node, const Resize& op);
void EmitResizeInt16(Emitter& emitter, const Node& node, const Resize& op, int32_t factor);
// Under rules with HasLinearResize() (linear_resize.cc).
OpSupport SupportLinearResize(const Graph& graph, const Node& node, const Resize& op);
void EmitLinearResize(Emitter& emitter, const Node& node, const Resize& op);

void EmitConcat(Emitter& emitter, const Node& node, const Concat& op);
// Any operator that gives out bytes it was given: `op` is the integer graph's copy of the
// attributes.
void EmitMovement(Emitter& emitter, const Node& node, Op op);
void EmitPad(Emitter& emitter, const Node& node, const Pad& op);

// --- 16 bits (int16.cc), of nodes with Emitter::HasInt16(); profile tpu
// Whether the operator has a form that reads and writes s16.
bool HasInt16Form(const Graph& graph, const Node& node);
// Writes it; false where the rules of 8 bits do, which see the types.
bool EmitInt16(Emitter& emitter, const Node& node);
// Of a function that reads or writes s16.
void EmitValueFunctionInt16(Emitter& emitter, const Node& node, const ValueFunction& function);
// Of both (int16_activations.cc): Softmax, products of two activations, Max and Min.
bool HasSoftmaxOfInt16(const Graph& graph, const Node& node, const Softmax& op);
bool HasProductOfInt16(const Graph& graph, const Node& node);
void EmitSoftmaxInt16(Emitter& emitter, const Node& node, const Softmax& op);
void EmitProductInt16(Emitter& emitter, const Node& node, const MatMul& op);
// Of two tensors (int16_pairs.cc), but Where.
bool EmitBinaryInt16(Emitter& emitter, const Node& node, const Binary& op);
void EmitPReluInt16(Emitter& emitter, const Node& node);
// Max and Min of an s16 result.
void EmitExtremumInt16(Emitter& emitter, const Node& node, const Binary& op);
// Where of an s16 result.
void EmitWhereInt16(Emitter& emitter, const Node& node);
// --- 16 bits that a model brings (model_int16.cc), under profiles with HoldsModelInt16()
// Why a node that reads or writes s16 has no integer form under `rules`; empty: it has. types: of
// the activations among its inputs.
std::string WhyNotModelInt16(const Graph& graph, const Node& node, const Arithmetic& rules,
                             std::span<const IntType> types, const IntType& y);
// As EmitInt16().
bool EmitModelInt16(Emitter& emitter, const Node& node);
// What a convolution or matrix product with constant weights reads: bytes, or s16 where it reads or
// writes 16 bits.
struct ProductInput {
  ValueId x;  // new
  IntType type;
};
ProductInput InputOfProduct(Emitter& emitter, const Node& node);

// --- shared
// ------------------------------------------------------------------------------------------------
// The rules of the emitter's profile.
const Arithmetic& RulesOf(const Emitter& emitter);
// The integers of an activation, rescaled where its type is another (shape.cc).
ValueId IntOfType(Emitter& emitter, ValueId old_x, const IntType& type);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_OPS_OPS_H_
