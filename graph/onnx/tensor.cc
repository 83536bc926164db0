#include "graph/onnx/tensor.h"

#include <bit>
#include <limits>

#include "base/element_type.h"
#include "base/error.h"
#include "base/half.h"
#include "graph/onnx/external_data.h"

namespace rshift {
namespace {

using onnx::TensorProto;

template <typename To, typename From, typename Convert>
std::vector<uint8_t> ConvertRaw(std::span<const uint8_t> raw, Convert convert) {
  const size_t count = raw.size() / sizeof(From);
  std::vector<uint8_t> out(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, raw.data() + i * sizeof(From), sizeof(From));
    To to = convert(from);
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof(To));
  }
  return out;
}

float Bfloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// raw_data and external data: little-endian elements.
std::vector<uint8_t> FromRaw(std::span<const uint8_t> raw, int type) {
  switch (type) {
    case TensorProto::FLOAT16:
      return ConvertRaw<float, uint16_t>(raw, HalfToFloat);
    case TensorProto::BFLOAT16:
      return ConvertRaw<float, uint16_t>(raw, Bfloat16ToFloat);
    case TensorProto::DOUBLE:
      return ConvertRaw<float, double>(raw, [](double v) { return static_cast<float>(v); });
    case TensorProto::BOOL:
      return ConvertRaw<uint8_t, uint8_t>(raw, [](uint8_t v) { return uint8_t{v != 0}; });
    default:
      return {raw.begin(), raw.end()};
  }
}

template <typename To, typename Field, typename Convert>
std::vector<uint8_t> FromField(const Field& field, Convert convert) {
  std::vector<uint8_t> out(field.size() * sizeof(To));
  for (int i = 0; i < field.size(); ++i) {
    To to = convert(field.Get(i));
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof(To));
  }
  return out;
}

template <typename To, typename Field>
std::vector<uint8_t> FromField(const Field& field) {
  return FromField<To>(field, [](auto v) { return static_cast<To>(v); });
}

// The typed fields; which one holds a type is fixed by onnx.proto.
std::vector<uint8_t> FromTyped(const TensorProto& t, DType imported) {
  if (t.data_type() == TensorProto::DOUBLE) return FromField<float>(t.double_data());
  if (t.data_type() == TensorProto::FLOAT16)
    return FromField<float>(t.int32_data(),
                            [](int32_t v) { return HalfToFloat(static_cast<uint16_t>(v)); });
  if (t.data_type() == TensorProto::BFLOAT16)
    return FromField<float>(t.int32_data(),
                            [](int32_t v) { return Bfloat16ToFloat(static_cast<uint16_t>(v)); });
  return VisitElement(imported, [&](auto type) -> std::vector<uint8_t> {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_same_v<T, float>) {
      return FromField<T>(t.float_data());
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return FromField<T>(t.int64_data());
    } else if constexpr (std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>) {
      return FromField<T>(t.uint64_data());
    } else if constexpr (std::is_integral_v<T>) {
      return FromField<T>(t.int32_data());
    } else {
      Fail(ErrorCode::kInternal, "no element of a model becomes ", Name(imported));
    }
  });
}

size_t StoredSize(int type, DType imported) {
  if (type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16) return 2;
  return type == TensorProto::DOUBLE ? 8 : SizeOf(imported);
}

}  // namespace

std::string Quoted(const std::string& name) {
  constexpr size_t kLongest = 120;
  std::string out = "'";
  for (char c : name.substr(0, kLongest)) {
    const auto u = static_cast<unsigned char>(c);
    out += (u < 0x20 || u == 0x7f) ? '?' : c;
  }
  return out + (name.size() > kLongest ? "...'" : "'");
}

int OnnxType(DType type) {
  switch (type) {
    case DType::kF32:
      return TensorProto::FLOAT;
    case DType::kF64:
      return TensorProto::DOUBLE;
    case DType::kF16:
      return TensorProto::FLOAT16;
    case DType::kS8:
      return TensorProto::INT8;
    case DType::kU8:
      return TensorProto::UINT8;
    case DType::kS16:
      return TensorProto::INT16;
    case DType::kU16:
      return TensorProto::UINT16;
    case DType::kS32:
      return TensorProto::INT32;
    case DType::kU32:
      return TensorProto::UINT32;
    case DType::kS64:
      return TensorProto::INT64;
    case DType::kU64:
      return TensorProto::UINT64;
    case DType::kBool:
      return TensorProto::BOOL;
    case DType::kInvalid:
    case DType::kBytes:
      break;
  }
  return TensorProto::UNDEFINED;
}

