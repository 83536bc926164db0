#include "graph/op.h"

#include "isa/function_names.h"

namespace rshift {
namespace {

// By ReduceOp: the ONNX operator.
constexpr const char* kReduceNames[] = {
#define RSHIFT_REDUCE(id, name, ...) "Reduce" #name,
#include "isa/functions.def"
};

}  // namespace

Op::Op() = default;
Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;
Op::~Op() = default;

const char* OpName(const Op& op) {
  return std::visit(Overloaded{
                        [](const Conv&) { return "Conv"; },
                        [](const ConvTranspose&) { return "ConvTranspose"; },
                        [](const MatMul&) { return "MatMul"; },
                        [](const MaxPool&) { return "MaxPool"; },
                        [](const AveragePool&) { return "AveragePool"; },
                        [](const Binary& o) { return Name(o.op); },
                        [](const Where&) { return "Where"; },
                        [](const Clip&) { return "Clip"; },
                        [](const LeakyRelu&) { return "LeakyRelu"; },
                        [](const PRelu&) { return "PRelu"; },
                        [](const Unary& o) { return Name(o.op); },
                        [](const BatchNorm&) { return "BatchNorm"; },
                        [](const LayerNorm& o) { return o.rms ? "RMSNorm" : "LayerNorm"; },
                        [](const InstanceNorm&) { return "InstanceNorm"; },
                        [](const Lrn&) { return "Lrn"; },
                        [](const Softmax& o) { return o.log ? "LogSoftmax" : "Softmax"; },
                        [](const Reduce& o) { return kReduceNames[static_cast<size_t>(o.op)]; },
                        [](const ArgMax& o) { return o.min ? "ArgMin" : "ArgMax"; },
                        [](const Resize&) { return "Resize"; },
                        [](const FakeQuantize&) { return "FakeQuantize"; },
                        [](const NonMaxSuppression&) { return "NonMaxSuppression"; },
                        [](const NonZero&) { return "NonZero"; },
                        [](const TopK&) { return "TopK"; },
                        [](const Unique&) { return "Unique"; },
                        [](const Identity&) { return "Identity"; },
                        [](const Reshape&) { return "Reshape"; },
                        [](const Transpose&) { return "Transpose"; },
                        [](const Concat&) { return "Concat"; },
                        [](const Slice&) { return "Slice"; },
                        [](const Pad&) { return "Pad"; },
                        [](const Expand&) { return "Expand"; },
                        [](const Tile&) { return "Tile"; },
                        [](const Gather&) { return "Gather"; },
                        [](const DepthToSpace&) { return "DepthToSpace"; },
                        [](const SpaceToDepth&) { return "SpaceToDepth"; },
                        [](const Cast&) { return "Cast"; },
                        [](const Quantize&) { return "Quantize"; },
                        [](const Dequantize&) { return "Dequantize"; },
                        [](const Requantize&) { return "Requantize"; },
                        [](const QConv&) { return "QConv"; },
                        [](const QConvTranspose&) { return "QConvTranspose"; },
                        [](const QMatMul&) { return "QMatMul"; },
                        [](const isa::Add&) { return "QAdd"; },
                        [](const isa::AddFloat&) { return "QAdd"; },
                        [](const isa::AddShifted&) { return "QAddShifted"; },
                        [](const isa::AddFma&) { return "QAddFma"; },
                        [](const isa::AddScaled&) { return "QAddScaled"; },
                        [](const isa::Mul&) { return "QMul"; },
                        [](const isa::BatchedMatMul&) { return "QBatchedMatMul"; },
                        [](const isa::Extremum& o) { return o.min ? "QMin" : "QMax"; },
                        [](const QDiv&) { return "QDiv"; },
                        [](const QBinaryTable&) { return "QBinaryTable"; },
                        [](const isa::AveragePool&) { return "QAveragePool"; },
                        [](const QSoftmax&) { return "QSoftmax"; },
                        [](const QNormalize&) { return "QNormalize"; },
                        [](const isa::LeakyRelu&) { return "QLeakyRelu"; },
                        [](const QPRelu&) { return "QPRelu"; },
                        [](const QTable&) { return "QTable"; },
                        [](const QChannelTables&) { return "QChannelTables"; },
                        [](const QResize&) { return "QResize"; },
                        [](const QResizeLinear&) { return "QResizeLinear"; },
                        [](const isa::L2Normalize&) { return "QL2Normalize"; },
                        [](const isa::Product&) { return "QProduct"; },
                        [](const isa::ReduceSquares&) { return "QReduceSquares"; },
                        [](const DynamicRange&) { return "DynamicRange"; },
                        [](const DynamicQuantize&) { return "DynamicQuantize"; },
                        [](const DynamicConv&) { return "DynamicConv"; },
                        [](const DynamicMatMul&) { return "DynamicMatMul"; },
                        [](const QLstmCell&) { return "QLstmCell"; },
                        [](const QGruCell&) { return "QGruCell"; },
                        [](const QGatedOutput&) { return "QGatedOutput"; },
                        [](const QFixedLstmCell&) { return "QFixedLstmCell"; },
                        [](const QFixedGatedOutput&) { return "QFixedGatedOutput"; },
                        [](const isa::RequantizeS16&) { return "RequantizeS16"; },
                        [](const QConvS16&) { return "QConvS16"; },
                        [](const QMatMulS16&) { return "QMatMulS16"; },
                        [](const isa::AddS16&) { return "QAddS16"; },
                        [](const isa::MulS16&) { return "QMulS16"; },
                        [](const isa::DivS16&) { return "QDivS16"; },
                        [](const isa::CompareS16&) { return "QCompareS16"; },
                        [](const isa::ModS16&) { return "QModS16"; },
                        [](const QPowS16&) { return "QPowS16"; },
                        [](const QTableS16&) { return "QTableS16"; },
                        [](const isa::AveragePoolS16&) { return "QAveragePoolS16"; },
                        [](const QNormalizeS16&) { return "QNormalizeS16"; },
                        [](const isa::AddShiftedS16&) { return "QAddShiftedS16"; },
                        [](const QSoftmaxS16&) { return "QSoftmaxS16"; },
                        [](const isa::ExtremumS16&) { return "QExtremumS16"; },
                        [](const isa::BatchedMatMulS16&) { return "QBatchedMatMulS16"; },
                        [](const QQuotientSoftmaxS16&) { return "QQuotientSoftmaxS16"; },
                        [](const QChannelTablesS16&) { return "QChannelTablesS16"; },
                        [](const QResizeS16&) { return "QResizeS16"; },
                    },
                    op);
}

Movement MovementOf(const Op& op) {
  const auto movement = []<typename T>(const T& o) {
    if constexpr (requires { T::kMovement; }) {
      return T::kMovement;
    } else if constexpr (std::is_same_v<T, Resize>) {
      return o.mode == ResizeMode::kNearest ? Movement::kCopies : Movement::kNone;
    } else if constexpr (requires { T::kClass; }) {
      return T::kClass == OpClass::kMove ? Movement::kCopies : Movement::kNone;
    } else {
      return Movement::kNone;
    }
  };
  return std::visit(movement, op);
}

}  // namespace rshift
