#include "graph/fold/fold.h"

#include <cstring>

#include "base/element_type.h"
#include "base/error.h"

namespace rshift {
namespace {

template <typename T>
FoldResult Narrow(const std::vector<int64_t>& elements) {
  auto data = std::make_shared<ConstantData>();
  data->bytes.resize(elements.size() * sizeof(T));
  for (size_t i = 0; i < elements.size(); ++i) {
    const T v = static_cast<T>(elements[i]);
    std::memcpy(data->bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return data;
}

}  // namespace

std::vector<int64_t> LoadInts(const Value& constant) {
  return VisitElement(constant.dtype, [&](auto type) -> std::vector<int64_t> {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_same_v<T, bool>) {
      const auto elements = constant.constant->As<uint8_t>();
      return {elements.begin(), elements.end()};
    } else if constexpr (std::is_integral_v<T>) {
      const auto elements = constant.constant->As<T>();
      return {elements.begin(), elements.end()};
    } else {
      Fail(ErrorCode::kInternal, "constant '", constant.name, "' has type ", Name(constant.dtype),
           ", expected an integer; this is a bug in Rshift");
    }
  });
}

FoldResult StoreInts(const std::vector<int64_t>& elements, DType type) {
  return VisitElement(type, [&](auto element) -> FoldResult {
    using T = ElementOf<decltype(element)>;
    if constexpr (std::is_integral_v<T>) {
      return Narrow<T>(elements);
    } else {
      Fail(ErrorCode::kInternal, "cannot store integers as ", Name(type),
           "; this is a bug in Rshift");
    }
  });
}

Shape BroadcastStrides(const Shape& shape, const Shape& out) {
  const Shape own = Strides(shape);
  Shape strides(out.size(), 0);
  const size_t missing = out.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) strides[d + missing] = own[d];
  }
  return strides;
}

// Convolution, pooling, normalization, resize and integer operators stay nodes.
bool IsEvaluated(const Op& op) {
  return std::visit(
      Overloaded{
          [](const Conv&) { return false; }, [](const ConvTranspose&) { return false; },
          [](const MaxPool&) { return false; }, [](const AveragePool&) { return false; },
          [](const BatchNorm&) { return false; }, [](const LayerNorm&) { return false; },
          [](const InstanceNorm&) { return false; }, [](const Lrn&) { return false; },
          [](const Resize&) { return false; }, [](const Quantize&) { return false; },
          [](const Dequantize&) { return false; }, [](const DynamicRange&) { return false; },
          [](const DynamicQuantize&) { return false; }, [](const DynamicConv&) { return false; },
          [](const DynamicMatMul&) { return false; }, [](const QFixedLstmCell&) { return false; },
          [](const QFixedGatedOutput&) { return false; },
          []<typename T>(const T&) { return !kSelects<T>; }},
      op);
}

FoldResult FoldNode(const Op& op, const FoldInputs& in, const Shape& shape) {
  return std::visit(Overloaded{
                        [&](const Binary& o) { return FoldBinary(o.op, *in[0], *in[1], shape); },
                        [&](const Where&) { return FoldWhere(*in[0], *in[1], *in[2], shape); },
                        [&](const Unary& o) { return FoldUnary(o, *in[0]); },
                        [&](const Clip& o) { return FoldClip(o.clamp, *in[0]); },
                        [&](const LeakyRelu& o) {
                          Value slope = *in[0];
                          slope.shape = {};
                          slope.constant = MakeConstant(std::span<const float>(&o.alpha, 1));
                          return FoldPRelu(*in[0], slope);
                        },
                        [&](const PRelu&) { return FoldPRelu(*in[0], *in[1]); },
                        [&](const FakeQuantize& o) { return FoldFakeQuantize(o, *in[0], *in[1]); },
                        [&](const Cast& o) { return FoldCast(*in[0], o.to); },
                        [&](const Reduce& o) { return FoldReduce(o, *in[0], shape); },
                        [&](const ArgMax& o) { return FoldArgMax(o, *in[0], shape); },
                        [&](const Softmax& o) { return FoldSoftmax(o, *in[0]); },
                        [&](const MatMul& o) { return FoldMatMul(o, in, shape); },
                        [&](const Identity&) { return in[0]->constant; },
                        [&](const Reshape&) { return in[0]->constant; },
                        [&](const Transpose& o) { return FoldTranspose(o, *in[0], shape); },
                        [&](const Slice& o) { return FoldSlice(o, *in[0], shape); },
                        [&](const Expand&) { return FoldExpand(*in[0], shape); },
                        [&](const Tile&) { return FoldTile(*in[0], shape); },
                        [&](const Concat& o) { return FoldConcat(o, in, shape); },
                        [&](const Pad& o) { return FoldPad(o, *in[0], shape); },
                        [&](const Gather& o) { return FoldGather(o, *in[0], *in[1], shape); },
                        [&](const DepthToSpace& o) { return FoldDepthToSpace(o, *in[0]); },
                        [&](const SpaceToDepth& o) { return FoldSpaceToDepth(o, *in[0]); },
                        // As IsEvaluated() says.
                        [&](const auto&) { return FoldResult(); },
                    },
                    op);
}

}  // namespace rshift
