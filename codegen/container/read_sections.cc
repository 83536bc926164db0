// The content of each section, read from bytes that may be anything.
#include <cmath>

#include "codegen/container/bytes.h"
#include "codegen/container/layout.h"
#include "codegen/container/sections.h"
#include "isa/max_rank.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT: the names of this file's own format

// An enumerator that the reader knows.
template <typename Enum>
Enum GetEnum(ByteReader& in, int first, int last, const char* what) {
  const auto value = in.Get<uint8_t>(what);
  if (value < first || value > last) {
    in.Bad(what, " is ", static_cast<int>(value), ", expected ", first, "..", last);
  }
  return static_cast<Enum>(value);
}

void GetQuantization(ByteReader& in, TensorRecord& tensor) {
  tensor.scale = in.GetFloat("scale");
  tensor.zero_point = in.Get<int32_t>("zero point");
  if (!tensor.quantized) {
    if (std::bit_cast<uint32_t>(tensor.scale) != 0 || tensor.zero_point != 0) {
      in.Bad("scale and zero point of a tensor that is not quantized must be zero");
    }
    return;
  }
  const bool is_signed = tensor.dtype == DType::kS8, is_u16 = tensor.dtype == DType::kU16;
  if (!is_signed && tensor.dtype != DType::kU8 && tensor.dtype != DType::kS16 && !is_u16) {
    in.Bad("a quantized tensor has type ", Name(tensor.dtype), ", expected s8, u8, s16 or u16");
  }
  if (!std::isfinite(tensor.scale) || tensor.scale <= 0.0f) {
    in.Bad("scale is ", tensor.scale, ", expected a positive number");
  }
  if (tensor.dtype == DType::kS16) {
    if (tensor.zero_point != 0) in.Bad("zero point is ", tensor.zero_point, ", expected 0 of s16");
    return;
  }
  const int lo = is_signed ? -128 : 0, hi = is_u16 ? 65535 : lo + 255;
  if (tensor.zero_point < lo || tensor.zero_point > hi) {
    in.Bad("zero point is ", tensor.zero_point, ", expected ", lo, "..", hi);
  }
}

void GetShape(ByteReader& in, uint32_t rank, TensorRecord& tensor) {
  tensor.shape.reserve(rank);
  for (uint32_t i = 0; i < rank; ++i) {
    tensor.shape.push_back(in.Get<int64_t>("dimension"));
    if (tensor.shape.back() < 0) in.Bad("dimension is ", tensor.shape.back(), ", expected >= 0");
  }
  in.ExpectZero((kMaxRank - rank) * sizeof(int64_t), "unused dimensions");
  try {
    NumElements(tensor.shape);
  } catch (const Error& error) {
    in.Bad(error.what());
  }
}

// Gives the size of the name, which is in the string table behind the records.
uint32_t GetTensor(ByteReader& in, TensorRecord& tensor) {
  const auto name_size = in.Get<uint32_t>("name size");
  tensor.dtype = GetEnum<DType>(in, 1, kDTypeCount - 1, "element type");
  tensor.layout = GetEnum<Layout>(in, 0, 1, "layout");
  tensor.region = GetEnum<Region>(in, 0, 1, "region");
  tensor.quantized = GetEnum<uint8_t>(in, 0, 1, "quantized flag") != 0;
  const auto rank = in.Get<uint32_t>("rank");
  if (rank > kMaxRank) in.Bad("rank is ", rank, ", expected at most ", kMaxRank);
  if (tensor.layout == Layout::kNhwc && rank != 4) {
    in.Bad("a tensor with layout NHWC has rank ", rank, ", expected 4");
  }
  GetQuantization(in, tensor);
  tensor.pitch = in.Get<uint32_t>("pitch");
  tensor.offset = in.Get<uint64_t>("offset");
  GetShape(in, rank, tensor);
  return name_size;
}

}  // namespace

void ReadMeta(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image) {
  ByteReader in(bytes, where);
  const uint32_t count = in.GetCount(8, "number of entries");
  for (uint32_t i = 0; i < count; ++i) {
    const auto key_size = in.Get<uint32_t>("key size");
    const auto value_size = in.Get<uint32_t>("value size");
    std::string key = in.GetText(key_size, "key");
    if (!image.meta.empty() && key <= image.meta.rbegin()->first) {
      in.Bad("keys are not in ascending order");
    }
    image.meta.emplace_hint(image.meta.end(), std::move(key), in.GetText(value_size, "value"));
  }
  in.ExpectEnd();
}

void ReadTensors(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image) {
  ByteReader in(bytes, where);
  image.arena_size = in.Get<uint64_t>("arena size");
  if (image.arena_size > kMaxArena) {
    in.Bad("arena has ", image.arena_size, " bytes, expected at most ", kMaxArena);
  }
  const uint32_t count = in.GetCount(1, "number of tensors");
  in.ExpectZero(4, "reserved bytes");
  if (count > in.remaining() / kTensorRecordSize) in.Bad(count, " tensors do not fit the section");
  std::vector<uint32_t> name_sizes(count);
  image.tensors.resize(count);
  for (uint32_t i = 0; i < count; ++i) name_sizes[i] = GetTensor(in, image.tensors[i]);
  for (uint32_t i = 0; i < count; ++i) {
    image.tensors[i].name = in.GetText(name_sizes[i], "tensor name");
  }
  in.ExpectEnd();
}

void ReadBindings(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image) {
  ByteReader in(bytes, where);
  const auto inputs = in.Get<uint32_t>("number of inputs");
  const auto outputs = in.Get<uint32_t>("number of outputs");
  if (uint64_t{inputs} + outputs > in.remaining() / 8) {
    in.Bad(inputs, " inputs and ", outputs, " outputs do not fit the section");
  }
  const auto read = [&](uint32_t count, std::vector<Binding>& list) {
    for (uint32_t i = 0; i < count; ++i) {
      const auto tensor = in.Get<int32_t>("tensor");
      const auto name_size = in.Get<uint32_t>("name size");
      if (tensor < 0 || tensor >= static_cast<int64_t>(image.tensors.size())) {
        in.Bad("tensor is ", tensor, ", expected one of ", image.tensors.size());
      }
      list.push_back({in.GetText(name_size, "name"), tensor});
    }
  };
  read(inputs, image.inputs);
  read(outputs, image.outputs);
  in.ExpectEnd();
}

void ReadCommandNames(std::span<const uint8_t> bytes, const std::string& where,
                      ProgramImage& image) {
  ByteReader in(bytes, where);
  const uint32_t count = in.GetCount(4, "number of names");
  if (count != image.commands.size() || count == 0) {
    in.Bad("there are ", count, " names for ", image.commands.size(), " commands");
  }
  for (uint32_t i = 0; i < count; ++i) {
    const auto size = in.Get<uint32_t>("name size");
    image.command_names.push_back(in.GetText(size, "command name"));
  }
  in.ExpectEnd();
}

}  // namespace rshift
