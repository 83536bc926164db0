// Elements moved or copied.
#include <algorithm>
#include <numeric>

#include "graph/onnx/proto.h"
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

void TranslateTranspose(OpWriter& op) {
  op.GiveMoved(op.Transposed(op.Moved(0), op.Ints(1, "axes")));
}

void TranslateConcat(OpWriter& op) {
  const auto* options = op.Options<ConcatenationOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  Names inputs;
  for (int i = 0; i < op.InputCount(); ++i) inputs.push_back(op.Real(i));
  const std::string y = op.Emit("Concat", inputs, {{"axis", int64_t{options->axis()}}});
  op.GiveReal(op.Activated(y, options->fused_activation_function()));
}

// [[before, after] of each dimension] -> ONNX's list: all before, then all after.
std::string PadList(OpWriter& op, bool image) {
  const std::vector<int64_t> pairs = op.Ints(1, "pads");
  const size_t rank = static_cast<size_t>(op.InRank(0));
  op.Check(pairs.size() == 2 * rank, "has ", pairs.size(), " pads for ", rank, " dimensions");
  constexpr size_t kOrder[] = {0, 3, 1, 2};
  std::vector<int64_t> pads(2 * rank);
  for (size_t d = 0; d < rank; ++d) {
    const size_t from = image ? kOrder[d] : d;
    pads[d] = pairs[2 * from];
    pads[rank + d] = pairs[2 * from + 1];
  }
  return op.IntList(pads);
}

void GivePad(OpWriter& op, const std::string& value, const char* mode) {
  const bool image = op.InRank(0) == 4;
  const std::string x = image ? op.ToChannelsFirst(op.Real(0)) : op.Real(0);
  Names inputs = {x, PadList(op, image)};
  if (!value.empty()) inputs.push_back(value);
  const std::string y = op.Emit("Pad", inputs, {{"mode", mode}});
  op.GiveReal(image ? op.ToChannelsLast(y) : y);
}

void TranslatePad(OpWriter& op) { GivePad(op, "", "constant"); }

void TranslatePadV2(OpWriter& op) { GivePad(op, op.Reshaped(op.Real(2), {}), "constant"); }

// The first (or last) `count` of `size` elements along an axis, in reverse.
std::string MirroredEnd(OpWriter& op, const std::string& x, int64_t axis, int64_t size,
                        int64_t count, bool first) {
  const int64_t begin = first ? count - 1 : size - 1, end = begin - count;
  return op.Emit("Slice", {x, op.IntList({begin}), op.IntList({end < 0 ? -size - 1 : end}),
                           op.IntList({axis}), op.IntList({-1})});
}

// REFLECT has the edge once, SYMMETRIC twice.
void TranslateMirrorPad(OpWriter& op) {
  const auto* options = op.Options<MirrorPadOptions>();
  if (options == nullptr || options->mode() != MirrorPadMode_SYMMETRIC)
    return GivePad(op, "", "reflect");
  const std::vector<int64_t> pads = op.Ints(1, "pads");
  const Shape shape = op.InShape(0);
  op.Check(pads.size() == 2 * shape.size(), "has ", pads.size(), " pads for ", shape.size(),
           " dimensions");
  std::string x = op.Real(0);
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t before = pads[2 * d], after = pads[2 * d + 1];
    op.Check(before >= 0 && after >= 0 && std::max(before, after) <= shape[d], "has the pads ",
             before, " and ", after, " of ", shape[d], " elements");
    const auto axis = static_cast<int64_t>(d);
    Names parts;
    if (before > 0) parts.push_back(MirroredEnd(op, x, axis, shape[d], before, true));
    parts.push_back(x);
    if (after > 0) parts.push_back(MirroredEnd(op, x, axis, shape[d], after, false));
    if (parts.size() > 1) x = op.Emit("Concat", parts, {{"axis", axis}});
  }
  op.GiveReal(x);
}

void TranslateTile(OpWriter& op) { op.GiveMoved(op.Emit("Tile", {op.Moved(0), op.List(1)})); }

void TranslateBroadcastTo(OpWriter& op) {
  op.GiveMoved(op.Emit("Expand", {op.Moved(0), op.List(1)}));
}

