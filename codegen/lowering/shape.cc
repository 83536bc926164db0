// Data movement: any element type; integer values keep their scale.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "codegen/lowering/lowering.h"

namespace rshift::lowering {
namespace {

bool AllZero(std::span<const int64_t> list) {
  return std::all_of(list.begin(), list.end(), [](int64_t entry) { return entry == 0; });
}

// Dimensions of size 1 may go anywhere: nothing moves when the others keep their order.
bool MovesNoData(const Shape& shape, std::span<const int64_t> perm) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

void RequireRank(const Node& node, const char* what, size_t found, size_t rank) {
  RSHIFT_REQUIRE(found == rank, ErrorCode::kInternal, Describe(node), ": ", found, " ", what,
                 ", expected one for each of ", rank, " dimensions");
}

// The bits of one element of the pad value.
int64_t FillBits(const Node& node, DType dtype, float value) {
  switch (dtype) {
    case DType::kF32:
      return std::bit_cast<uint32_t>(value);
    case DType::kS8:
    case DType::kU8:
    case DType::kS16:
    case DType::kS32:
    case DType::kS64:
    case DType::kBool: {
      RSHIFT_REQUIRE(
          std::isfinite(value) && value == std::trunc(value) && std::abs(value) <= 0x1p31f,
          ErrorCode::kInvalidInput, Describe(node), ": pad value is ", value,
          ", expected an integer for elements of type ", Name(dtype));
      const auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
      const size_t size = 8 * SizeOf(dtype);
      return static_cast<int64_t>(size == 64 ? bits : bits & ((uint64_t{1} << size) - 1));
    }
    default:
      Fail(ErrorCode::kUnsupported, Describe(node), ": padding of ", Name(dtype),
           " elements, expected f32, s8, u8, s16, s32, s64 or bool");
  }
}

// Negative pads crop: they are a Slice before the padding.
int32_t Crop(LoweringContext& context, const Node& node, const Pad& op) {
  const int32_t source = context.Input(node, 0);
  const Shape& in = context.InputValue(node, 0).shape;
  std::vector<int64_t> starts(in.size()), steps(in.size(), 1);
  Shape cropped = in;
  for (size_t d = 0; d < in.size(); ++d) {
    starts[d] = std::max<int64_t>(-op.before[d], 0);
    cropped[d] = in[d] - starts[d] - std::max<int64_t>(-op.after[d], 0);
    RSHIFT_REQUIRE(cropped[d] >= 0, ErrorCode::kInvalidInput, Describe(node), ": negative pads ",
                   op.before[d], " and ", op.after[d], " remove more than dimension ", d,
                   " of size ", in[d]);
  }
  if (cropped == in) return source;
  const int32_t result =
      context.Temporary(context.OutputValue(node).name + ".crop", context.record(source), cropped);
  isa::Slice command{.dst = result, .src = source};
  command.list = context.AddList(node.name + ".crop_starts", starts);
  command.list2 = context.AddList(node.name + ".crop_steps", steps);
  context.Emit(node, command);
  return result;
}

}  // namespace

void Lower(LoweringContext& context, const Node& node, const Identity&) {
  context.DefineAlias(node, context.Input(node, 0));
}

void Lower(LoweringContext& context, const Node& node, const Reshape&) {
  context.DefineAlias(node, context.Input(node, 0));
}

void Lower(LoweringContext& context, const Node& node, const Transpose& op) {
  const Shape& in = context.InputValue(node, 0).shape;
  RequireRank(node, "entries in perm", op.perm.size(), in.size());
  for (const int64_t axis : op.perm) {
    RSHIFT_REQUIRE(axis >= 0 && axis < static_cast<int64_t>(in.size()), ErrorCode::kInternal,
                   Describe(node), ": perm has the axis ", axis, ", expected 0..", in.size() - 1);
  }
  if (MovesNoData(in, op.perm)) return context.DefineAlias(node, context.Input(node, 0));
  auto command = Bound(context, node, isa::Transpose{});
  command.list = context.AddList(node.name + ".perm", op.perm);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Concat& op) {
  const int32_t output = context.Output(node);
  const int64_t axis = AxisOf(node, op.axis, context.OutputValue(node).shape.size());
  int64_t offset = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Shape& part = context.InputValue(node, i).shape;
    RequireRank(node, "dimensions of an input", part.size(),
                context.OutputValue(node).shape.size());
    if (NumElements(part) > 0) {
      const int32_t source = context.Input(node, i);
      context.Emit(node,
                   isa::CopyInto{.axis = axis, .offset = offset, .dst = output, .src = source});
    }
    offset += part[axis];
  }
  RSHIFT_REQUIRE(offset == context.OutputValue(node).shape[axis], ErrorCode::kInternal,
                 Describe(node), ": the inputs have ", offset, " entries on axis ", axis,
                 ", expected ", context.OutputValue(node).shape[axis]);
}

void Lower(LoweringContext& context, const Node& node, const Slice& op) {
  const size_t rank = context.InputValue(node, 0).shape.size();
  RequireRank(node, "starts", op.starts.size(), rank);
  RequireRank(node, "steps", op.steps.size(), rank);
  auto command = Bound(context, node, isa::Slice{});
  command.list = context.AddList(node.name + ".starts", op.starts);
  command.list2 = context.AddList(node.name + ".steps", op.steps);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Pad& op) {
  const Value& x = context.InputValue(node, 0);
  RequireRank(node, "pads before", op.before.size(), x.shape.size());
  RequireRank(node, "pads after", op.after.size(), x.shape.size());
  const int32_t source = Crop(context, node, op);
  std::vector<int64_t> before, after;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    before.push_back(std::max<int64_t>(op.before[d], 0));
    after.push_back(std::max<int64_t>(op.after[d], 0));
  }
  if (AllZero(before) && AllZero(after)) return context.DefineAlias(node, source);
  isa::Pad command{.mode = op.mode, .dst = context.Output(node), .src = source};
  command.list = context.AddList(node.name + ".before", before);
  command.list2 = context.AddList(node.name + ".after", after);
  if (op.mode == PadMode::kConstant) command.fill = FillBits(node, x.dtype, op.value);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Expand& op) {
  if (context.InputValue(node, 0).shape == context.OutputValue(node).shape) {
    return context.DefineAlias(node, context.Input(node, 0));
  }
  LowerAs(context, node, op);
}

void Lower(LoweringContext& context, const Node& node, const Tile& op) {
  RequireRank(node, "repeats", op.repeats.size(), context.InputValue(node, 0).shape.size());
  auto command = Bound(context, node, isa::Tile{});
  command.list = context.AddList(node.name + ".repeats", op.repeats);
  context.Emit(node, command);
}

void Lower(LoweringContext& context, const Node& node, const Cast&) {
  if (context.InputValue(node, 0).dtype == context.OutputValue(node).dtype) {
    return context.DefineAlias(node, context.Input(node, 0));
  }
  RequireTypes(context, node,
               {DType::kF32, DType::kF16, DType::kS8, DType::kU8, DType::kS16, DType::kU16,
                DType::kS32, DType::kS64, DType::kBool});
  LowerAs(context, node, isa::Cast{});
}

}  // namespace rshift::lowering
