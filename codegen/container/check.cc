// What must hold across the sections of a program.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/checksum.h"
#include "base/error.h"
#include "codegen/container/broadcast.h"
#include "codegen/container/container.h"
#include "codegen/container/layout.h"
#include "codegen/container/output_cuts.h"
#include "codegen/container/sections.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT: the names of this file's own format

// Rows apart, in one way of writing only; what is said of extents holds afterwards.
void CheckPitch(const TensorRecord& tensor, const std::string& where) {
  if (tensor.pitch == 0) return;
  const uint64_t pitch = tensor.pitch;
  const bool sane = tensor.region == Region::kArena && tensor.bytes() > 0 && tensor.rows() > 1 &&
                    pitch > tensor.row_bytes() && pitch % SizeOf(tensor.dtype) == 0 &&
                    tensor.rows() <= kMaxArena / pitch;
  RSHIFT_REQUIRE(sane, ErrorCode::kCorrupt, where, ": tensor '", tensor.name, "' of shape ",
                 ToString(tensor.shape), " has a pitch of ", pitch,
                 " bytes, expected 0, or in the arena and for several rows more than a row's ",
                 tensor.row_bytes());
}

void CheckAlignment(const TensorRecord& tensor, const std::string& where) {
  const uint64_t unit = tensor.region == Region::kConst
                            ? kTensorAlignment
                            : std::max<uint64_t>(SizeOf(tensor.dtype), 1);
  RSHIFT_REQUIRE(tensor.offset % unit == 0, ErrorCode::kCorrupt, where, ": tensor '", tensor.name,
                 "' is at offset ", tensor.offset, ", expected a multiple of ", unit);
}

// A constant has 8 bits or 4, and only packed weights have 4.
void Check4Bits(const ProgramImage& image, const TensorRecord& tensor, const std::string& where) {
  if (!image.constants_of_4_bits) return;
  const uint64_t first = *image.constants_of_4_bits;
  if (tensor.offset + tensor.extent() <= first && tensor.offset < first) return;
  RSHIFT_REQUIRE(tensor.offset >= first && tensor.dtype == DType::kBytes, ErrorCode::kCorrupt,
                 where, ": constant '", tensor.name, "' is ", Name(tensor.dtype), " at offset ",
                 tensor.offset, ": expected bytes among the constants of 4 bits, which begin at ",
                 first);
}

void CheckRegions(const ProgramImage& image, uint64_t constants_size, const std::string& where) {
  RSHIFT_REQUIRE(image.arena_size <= kMaxArena, ErrorCode::kCorrupt, where, ": arena has ",
                 image.arena_size, " bytes, expected at most ", kMaxArena);
  const uint64_t of_8_bits = image.constants_of_4_bits.value_or(0);
  RSHIFT_REQUIRE(of_8_bits <= constants_size && of_8_bits % kTensorAlignment == 0,
                 ErrorCode::kCorrupt, where, ": constants of 4 bits begin at ", of_8_bits,
                 ", expected a multiple of ", kTensorAlignment, " and at most ", constants_size);
  std::vector<std::string_view> names;
  names.reserve(image.tensors.size());
  for (const TensorRecord& tensor : image.tensors) {
    const uint64_t limit = tensor.region == Region::kConst ? constants_size : image.arena_size;
    CheckPitch(tensor, where);
    CheckAlignment(tensor, where);
    const uint64_t extent = tensor.extent();
    const std::optional<uint64_t> size = CheckedAdd<uint64_t>(extent, kSlack);
    RSHIFT_REQUIRE(size && RangeFits(tensor.offset, *size, limit), ErrorCode::kCorrupt, where,
                   ": tensor '", tensor.name, "' has ", extent, " bytes at offset ", tensor.offset,
                   ", which with ", kSlack, " bytes of slack leaves its region of ", limit,
                   " bytes");
    if (tensor.region == Region::kConst) Check4Bits(image, tensor, where);
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  RSHIFT_REQUIRE(twice == names.end(), ErrorCode::kCorrupt, where, ": two tensors are named '",
                 twice == names.end() ? "" : *twice, "'");
}

void CheckCommand(const ProgramImage& image, size_t index, const std::string& where) {
  const Command& command = image.commands[index];
  const OpSpec* spec = FindOp(command.opcode);
  const auto check = [&](bool ok, const auto&... parts) {
    RSHIFT_REQUIRE(ok, ErrorCode::kCorrupt, where, ": command ", index, ": ", parts...);
  };
  check(spec != nullptr, "unknown opcode ", static_cast<int>(command.opcode));
  for (const FieldSpec& field : spec->fields) {
    if (!IsTensor(field.kind)) continue;
    const bool is_const = field.kind == FieldKind::kConst || field.kind == FieldKind::kConstOpt;
    const bool is_out = field.kind == FieldKind::kTensorOut;
    const int64_t id = command.Get(field.field);
    const bool optional =
        field.kind == FieldKind::kTensorInOpt || field.kind == FieldKind::kConstOpt;
    if (optional && id == -1) continue;
    check(id >= 0 && id < static_cast<int64_t>(image.tensors.size()), spec->name, ": ",
          Name(field.field), " is ", id, ", expected one of ", image.tensors.size(), " tensors");
    const TensorRecord& tensor = image.tensors[id];
    check(field.view || tensor.whole(), spec->name, ": ", Name(field.field), " is tensor '",
          tensor.name, "' at offset ", tensor.offset, " with pitch ", tensor.pitch,
          ", expected no view of another tensor");
    check(!is_const || tensor.region == Region::kConst, spec->name, ": ", Name(field.field),
          " is tensor '", tensor.name, "', expected a constant");
    check(!is_out || tensor.region == Region::kArena, spec->name, ": ", Name(field.field),
          " is tensor '", tensor.name, "', expected one in the arena");
  }
}

// Does some command write between the first byte of an input and its last?
bool OverwritesInputs(const ProgramImage& image) {
  std::vector<std::pair<uint64_t, uint64_t>> inputs;  // begin, end
  for (const Binding& input : image.inputs) {
    const TensorRecord& tensor = image.tensors[static_cast<size_t>(input.tensor)];
    if (tensor.bytes() > 0) inputs.emplace_back(tensor.offset, tensor.offset + tensor.extent());
  }
  std::sort(inputs.begin(), inputs.end());
  for (size_t i = 1; i < inputs.size(); ++i)  // the furthest end so far
    inputs[i].second = std::max(inputs[i].second, inputs[i - 1].second);
  return std::any_of(image.commands.begin(), image.commands.end(), [&](const Command& command) {
    const TensorRecord& dst = image.tensors[static_cast<size_t>(command.Tensor(Field::kDst))];
    if (dst.region != Region::kArena || dst.bytes() == 0) return false;
    // The last input that begins before dst ends.
    const auto next = std::lower_bound(inputs.begin(), inputs.end(),
                                       std::pair<uint64_t, uint64_t>(dst.offset + dst.extent(), 0));
    return next != inputs.begin() && std::prev(next)->second > dst.offset;
  });
}

}  // namespace

