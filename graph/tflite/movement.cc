// Elements moved or copied.
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

// SYMMETRIC repeats the edge: a reflection by one place less.
void TranslateMirrorPad(OpWriter& op) {
  const auto* options = op.Options<MirrorPadOptions>();
  const bool symmetric = options != nullptr && options->mode() == MirrorPadMode_SYMMETRIC;
  op.CheckSupported(!symmetric, "has the mode SYMMETRIC; only REFLECT is supported");
  GivePad(op, "", "reflect");
}

void TranslateTile(OpWriter& op) {
  op.GiveMoved(op.Emit("Tile", {op.Moved(0), op.IntList(op.Ints(1, "repeats"))}));
}

void TranslateBroadcastTo(OpWriter& op) {
  op.GiveMoved(op.Emit("Expand", {op.Moved(0), op.List(1)}));
}

void TranslateGather(OpWriter& op) {
  const auto* options = op.Options<GatherOptions>();
  const int64_t axis = options == nullptr ? 0 : options->axis();
  op.CheckSupported(options == nullptr || options->batch_dims() == 0, "has batch_dims ",
                    options == nullptr ? 0 : options->batch_dims(), "; only 0 is supported");
  op.GiveMoved(op.Emit("Gather", {op.Moved(0), op.Stored(1)}, {{"axis", axis}}));
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

void TranslateOneHot(OpWriter& op) {
  const auto* options = op.Options<OneHotOptions>();
  const int64_t axis = options == nullptr ? -1 : options->axis();
  const std::string values =
      op.Emit("Concat", {op.Reshaped(op.Real(3), {1}), op.Reshaped(op.Real(2), {1})},
              {{"axis", int64_t{0}}});
  op.GiveReal(
      op.Emit("OneHot", {op.Stored(0), op.Scalar(op.Int(1, "depth")), values}, {{"axis", axis}}));
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
