#include "graph/tflite/constants.h"

#include <cstdint>
#include <span>

#include "base/error.h"
#include "graph/onnx/tensor.h"
#include "graph/tflite/sparse.h"
#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

// Bits of one stored element; 0 for types without a fixed size.
int BitsOf(TensorType type) {
  switch (type) {
    case TensorType_INT4:
      return 4;
    case TensorType_INT8:
    case TensorType_UINT8:
    case TensorType_BOOL:
      return 8;
    case TensorType_INT16:
    case TensorType_UINT16:
    case TensorType_FLOAT16:
    case TensorType_BFLOAT16:
      return 16;
    case TensorType_FLOAT32:
    case TensorType_INT32:
    case TensorType_UINT32:
      return 32;
    case TensorType_FLOAT64:
    case TensorType_INT64:
      return 64;
    default:
      return 0;
  }
}

// Two's complement numbers of 4 bits, the lower half of a byte first, as bytes.
std::string Widened(std::span<const uint8_t> nibbles, int64_t count) {
  std::string bytes(static_cast<size_t>(count), '\0');
  for (int64_t i = 0; i < count; ++i) {
    const int nibble = nibbles[i / 2] >> (i % 2 * 4) & 15;
    bytes[i] = static_cast<char>(nibble < 8 ? nibble : nibble - 16);
  }
  return bytes;
}

}  // namespace

onnx::TensorProto& NewInitializer(Translation& state, const std::string& name, int type,
                                  const Shape& shape) {
  onnx::TensorProto& proto = *state.graph.add_initializer();
  proto.set_name(name);
  proto.set_data_type(type);
  for (const int64_t d : shape) proto.add_dims(d);
  return proto;
}

void StoreConstant(Translation& state, int index, const std::string& where) {
  if (state.computed[index] || state.stored[index]) return;
  const Tensor& tensor = state.file.tensor(index);
  const std::string what = "tensor " + Quoted(NameOf(tensor));
  RSHIFT_REQUIRE(!tensor.is_variable(), ErrorCode::kUnsupported, what,
                 " is a variable: it keeps its contents between runs; only tensors that are "
                 "computed anew in each run are supported");
  const Shape shape = ShapeOf(tensor);
  const int type = OnnxType(tensor.type(), what);
  const std::span<const uint8_t> data = state.file.DataOf(tensor);
  const int64_t count = NumElements(shape), bits = BitsOf(tensor.type());
  RSHIFT_REQUIRE(!data.empty() || count == 0, ErrorCode::kInvalidInput, where, "reads ", what,
                 ", which no operator, input or buffer provides; the file is damaged");
  if (tensor.sparsity() != nullptr) {
    RSHIFT_REQUIRE(bits >= 8, ErrorCode::kUnsupported, what, " is stored sparse in elements of ",
                   bits, " bits; elements of 8 bits and more are supported");
    NewInitializer(state, state.tensor_names[index], type, shape)
        .set_raw_data(Densified(tensor, data, bits / 8));
    state.stored[index] = true;
    return;
  }
  RSHIFT_REQUIRE((count * bits + 7) / 8 == static_cast<int64_t>(data.size()),
                 ErrorCode::kInvalidInput, where, what, " of shape ", ToString(shape), " and type ",
                 EnumNameTensorType(tensor.type()), " has ", data.size(), " bytes, expected ",
                 (count * bits + 7) / 8, "; the file is damaged");
  onnx::TensorProto& proto = NewInitializer(state, state.tensor_names[index], type, shape);
  if (tensor.type() == TensorType_INT4) {
    proto.set_raw_data(Widened(data, count));
  } else {
    proto.set_raw_data(data.data(), data.size());
  }
  state.stored[index] = true;
}

}  // namespace rshift::tflite
