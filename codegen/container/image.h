// A compiled program as plain values: what codegen makes, what a .rshift file holds, what the
// runtime loads.
#ifndef RSHIFT_CODEGEN_CONTAINER_IMAGE_H_
#define RSHIFT_CODEGEN_CONTAINER_IMAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "base/shape.h"
#include "isa/isa.h"

namespace rshift {

inline constexpr uint64_t kTensorAlignment = 64;

enum class Region : uint8_t {
  kConst = 0,  // ProgramImage::constants, read only
  kArena = 1,  // one scratch block of arena_size bytes; graph inputs and outputs live here too
};

// A row is the elements of the last dimension: dense tensors have row after row, a view of a wider
// tensor (of a Concat) has its rows `pitch` bytes apart. Offsets are multiples of 64, but for views
// of tensors, whose are multiples of an element. Constants and arena end with at least 64 readable
// bytes past the last tensor. Two tensors may share bytes when they are aliases (Reshape), view and
// whole, or not alive at the same time. StridedBytes (strided_bytes.h) says which bytes are whose.
struct TensorRecord {
  std::string name;  // ONNX name for values of the model; constants: "conv1.weights", ...
  DType dtype = DType::kF32;
  Layout layout = Layout::kPlain;
  Region region = Region::kArena;
  bool quantized = false;  // scale and zero_point are meaningful
  float scale = 0.0f;
  int32_t zero_point = 0;
  Shape shape;  // memory order, rank <= 8
  uint64_t offset = 0;
  uint32_t pitch = 0;  // 0: dense; else more than row_bytes(), and there are several rows

  // Of the elements, without what lies between rows.
  uint64_t bytes() const { return static_cast<uint64_t>(NumElements(shape)) * SizeOf(dtype); }
  uint64_t row_bytes() const {
    return (shape.empty() ? 1 : static_cast<uint64_t>(shape.back())) * SizeOf(dtype);
  }
  uint64_t rows() const {
    uint64_t rows = 1;
    for (size_t d = 0; d + 1 < shape.size(); ++d) rows *= static_cast<uint64_t>(shape[d]);
    return rows;
  }
  uint64_t row_pitch() const { return pitch == 0 ? row_bytes() : pitch; }
  // From the first byte to behind the last one.
  uint64_t extent() const { return pitch == 0 ? bytes() : (rows() - 1) * pitch + row_bytes(); }
  // Some commands want tensors that are no views.
  bool whole() const { return pitch == 0 && offset % kTensorAlignment == 0; }
};

// A graph input or output: the tensor, and the name that users give it.
struct Binding {
  std::string name;
  int32_t tensor = 0;
};

struct ProgramImage {
  // Sorted text metadata: "model", "source_sha256", "mode" (f32|symmetric|asymmetric), "profile",
  // "target", "preprocess" (YAML text), "producer", "calibration_method",
  // "cost" (base/cost_model.h), ...
  std::map<std::string, std::string> meta;
  std::vector<TensorRecord> tensors;
  std::vector<Binding> inputs, outputs;
  std::vector<Command> commands;
  std::vector<std::string>
      command_names;  // one per command: the graph node; may be empty (stripped)
  std::vector<uint8_t> constants;
  // From this offset on, a multiple of 64, constants are numbers of 4 bits, -8..7: two to a byte in
  // the file (codegen/FORMAT.md), one to a byte here. All tensors there are kBytes. None: all
  // constants have a byte each in the file.
  std::optional<uint64_t> constants_of_4_bits;
  uint64_t arena_size = 0;
};

// A constant with two numbers to a byte in the file.
inline bool Has4Bits(const ProgramImage& image, const TensorRecord& tensor) {
  return image.constants_of_4_bits && tensor.region == Region::kConst &&
         tensor.offset >= *image.constants_of_4_bits;
}

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_IMAGE_H_
