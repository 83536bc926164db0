#include "runtime/outputs.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "codegen/container/output_cuts.h"

namespace rshift {
namespace {

const TensorRecord& RecordOf(const Program& program, int index) {
  const ProgramImage& image = program.image();
  return image.tensors[static_cast<size_t>(image.outputs.at(static_cast<size_t>(index)).tensor)];
}

}  // namespace

Shape OutputShape(const Program& program, const Session& session, int index) {
  Shape shape = RecordOf(program, index).shape;
  for (const ProgramCut& cut : OutputCuts(program.image(), program.where())) {
    if (cut.output != index) continue;
    int64_t count = 0;
    std::memcpy(&count, session.Output(cut.count).data(), sizeof(count));
    // The number is data: a damaged program may have any.
    int64_t& dim = shape[static_cast<size_t>(cut.axis)];
    dim = std::clamp<int64_t>(count, 0, dim);
  }
  return shape;
}

std::vector<std::byte> OutputBytes(const Program& program, const Session& session, int index) {
  const TensorRecord& record = RecordOf(program, index);
  const std::span<const std::byte> all = session.Output(index);
  const Shape shape = OutputShape(program, session, index);
  size_t axis = 0;
  while (axis < shape.size() && shape[axis] == record.shape[axis]) ++axis;
  if (axis == shape.size()) return {all.begin(), all.end()};
  size_t outer = 1, inner = SizeOf(record.dtype);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d != axis) (d < axis ? outer : inner) *= static_cast<size_t>(shape[d]);
  }
  const size_t kept = static_cast<size_t>(shape[axis]) * inner;
  const size_t pitch = static_cast<size_t>(record.shape[axis]) * inner;
  std::vector<std::byte> bytes;
  bytes.reserve(outer * kept);
  for (size_t row = 0; row < outer; ++row) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(row * pitch);
    bytes.insert(bytes.end(), begin, begin + static_cast<ptrdiff_t>(kept));
  }
  return bytes;
}

void RequireNoFault(const Program& program, const Session& session, const std::string& sample) {
  const std::string fault = session.Fault();
  RSHIFT_REQUIRE(
      fault.empty(), ErrorCode::kInvalidInput, program.where(), ": ", fault,
      sample.empty() ? "" : Cat(", of sample '", sample, "'"),
      "; an index that is an input, or computed from one, is expected between minus the axis "
      "and the axis less one");
}

}  // namespace rshift