std::string OnnxTypeName(int onnx_type) {
  if (TensorProto::DataType_IsValid(onnx_type)) {
    return TensorProto::DataType_Name(static_cast<TensorProto::DataType>(onnx_type));
  }
  static constexpr const char* kNewer[] = {"FLOAT8E4M3FN",   "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
                                           "FLOAT8E5M2FNUZ", "UINT4",          "INT4",
                                           "FLOAT4E2M1"};
  if (onnx_type >= 17 && onnx_type <= 23) return kNewer[onnx_type - 17];
  return std::to_string(onnx_type);
}

DType ImportDType(int onnx_type, const std::string& where) {
  switch (onnx_type) {
    case TensorProto::FLOAT:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::DOUBLE:
      return DType::kF32;
    case TensorProto::BOOL:
      return DType::kBool;
    case TensorProto::INT8:
      return DType::kS8;
    case TensorProto::UINT8:
      return DType::kU8;
    case TensorProto::INT16:
      return DType::kS16;
    case TensorProto::UINT16:
      return DType::kU16;
    case TensorProto::INT32:
      return DType::kS32;
    case TensorProto::UINT32:
      return DType::kU32;
    case TensorProto::INT64:
      return DType::kS64;
    case TensorProto::UINT64:
      return DType::kU64;
    default:
      break;
  }
  RSHIFT_REQUIRE(onnx_type != TensorProto::UNDEFINED && onnx_type > 0 && onnx_type < 64,
                 ErrorCode::kInvalidInput, where, ": element type ", onnx_type,
                 " does not exist in ONNX");
  Fail(ErrorCode::kUnsupported, where, ": element type ", OnnxTypeName(onnx_type),
       " is not supported; expected a float, integer or bool type of 8 bits or more");
}

Value ImportTensor(const TensorProto& tensor, ExternalData& external, const std::string& where) {
  Value value;
  value.name = tensor.name();
  value.dtype = ImportDType(tensor.data_type(), where);
  value.shape.assign(tensor.dims().begin(), tensor.dims().end());
  for (int64_t d : value.shape) {
    RSHIFT_REQUIRE(d >= 0 && d < (int64_t{1} << 40), ErrorCode::kInvalidInput, where,
                   ": dimension ", d, " is negative or 2^40 and more");
  }
  RSHIFT_REQUIRE(!tensor.has_segment(), ErrorCode::kUnsupported, where,
                 ": segmented tensors are not supported");
  const int64_t count = NumElements(value.shape);
  const size_t stored = StoredSize(tensor.data_type(), value.dtype);
  const bool is_external = tensor.data_location() == TensorProto::EXTERNAL;
  auto data = std::make_shared<ConstantData>();
  int64_t found = 0;
  if (is_external || tensor.has_raw_data()) {
    std::span<const uint8_t> raw =
        is_external ? ExternalBytes(tensor, external, where)
                    : std::span(reinterpret_cast<const uint8_t*>(tensor.raw_data().data()),
                                tensor.raw_data().size());
    RSHIFT_REQUIRE(raw.size() == static_cast<size_t>(count) * stored, ErrorCode::kInvalidInput,
                   where, ": has ", raw.size(), " bytes of data, expected ",
                   count * static_cast<int64_t>(stored), " for ", ToString(value.shape), " ",
                   OnnxTypeName(tensor.data_type()));
    data->bytes = FromRaw(raw, tensor.data_type());
  } else {
    data->bytes = FromTyped(tensor, value.dtype);
    found = static_cast<int64_t>(data->bytes.size() / SizeOf(value.dtype));
    RSHIFT_REQUIRE(found == count, ErrorCode::kInvalidInput, where, ": has ", found,
                   " elements, expected ", count, " for ", ToString(value.shape), " ",
                   OnnxTypeName(tensor.data_type()));
  }
  value.constant = std::move(data);
  return value;
}

}  // namespace rshift