// Dimensions [first, end).
std::vector<int64_t> Dimensions(int64_t first, int64_t end) {
  std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(end - first, 0)));
  std::iota(all.begin(), all.end(), first);
  return all;
}

// Each entry of the first `batch` dimensions with indices of its own: ONNX has it (GatherND) where
// the axis comes right behind them. The axis is moved there and what is found back behind the
// dimensions between.
void GiveGatherOfBatches(OpWriter& op, int64_t axis, int64_t batch) {
  const int64_t rank = op.InRank(0), index_rank = op.InRank(1);
  std::vector<int64_t> order = Dimensions(0, batch);
  order.push_back(axis);
  for (const int64_t d : Dimensions(batch, axis)) order.push_back(d);
  for (const int64_t d : Dimensions(axis + 1, rank)) order.push_back(d);
  const std::string indices = op.Emit("Unsqueeze", {op.List(1), op.IntList({index_rank})});
  const std::string found =
      op.Emit("GatherND", {op.Transposed(op.Real(0), order), indices}, {{"batch_dims", batch}});
  const int64_t between = axis - batch;
  std::vector<int64_t> back = Dimensions(0, batch);
  for (const int64_t d : Dimensions(index_rank, index_rank + between)) back.push_back(d);
  for (const int64_t d : Dimensions(batch, index_rank)) back.push_back(d);
  for (const int64_t d : Dimensions(index_rank + between, rank + index_rank - batch - 1))
    back.push_back(d);
  op.GiveReal(op.Transposed(found, back));
}

void TranslateGather(OpWriter& op) {
  const auto* options = op.Options<GatherOptions>();
  const int64_t axis = op.Axis(options == nullptr ? 0 : options->axis(), op.InRank(0));
  int64_t batch = options == nullptr ? 0 : options->batch_dims();
  if (batch < 0) batch += op.InRank(1);
  if (batch == 0)
    return op.GiveMoved(op.Emit("Gather", {op.Moved(0), op.Stored(1)}, {{"axis", axis}}));
  op.Check(batch >= 0 && batch <= axis && batch <= op.InRank(1), "has ", batch,
           " batch dimensions, axis ", axis, " and indices of ", op.InRank(1), " dimensions");
  GiveGatherOfBatches(op, axis, batch);
}

// `x` whose elements from `start` on, in dimension `d` and those behind it, are those of `update`.
std::string Updated(OpWriter& op, const std::string& x, const std::string& update,
                    const std::vector<int64_t>& start, size_t d) {
  const Shape shape = op.InShape(0), own = op.InShape(1);
  while (d < shape.size() && own[d] == shape[d]) ++d;
  if (d == shape.size()) return update;
  const auto part = [&](int64_t begin, int64_t end) {
    return op.Emit("Slice", {x, op.IntList({begin}), op.IntList({end}),
                             op.IntList({static_cast<int64_t>(d)})});
  };
  const int64_t end = start[d] + own[d];
  Names parts;
  if (start[d] > 0) parts.push_back(part(0, start[d]));
  parts.push_back(Updated(op, part(start[d], end), update, start, d + 1));
  if (end < shape[d]) parts.push_back(part(end, shape[d]));
  return op.Emit("Concat", parts, {{"axis", static_cast<int64_t>(d)}});
}

// Where the update would reach beyond the end, it begins earlier.
void TranslateDynamicUpdateSlice(OpWriter& op) {
  std::vector<int64_t> start = op.Ints(2, "starts");
  const Shape shape = op.InShape(0), own = op.InShape(1);
  op.Check(own.size() == shape.size() && start.size() == shape.size(), "has an update of ",
           own.size(), " dimensions and ", start.size(), " starts for ", shape.size(),
           " dimensions");
  bool empty = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    op.Check(own[d] <= shape[d], "has an update of ", own[d], " in place of ", shape[d],
             " elements");
    start[d] = std::clamp<int64_t>(start[d], 0, shape[d] - own[d]);
    empty = empty || own[d] == 0;
  }
  op.GiveReal(empty ? op.Real(0) : Updated(op, op.Real(0), op.Real(1), start, 0));
}

