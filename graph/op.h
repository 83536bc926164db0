// The closed set of operators. Adding one makes std::visit list every stage that does not know it
// yet. An operator that is a command is the command's struct (isa/ops): the graph reads and writes
// its attributes alone, its tensors are the node's inputs and outputs until lowering sets them.
#ifndef RSHIFT_GRAPH_OP_H_
#define RSHIFT_GRAPH_OP_H_

#include <type_traits>
#include <utility>
#include <variant>

#include "graph/ops/activation.h"
#include "graph/ops/conv.h"
#include "graph/ops/dynamic.h"
#include "graph/ops/eltwise.h"
#include "graph/ops/matmul.h"
#include "graph/ops/norm.h"
#include "graph/ops/pool.h"
#include "graph/ops/quant.h"
#include "graph/ops/recurrent.h"
#include "graph/ops/reduce.h"
#include "graph/ops/resize.h"
#include "graph/ops/select.h"
#include "graph/ops/shape.h"

namespace rshift {

using OpVariant = std::variant<
    // float, ONNX semantics
    Conv, ConvTranspose, MatMul, MaxPool, AveragePool, Binary, Where, Clip, LeakyRelu, PRelu, Unary,
    BatchNorm, LayerNorm, InstanceNorm, Lrn, Softmax, Reduce, ArgMax, Resize, FakeQuantize,
    NonMaxSuppression, NonZero, Unique, TopK,
    // data movement, any element type
    Identity, Reshape, Transpose, Concat, Slice, Pad, Expand, Tile, Gather, DepthToSpace,
    SpaceToDepth, Cast,
    // integer
    Quantize, Dequantize, Requantize, QConv, QConvTranspose, QMatMul, isa::Add, isa::AddFloat,
    isa::AddShifted, isa::AddFma, isa::AddScaled, isa::Mul, isa::BatchedMatMul, isa::Extremum, QDiv,
    isa::Product, isa::ReduceSquares, QBinaryTable, isa::AveragePool, QSoftmax, QNormalize,
    isa::LeakyRelu, QPRelu, QTable, QChannelTables, QResize, QResizeLinear, isa::L2Normalize,
    DynamicRange, DynamicQuantize, DynamicConv, DynamicMatMul, QLstmCell, QGruCell, QGatedOutput,
    QFixedLstmCell, QFixedGatedOutput,
    // of 16 bits
    isa::RequantizeS16, QConvS16, QMatMulS16, isa::AddS16, isa::MulS16, QTableS16,
    isa::AveragePoolS16, QNormalizeS16, isa::AddShiftedS16, QSoftmaxS16, isa::ExtremumS16,
    isa::BatchedMatMulS16, QQuotientSoftmaxS16, QChannelTablesS16, QResizeS16, isa::DivS16,
    isa::CompareS16, isa::ModS16, QPowS16>;

template <typename T, typename Variant>
inline constexpr bool kIsAlternative = false;
template <typename T, typename... Ts>
inline constexpr bool kIsAlternative<T, std::variant<Ts...>> = (std::is_same_v<T, Ts> || ...);

// The variant, with its special members compiled once: each is a function for every operator.
// clang-format off
struct Op : OpVariant {
  Op();
  template <typename T>
    requires kIsAlternative<std::remove_cvref_t<T>, OpVariant>  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload)
  Op(T&& op) : OpVariant(std::in_place_type<std::remove_cvref_t<T>>, std::forward<T>(op)) {}  // clang-format on
  Op(const Op&);
  Op(Op&&) noexcept;
  Op& operator=(const Op&);
  Op& operator=(Op&&) noexcept;
  ~Op();
};

// "Conv", "MaxPool", "QConv"; Binary and Unary give their function ("Add", "Sigmoid").
const char* OpName(const Op& op);

// The operator's kMovement; commands of OpClass::kMove and a nearest Resize copy. Operators without
// one compute.
Movement MovementOf(const Op& op);

// Helper for std::visit with one lambda per alternative.
template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OP_H_
