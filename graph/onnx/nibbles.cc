#include "graph/onnx/nibbles.h"

#include "base/error.h"

namespace rshift {
namespace {

using onnx::TensorProto;

// The bytes as stored, as a list of numbers 0 to 255.
Value StoredBytes(const TensorProto& tensor, int64_t count, ExternalData& external,
                  const std::string& where) {
  TensorProto bytes = tensor;
  bytes.set_data_type(TensorProto::UINT8);
  bytes.clear_dims();
  bytes.add_dims(count / 2 + count % 2);
  // Numbers of a list may be negative: their lowest byte counts.
  for (int& element : *bytes.mutable_int32_data()) element &= 255;
  return ImportTensor(bytes, external, where);
}

}  // namespace

TensorProto WidenNibbles(const TensorProto& tensor, ExternalData& external,
                         const std::string& where) {
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = NumElements(shape);
  const Value stored = StoredBytes(tensor, count, external, where);
  const bool is_signed = tensor.data_type() == kOnnxInt4;
  std::string wide(static_cast<size_t>(count), '\0');
  for (int64_t i = 0; i < count; ++i) {
    const int nibble = stored.constant->bytes[static_cast<size_t>(i / 2)] >> (i % 2 * 4) & 15;
    wide[static_cast<size_t>(i)] =
        static_cast<char>(is_signed && nibble > 7 ? nibble - 16 : nibble);
  }
  TensorProto made;
  made.set_name(tensor.name());
  made.set_data_type(is_signed ? TensorProto::INT8 : TensorProto::UINT8);
  *made.mutable_dims() = tensor.dims();
  made.set_raw_data(std::move(wide));
  return made;
}

}  // namespace rshift
