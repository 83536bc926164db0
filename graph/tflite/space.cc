// Blocks of an image as images of the batch, and back: what converters put around dilated
// convolutions.
#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

// Of each dimension of space: two of an image [N, H, W, C], one of a row [N, W, C]. N may be open.
struct Blocks {
  std::vector<int64_t> size, before, after;
  int64_t each = 1;  // images of the batch that one becomes
};

Blocks ReadBlocks(const OpWriter& op, const char* role) {
  Blocks b;
  b.size = op.Ints(1, "block sizes");
  const std::vector<int64_t> edges = op.Ints(2, role);
  const auto count = static_cast<int64_t>(b.size.size());
  op.CheckSupported((op.InRank(0) == 4 || op.InRank(0) == 3) && count == op.InRank(0) - 2, "has ",
                    op.InRank(0), " dimensions and ", count,
                    " block sizes; 4 and 2, 3 and 1 are supported");
  op.Check(static_cast<int64_t>(edges.size()) == 2 * count, "has ", edges.size(), " ", role,
           " for ", count, " block sizes");
  for (size_t d = 0; d < b.size.size(); ++d) {
    op.Check(b.size[d] > 0, "has a block size below 1");
    b.each *= b.size[d];
    b.before.push_back(edges[2 * d]);
    b.after.push_back(edges[2 * d + 1]);
  }
  return b;
}

// [N, h B, w B, C] -> [B, B, N, h, w, C]: the place in the block leads the batch.
void TranslateSpaceToBatch(OpWriter& op) {
  const Blocks b = ReadBlocks(op, "pads");
  const Shape x = op.InShape(0);
  const auto count = static_cast<int64_t>(b.size.size());
  std::vector<int64_t> pads(x.size() * 2), cut = {-1}, y = {-1};
  std::vector<int64_t> places, order = {0};  // dimensions of `cut`
  for (int64_t d = 0; d < count; ++d) {
    const int64_t padded = x[d + 1] + b.before[d] + b.after[d];
    op.Check(padded % b.size[d] == 0, "pads dimension ", d + 1, " to ", padded,
             " elements, which blocks of ", b.size[d], " do not divide");
    pads[d + 1] = b.before[d];
    pads[x.size() + d + 1] = b.after[d];
    cut.insert(cut.end(), {padded / b.size[d], b.size[d]});
    y.push_back(padded / b.size[d]);
    places.push_back(2 * d + 2);
    order.push_back(2 * d + 1);
  }
  cut.push_back(x.back());
  y.push_back(x.back());
  order.push_back(2 * count + 1);
  order.insert(order.begin(), places.begin(), places.end());
  const std::string padded = op.Emit("Pad", {op.Real(0), op.IntList(pads)});
  op.GiveReal(op.Reshaped(op.Transposed(op.Reshaped(padded, cut), order), y));
}

void TranslateBatchToSpace(OpWriter& op) {
  const Blocks b = ReadBlocks(op, "crops");
  const Shape x = op.InShape(0);
  const auto count = static_cast<int64_t>(b.size.size());
  std::vector<int64_t> cut = b.size, y = {-1}, order = {count}, ends, axes;
  cut.push_back(-1);
  for (int64_t d = 0; d < count; ++d) {
    const int64_t size = x[d + 1] * b.size[d];
    cut.push_back(x[d + 1]);
    y.push_back(size);
    order.insert(order.end(), {count + 1 + d, d});
    ends.push_back(size - b.after[d]);
    axes.push_back(d + 1);
  }
  cut.push_back(x.back());
  y.push_back(x.back());
  order.push_back(2 * count + 1);
  const std::string moved = op.Transposed(op.Reshaped(op.Real(0), cut), order);
  op.GiveReal(op.Emit(
      "Slice", {op.Reshaped(moved, y), op.IntList(b.before), op.IntList(ends), op.IntList(axes)}));
}

constexpr Entry kSpaceEntries[] = {
    {BuiltinOperator_SPACE_TO_BATCH_ND, TranslateSpaceToBatch},
    {BuiltinOperator_BATCH_TO_SPACE_ND, TranslateBatchToSpace},
};

}  // namespace

std::span<const Entry> SpaceEntries() { return kSpaceEntries; }

}  // namespace rshift::tflite