void TranslateGatherNd(OpWriter& op) { op.GiveReal(op.Emit("GatherND", {op.Real(0), op.List(1)})); }

// Updates at their places in zeros, summed where a place is given several times.
void TranslateScatterNd(OpWriter& op) {
  op.CheckSupported(op.IsFloat(1), "scatters integers; only floats are supported");
  const std::string zeros = op.Emit("ConstantOfShape", {op.IntList(op.Ints(2, "sizes"))});
  op.GiveReal(op.Emit("ScatterND", {zeros, op.List(0), op.Real(1)}, {{"reduction", "add"}}));
}

// Rows of a table, by their numbers.
void TranslateEmbeddingLookup(OpWriter& op) {
  op.GiveReal(op.Emit("Gather", {op.Real(1), op.Stored(0)}, {{"axis", int64_t{0}}}));
}

// Places of what is not 0, a row for each: as many as there are.
void TranslateWhere(OpWriter& op) {
  op.GiveStored(op.Transposed(op.Emit("NonZero", {op.Stored(0)}), {1, 0}));
}

void TranslateBlocks(OpWriter& op, const char* type, int64_t size) {
  op.Check(op.InRank(0) == 4, "input has ", op.InRank(0), " dimensions, expected 4");
  const std::string x = op.ToChannelsFirst(op.Moved(0));
  op.GiveMoved(op.ToChannelsLast(op.Emit(type, {x}, {{"blocksize", size}})));
}

void TranslateSpaceToDepth(OpWriter& op) {
  const auto* options = op.Options<SpaceToDepthOptions>();
  TranslateBlocks(op, "SpaceToDepth", options == nullptr ? 0 : options->block_size());
}

void TranslateDepthToSpace(OpWriter& op) {
  const auto* options = op.Options<DepthToSpaceOptions>();
  TranslateBlocks(op, "DepthToSpace", options == nullptr ? 0 : options->block_size());
}

// A negative place is none, as one behind the last is; ONNX counts it from the end.
void TranslateOneHot(OpWriter& op) {
  const auto* options = op.Options<OneHotOptions>();
  const int64_t axis = options == nullptr ? -1 : options->axis();
  const std::string values =
      op.Emit("Concat", {op.Reshaped(op.Real(3), {1}), op.Reshaped(op.Real(2), {1})},
              {{"axis", int64_t{0}}});
  const std::string places = op.List(0), depth = op.Scalar(op.Int(1, "depth"));
  const std::string kept =
      op.Emit("Where", {op.Emit("Less", {places, op.Scalar(0)}), depth, places});
  op.GiveReal(op.Emit("OneHot", {kept, depth, values}, {{"axis", axis}}));
}

constexpr Entry kMovementEntries[] = {
    {BuiltinOperator_TRANSPOSE, TranslateTranspose},
    {BuiltinOperator_CONCATENATION, TranslateConcat},
    {BuiltinOperator_PAD, TranslatePad},
    {BuiltinOperator_PADV2, TranslatePadV2},
    {BuiltinOperator_MIRROR_PAD, TranslateMirrorPad},
    {BuiltinOperator_TILE, TranslateTile},
    {BuiltinOperator_BROADCAST_TO, TranslateBroadcastTo},
    {BuiltinOperator_GATHER, TranslateGather},
    {BuiltinOperator_DYNAMIC_UPDATE_SLICE, TranslateDynamicUpdateSlice},
    {BuiltinOperator_GATHER_ND, TranslateGatherNd},
    {BuiltinOperator_SCATTER_ND, TranslateScatterNd},
    {BuiltinOperator_WHERE, TranslateWhere},
    {BuiltinOperator_EMBEDDING_LOOKUP, TranslateEmbeddingLookup},
    {BuiltinOperator_SPACE_TO_DEPTH, TranslateSpaceToDepth},
    {BuiltinOperator_DEPTH_TO_SPACE, TranslateDepthToSpace},
    {BuiltinOperator_ONE_HOT, TranslateOneHot},
};

}  // namespace

std::span<const Entry> MovementEntries() { return kMovementEntries; }

}  // namespace rshift::tflite
