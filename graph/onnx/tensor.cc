#include "graph/onnx/tensor.h"

#include <sys/stat.h>

#include <bit>
#include <charconv>
#include <limits>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/half.h"

namespace rshift {
namespace {

using onnx::TensorProto;

// Every component of the path must be a plain folder or file: a link could lead anywhere.
void CheckPlainPath(const ExternalData& external, const std::string& location,
                    const std::string& where) {
  RSHIFT_REQUIRE(
      !location.empty() && location[0] != '/' && location.find('\0') == std::string::npos,
      ErrorCode::kInvalidInput, where, ": external data location ", Quoted(location),
      " is not a relative path; keep the data file beside the model");
  std::string path = external.folder;
  size_t begin = 0;
  while (begin <= location.size()) {
    size_t end = std::min(location.find('/', begin), location.size());
    std::string part = location.substr(begin, end - begin);
    RSHIFT_REQUIRE(part != "..", ErrorCode::kInvalidInput, where, ": external data location ",
                   Quoted(location),
                   " leaves the model's folder; keep the data file beside the model");
    path += "/" + part;
    struct stat info {};
    RSHIFT_REQUIRE(lstat(path.c_str(), &info) == 0, ErrorCode::kIo, where, ": external data file ",
                   Quoted(path), " cannot be opened; copy it beside the model");
    const bool last = end == location.size();
    RSHIFT_REQUIRE(last ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode), ErrorCode::kInvalidInput,
                   where, ": external data file ", Quoted(path),
                   " is a link or not a plain file; copy it beside the model");
    begin = end + 1;
  }
}

int64_t ParseCount(const std::string& text, const char* key, const std::string& where) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  RSHIFT_REQUIRE(error == std::errc() && end == text.data() + text.size() && number >= 0,
                 ErrorCode::kInvalidInput, where, ": external data ", key, " ", Quoted(text),
                 " is not a number of bytes");
  return number;
}

std::span<const uint8_t> ExternalBytes(const TensorProto& tensor, ExternalData& external,
                                       const std::string& where) {
  RSHIFT_REQUIRE(
      !external.folder.empty(), ErrorCode::kUnsupported, where,
      ": keeps its data in another file, which a model in memory cannot; give the model's path");
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = ParseCount(entry.value(), "offset", where);
    if (entry.key() == "length") length = ParseCount(entry.value(), "length", where);
  }
  auto file = external.files.find(location);
  if (file == external.files.end()) {
    CheckPlainPath(external, location, where);
    const std::string path = external.folder + "/" + location;
    for (const std::string& output : external.outputs) {
      RSHIFT_REQUIRE(!SameFile(output, path), ErrorCode::kInvalidInput, "the output ", output,
                     " is the same file as the model's external data ", path,
                     ", which it would overwrite; give the output another name");
    }
    file = external.files.emplace(location, MappedFile::Map(path)).first;
  }
  auto bytes = file->second.bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  if (length < 0) length = std::max<int64_t>(size - offset, 0);
  RSHIFT_REQUIRE(offset <= size && length <= size - offset, ErrorCode::kInvalidInput, where,
                 ": external data ends at byte ", offset, " + ", length, " but ", Quoted(location),
                 " has ", size, " bytes; the data file is incomplete");
  return bytes.subspan(offset, length);
}

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
std::vector<uint8_t> FromTyped(const TensorProto& t) {
  switch (t.data_type()) {
    case TensorProto::FLOAT:
      return FromField<float>(t.float_data());
    case TensorProto::DOUBLE:
      return FromField<float>(t.double_data());
    case TensorProto::FLOAT16:
      return FromField<float>(t.int32_data(),
                              [](int32_t v) { return HalfToFloat(static_cast<uint16_t>(v)); });
    case TensorProto::BFLOAT16:
      return FromField<float>(t.int32_data(),
                              [](int32_t v) { return Bfloat16ToFloat(static_cast<uint16_t>(v)); });
    case TensorProto::BOOL:
      return FromField<uint8_t>(t.int32_data(), [](int32_t v) { return uint8_t{v != 0}; });
    case TensorProto::INT8:
      return FromField<int8_t>(t.int32_data());
    case TensorProto::UINT8:
      return FromField<uint8_t>(t.int32_data());
    case TensorProto::INT16:
      return FromField<int16_t>(t.int32_data());
    case TensorProto::UINT16:
      return FromField<uint16_t>(t.int32_data());
    case TensorProto::INT32:
      return FromField<int32_t>(t.int32_data());
    case TensorProto::INT64:
      return FromField<int64_t>(t.int64_data());
    case TensorProto::UINT32:
      return FromField<uint32_t>(t.uint64_data());
    default:
      return FromField<uint64_t>(t.uint64_data());
  }
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
    data->bytes = FromTyped(tensor);
    found = static_cast<int64_t>(data->bytes.size() / SizeOf(value.dtype));
    RSHIFT_REQUIRE(found == count, ErrorCode::kInvalidInput, where, ": has ", found,
                   " elements, expected ", count, " for ", ToString(value.shape), " ",
                   OnnxTypeName(tensor.data_type()));
  }
  value.constant = std::move(data);
  return value;
}

}  // namespace rshift
