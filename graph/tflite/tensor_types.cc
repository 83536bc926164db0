#include "graph/tflite/tensor_types.h"

#include <cstring>

#include "base/error.h"
#include "graph/onnx/proto.h"
#include "graph/onnx/tensor.h"
#include "graph/tflite/file.h"

namespace rshift::tflite {

int OnnxType(TensorType type, const std::string& where) {
  using onnx::TensorProto;
  switch (type) {
    case TensorType_FLOAT32:
      return TensorProto::FLOAT;
    case TensorType_FLOAT16:
      return TensorProto::FLOAT16;
    case TensorType_BFLOAT16:
      return TensorProto::BFLOAT16;
    case TensorType_FLOAT64:
      return TensorProto::DOUBLE;
    case TensorType_INT8:
    case TensorType_INT4:
      return TensorProto::INT8;
    case TensorType_UINT8:
      return TensorProto::UINT8;
    case TensorType_INT16:
      return TensorProto::INT16;
    case TensorType_UINT16:
      return TensorProto::UINT16;
    case TensorType_INT32:
      return TensorProto::INT32;
    case TensorType_UINT32:
      return TensorProto::UINT32;
    case TensorType_INT64:
      return TensorProto::INT64;
    case TensorType_BOOL:
      return TensorProto::BOOL;
    default:
      Fail(ErrorCode::kUnsupported, where, " has elements of type ", EnumNameTensorType(type),
           "; floats, integers of 4 to 64 bits and booleans are supported");
  }
}

bool IsQuantized(const Tensor& tensor) {
  const TensorType type = tensor.type();
  const bool integer = type == TensorType_INT8 || type == TensorType_UINT8 ||
                       type == TensorType_INT4 || type == TensorType_INT16;
  const QuantizationParameters* q = tensor.quantization();
  return integer && q != nullptr && q->scale() != nullptr && q->scale()->size() > 0;
}

bool IsInt16(const Tensor& tensor) {
  return tensor.type() == TensorType_INT16 && IsQuantized(tensor) && ScalesOf(tensor).size() == 1 &&
         ZeroPointOf(tensor) == 0;
}

std::vector<float> ScalesOf(const Tensor& tensor) {
  const auto* scales = tensor.quantization()->scale();
  return {scales->begin(), scales->end()};
}

// The verifier holds lists of 64-bit numbers to the alignment of 32-bit ones: they are copied out.
int64_t ZeroPointOf(const Tensor& tensor, size_t channel) {
  const auto* zeros = tensor.quantization()->zero_point();
  if (zeros == nullptr || zeros->size() == 0) return 0;
  int64_t zero = 0;
  std::memcpy(&zero, zeros->Data() + (zeros->size() == 1 ? 0 : channel) * sizeof(zero),
              sizeof(zero));
  return flatbuffers::EndianScalar(zero);
}

bool HaveEqualQuantization(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || IsQuantized(a) != IsQuantized(b)) return false;
  if (!IsQuantized(a)) return true;
  if (ScalesOf(a).size() != 1 || ScalesOf(b).size() != 1) return false;
  return ScalesOf(a) == ScalesOf(b) && ZeroPointOf(a) == ZeroPointOf(b);
}

void CheckQuantization(const Tensor& tensor, const std::string& where) {
  const QuantizationParameters& q = *tensor.quantization();
  RSHIFT_REQUIRE(q.details_type() == QuantizationDetails_NONE, ErrorCode::kUnsupported, "tensor ",
                 Quoted(NameOf(tensor)), " has ",
                 q.details_type() == QuantizationDetails_BlockwiseQuantization
                     ? "a scale for each block of elements"
                     : "a quantization of its own kind",
                 "; scales of the tensor or of its channels are supported");
  const size_t scales = q.scale()->size();
  const size_t zeros = q.zero_point() == nullptr ? 0 : q.zero_point()->size();
  const Shape shape = ShapeOf(tensor);
  const int64_t axis = q.quantized_dimension();
  const bool fits = scales == 1 || (axis >= 0 && axis < static_cast<int64_t>(shape.size()) &&
                                    shape[axis] == static_cast<int64_t>(scales));
  RSHIFT_REQUIRE(fits && (zeros <= 1 || zeros == scales), ErrorCode::kInvalidInput, where,
                 ": tensor ", Quoted(NameOf(tensor)), " of shape ", ToString(shape), " has ",
                 scales, " scales and ", zeros, " zero points along dimension ", axis,
                 "; the file is damaged");
}

}  // namespace rshift::tflite