void CheckImage(const ProgramImage& image, uint64_t constants_size, const std::string& where) {
  CheckRegions(image, constants_size, where);
  for (size_t i = 0; i < image.commands.size(); ++i) {
    CheckCommand(image, i, where);
  }
  for (const std::vector<Binding>* list : {&image.inputs, &image.outputs}) {
    for (const Binding& binding : *list) {
      const bool known =
          binding.tensor >= 0 && binding.tensor < static_cast<int64_t>(image.tensors.size());
      RSHIFT_REQUIRE(known && image.tensors[binding.tensor].region == Region::kArena,
                     ErrorCode::kCorrupt, where, ": '", binding.name, "' is bound to tensor ",
                     binding.tensor, ", expected one in the arena");
      RSHIFT_REQUIRE(image.tensors[binding.tensor].whole(), ErrorCode::kCorrupt, where, ": '",
                     binding.name, "' is bound to a view of another tensor");
    }
  }
  (void)OutputCuts(image, where);
  RSHIFT_REQUIRE(image.command_names.empty() || image.command_names.size() == image.commands.size(),
                 ErrorCode::kCorrupt, where, ": ", image.command_names.size(),
                 " command names for ", image.commands.size(), " commands");
}

void CheckConstantPadding(const ProgramImage& image, std::span<const uint8_t> constants,
                          const std::string& where) {
  std::vector<std::pair<uint64_t, uint64_t>> used;  // begin, end
  for (const TensorRecord& tensor : image.tensors) {
    if (tensor.region == Region::kConst) {
      used.emplace_back(tensor.offset, tensor.offset + tensor.bytes());
    }
  }
  used.emplace_back(constants.size(), constants.size());
  std::sort(used.begin(), used.end());
  uint64_t end = 0;
  for (const auto& [begin, next_end] : used) {
    for (uint64_t i = end; i < begin; ++i) {
      RSHIFT_REQUIRE(constants[i] == 0, ErrorCode::kCorrupt, where, ": constants, offset ", i,
                     ": a byte between tensors must be zero");
    }
    end = std::max(end, next_end);
  }
}

void RequireChecksum(uint32_t found, uint32_t expected, uint64_t section_offset,
                     const std::string& where) {
  RSHIFT_REQUIRE(found == expected, ErrorCode::kCorrupt, where, ": section at offset ",
                 section_offset, ": checksum differs: the file is damaged");
}

ConstantsCheck::ConstantsCheck(const ContainerView& view, const std::string& where)
    : view_(view), where_(where) {}

void ConstantsCheck::ReadTo(uint64_t end) {
  // ReadStructure has seen those of 4 bits.
  const uint64_t size = view_.image.constants_of_4_bits.value_or(bytes().size());
  if (end <= done_ || done_ == size) return;
  const uint64_t next = std::min(end, size);
  crc_ = Crc32c(bytes().subspan(done_, next - done_), crc_);
  done_ = next;
}

void ConstantsCheck::Finish() {
  ReadTo(bytes().size());
  RequireChecksum(crc_, view_.constants_crc, view_.constants_offset, where_);
  CheckConstantPadding(view_.image, bytes(), where_);
}

uint64_t FeaturesOf(const ProgramImage& image) {
  uint64_t features = OverwritesInputs(image) ? kFeatureInputReuse : 0;
  if (image.meta.contains(kOutputCutsKey)) features |= kFeatureCutOutputs;
  if (image.constants_of_4_bits) features |= kFeature4Bits;
  for (const Command& command : image.commands) {
    const OpSpec* spec = FindOp(command.opcode);
    if (spec == nullptr) continue;
    if (spec->op_class == OpClass::kFloat) features |= kFeatureFloat;
    if (spec->op_class == OpClass::kFloatLibrary) features |= kFeatureFloatLibrary;
    if (command.Get(Field::kFuseWithPrevious) != 0) features |= kFeatureFusedEpilogue;
    if (IsBroadcast(image, command, Field::kSrc) || IsBroadcast(image, command, Field::kSrc2))
      features |= kFeatureBroadcast;
  }
  for (const TensorRecord& tensor : image.tensors) {
    if (!tensor.whole()) features |= kFeatureViews;
  }
  return features;
}

}  // namespace rshift
