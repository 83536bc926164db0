// Blocks of an image as images of the batch, and back: what converters put around dilated
// convolutions.
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

struct Blocks {
  std::vector<int64_t> size, before, after;  // height, width
};

Blocks ReadBlocks(const OpWriter& op, const char* role) {
  const std::vector<int64_t> size = op.Ints(1, "block sizes"), edges = op.Ints(2, role);
  op.CheckSupported(op.InRank(0) == 4 && size.size() == 2 && edges.size() == 4, "has ",
                    op.InRank(0), " dimensions and ", size.size(),
                    " block sizes; 4 and 2 are supported");
  op.Check(size[0] > 0 && size[1] > 0, "has a block size below 1");
  return {size, {edges[0], edges[2]}, {edges[1], edges[3]}};
}

// [N, h B, w B, C] -> [B, B, N, h, w, C]: the place in the block leads the batch.
void TranslateSpaceToBatch(OpWriter& op) {
  const Blocks b = ReadBlocks(op, "pads");
  const Shape x = op.InShape(0);
  const int64_t h = x[1] + b.before[0] + b.after[0], w = x[2] + b.before[1] + b.after[1];
  op.Check(h % b.size[0] == 0 && w % b.size[1] == 0, "pads the image to ", h, " x ", w,
           ", which blocks of ", b.size[0], " x ", b.size[1], " do not divide");
  const std::string pads =
      op.IntList({0, b.before[0], b.before[1], 0, 0, b.after[0], b.after[1], 0});
  const std::string padded = op.Emit("Pad", {op.Real(0), pads});
  const std::string cut =
      op.Reshaped(padded, {x[0], h / b.size[0], b.size[0], w / b.size[1], b.size[1], x[3]});
  const std::string y = op.Transposed(cut, {2, 4, 0, 1, 3, 5});
  op.GiveReal(op.Reshaped(y, {x[0] * b.size[0] * b.size[1], h / b.size[0], w / b.size[1], x[3]}));
}

void TranslateBatchToSpace(OpWriter& op) {
  const Blocks b = ReadBlocks(op, "crops");
  const Shape x = op.InShape(0);
  const int64_t each = b.size[0] * b.size[1];
  op.Check(x[0] % each == 0, "has ", x[0], " images for blocks of ", each);
  const std::string cut =
      op.Reshaped(op.Real(0), {b.size[0], b.size[1], x[0] / each, x[1], x[2], x[3]});
  const std::string moved = op.Transposed(cut, {2, 3, 0, 4, 1, 5});
  const int64_t h = x[1] * b.size[0], w = x[2] * b.size[1];
  const std::string y = op.Reshaped(moved, {x[0] / each, h, w, x[3]});
  op.GiveReal(op.Emit("Slice", {y, op.IntList({b.before[0], b.before[1]}),
                                op.IntList({h - b.after[0], w - b.after[1]}), op.IntList({1, 2})}));
}

constexpr Entry kSpaceEntries[] = {
    {BuiltinOperator_SPACE_TO_BATCH_ND, TranslateSpaceToBatch},
    {BuiltinOperator_BATCH_TO_SPACE_ND, TranslateBatchToSpace},
};

}  // namespace

std::span<const Entry> SpaceEntries() { return kSpaceEntries; }

}  // namespace rshift::tflite
