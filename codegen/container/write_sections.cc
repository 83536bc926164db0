// The content of each section, written.
#include "codegen/container/bytes.h"
#include "codegen/container/layout.h"
#include "codegen/container/sections.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT: the names of this file's own format

void PutTensor(const TensorRecord& tensor, ByteWriter& out) {
  const uint64_t start = out.size();
  out.Put<uint32_t>(tensor.name.size());
  out.Put<uint8_t>(static_cast<uint8_t>(tensor.dtype));
  out.Put<uint8_t>(static_cast<uint8_t>(tensor.layout));
  out.Put<uint8_t>(static_cast<uint8_t>(tensor.region));
  out.Put<uint8_t>(tensor.quantized ? 1 : 0);
  out.Put<uint32_t>(tensor.shape.size());
  out.PutFloat(tensor.scale);
  out.Put<int32_t>(tensor.zero_point);
  out.Put<uint32_t>(tensor.pitch);
  out.Put<uint64_t>(tensor.offset);
  for (const int64_t dim : tensor.shape) out.Put<int64_t>(dim);
  out.PadTo(start + kTensorRecordSize);
}

}  // namespace

std::vector<uint8_t> WriteMeta(const ProgramImage& image) {
  ByteWriter out;
  out.Put<uint32_t>(image.meta.size());
  for (const auto& [key, value] : image.meta) {
    out.Put<uint32_t>(key.size());
    out.Put<uint32_t>(value.size());
    out.PutText(key);
    out.PutText(value);
  }
  return out.Take();
}

std::vector<uint8_t> WriteTensors(const ProgramImage& image) {
  ByteWriter out;
  out.Put<uint64_t>(image.arena_size);
  out.Put<uint32_t>(image.tensors.size());
  out.Put<uint32_t>(0);
  for (const TensorRecord& tensor : image.tensors) PutTensor(tensor, out);
  for (const TensorRecord& tensor : image.tensors) out.PutText(tensor.name);
  return out.Take();
}

std::vector<uint8_t> WriteBindings(const ProgramImage& image) {
  ByteWriter out;
  out.Put<uint32_t>(image.inputs.size());
  out.Put<uint32_t>(image.outputs.size());
  for (const std::vector<Binding>* list : {&image.inputs, &image.outputs}) {
    for (const Binding& binding : *list) {
      out.Put<int32_t>(binding.tensor);
      out.Put<uint32_t>(binding.name.size());
      out.PutText(binding.name);
    }
  }
  return out.Take();
}

std::vector<uint8_t> WriteCommandNames(const ProgramImage& image) {
  ByteWriter out;
  out.Put<uint32_t>(image.command_names.size());
  for (const std::string& name : image.command_names) {
    out.Put<uint32_t>(name.size());
    out.PutText(name);
  }
  return out.Take();
}

}  // namespace rshift
