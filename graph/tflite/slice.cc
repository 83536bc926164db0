// Parts of a tensor.
#include <algorithm>
#include <limits>

#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// Sizes of -1 reach to the end.
void TranslateSlice(OpWriter& op) {
  const std::vector<int64_t> begin = op.Ints(1, "begins"), size = op.Ints(2, "sizes");
  op.Check(begin.size() == size.size() && begin.size() == op.InShape(0).size(), "has ",
           begin.size(), " begins and ", size.size(), " sizes for ", op.InRank(0), " dimensions");
  std::vector<int64_t> end, axes;
  for (size_t d = 0; d < begin.size(); ++d) {
    op.Check(begin[d] >= 0 && size[d] >= -1, "has the begin ", begin[d], " and the size ", size[d]);
    end.push_back(size[d] < 0 ? kEnd : begin[d] + size[d]);
    axes.push_back(static_cast<int64_t>(d));
  }
  op.GiveMoved(
      op.Emit("Slice", {op.Moved(0), op.IntList(begin), op.IntList(end), op.IntList(axes)}));
}

// What a bit of a mask says of one dimension.
bool Has(int mask, size_t d) { return d < 31 && (mask >> d & 1) != 0; }

struct Bounds {
  std::vector<int64_t> begin, end, step, axes;  // of dimensions of the input
  std::vector<int64_t> shrunk;                  // dimensions of the input that are dropped
  std::vector<int64_t> added;                   // dimensions of the result that are new
};

Bounds ReadBounds(const OpWriter& op, const StridedSliceOptions& options) {
  Bounds b;
  const std::vector<int64_t> begin = op.Ints(1, "begins"), end = op.Ints(2, "ends"),
                             step = op.Ints(3, "strides");
  const int ellipsis = options.ellipsis_mask(), added = options.new_axis_mask() & ~ellipsis;
  // What an ellipsis stands for: the dimensions that nothing else does.
  auto open = static_cast<int64_t>(op.InShape(0).size() + (ellipsis != 0 ? 1 : 0));
  open -= static_cast<int64_t>(begin.size());
  for (size_t i = 0; i < begin.size(); ++i) open += Has(added, i) ? 1 : 0;
  op.Check(begin.size() == end.size() && begin.size() == step.size() && open >= 0 &&
               (ellipsis & (ellipsis - 1)) == 0,
           "has ", begin.size(), " begins, ", end.size(), " ends, ", step.size(), " strides and ",
           "the ellipsis mask ", ellipsis, " for ", op.InRank(0), " dimensions");
  int64_t dimension = 0, result = 0;
  for (size_t d = 0; d < begin.size(); ++d) {
    if (Has(ellipsis, d)) {
      dimension += open;
      result += open;
      continue;
    }
    if (Has(added, d)) {
      b.added.push_back(result++);
      continue;
    }
    op.Check(step[d] != 0, "has the stride 0");
    const bool down = step[d] < 0;
    b.axes.push_back(dimension);
    if (Has(options.shrink_axis_mask(), d)) {
      // One element: that at begin.
      b.begin.push_back(begin[d]);
      b.end.push_back(begin[d] == -1 ? kEnd : begin[d] + 1);
      b.step.push_back(1);
      b.shrunk.push_back(dimension++);
      continue;
    }
    const int64_t stop = options.offset() ? begin[d] + end[d] : end[d];
    b.begin.push_back(Has(options.begin_mask(), d) ? (down ? kEnd : 0) : begin[d]);
    b.end.push_back(Has(options.end_mask(), d) ? (down ? -kEnd : kEnd) : stop);
    b.step.push_back(step[d]);
    ++dimension;
    ++result;
  }
  return b;
}

// Ends that the model computes, from sizes of tensors for instance; what is open is so in all.
std::string ComputedSlice(OpWriter& op, const StridedSliceOptions& options) {
  const std::vector<int64_t> begin = op.Ints(1, "begins"), step = op.Ints(3, "strides");
  const bool down = std::any_of(step.begin(), step.end(), [](int64_t s) { return s <= 0; });
  op.CheckSupported(options.shrink_axis_mask() == 0 && options.ellipsis_mask() == 0 &&
                        options.new_axis_mask() == 0 && !options.offset() && !down,
                    "has ends that the model computes, and strides below 1, dropped or new "
                    "dimensions, an ellipsis or ends that are offsets beside them; leave one of "
                    "them out");
  op.Check(begin.size() == step.size(), "has ", begin.size(), " begins and ", step.size(),
           " strides");
  std::vector<int64_t> first, open, axes;
  for (size_t d = 0; d < begin.size(); ++d) {
    first.push_back(Has(options.begin_mask(), d) ? 0 : begin[d]);
    open.push_back(Has(options.end_mask(), d) ? 1 : 0);
    axes.push_back(static_cast<int64_t>(d));
  }
  std::string ends = op.List(2);
  if (options.end_mask() != 0) {
    const std::string is_open = op.Emit("Equal", {op.IntList(open), op.Scalar(1)});
    ends = op.Emit("Where", {is_open, op.Scalar(kEnd), ends});
  }
  return op.Emit("Slice",
                 {op.Moved(0), op.IntList(first), ends, op.IntList(axes), op.IntList(step)});
}

void TranslateStridedSlice(OpWriter& op) {
  const auto* options = op.Options<StridedSliceOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  if (!op.Knows(2)) return op.GiveMoved(ComputedSlice(op, *options));
  const Bounds b = ReadBounds(op, *options);
  std::string y = op.Moved(0);
  if (!b.axes.empty())
    y = op.Emit("Slice", {y, op.IntList(b.begin), op.IntList(b.end), op.IntList(b.axes),
                          op.IntList(b.step)});
  if (!b.shrunk.empty()) y = op.Emit("Squeeze", {y, op.IntList(b.shrunk)});
  if (!b.added.empty()) y = op.Emit("Unsqueeze", {y, op.IntList(b.added)});
  op.GiveMoved(y);
}

void GiveSplit(OpWriter& op, int x, int64_t axis, const std::vector<int64_t>& sizes) {
  op.Check(static_cast<int>(sizes.size()) == op.OutputCount(), "has ", sizes.size(), " parts, but ",
           op.OutputCount(), " outputs");
  const Names parts =
      op.EmitMany("Split", {op.Moved(x), op.IntList(sizes)}, op.OutputCount(), {{"axis", axis}});
  for (int o = 0; o < op.OutputCount(); ++o) op.GiveMoved(parts[o], o);
}

void TranslateSplit(OpWriter& op) {
  const int64_t axis = op.Axis(op.Int(0, "axis"), op.InRank(1));
  const int64_t parts = op.OutputCount(), size = op.InShape(1)[axis];
  op.Check(size % parts == 0, "splits ", size, " elements into ", parts, " equal parts");
  GiveSplit(op, 1, axis, std::vector<int64_t>(static_cast<size_t>(parts), size / parts));
}

// One size may be -1: what the others leave.
void TranslateSplitV(OpWriter& op) {
  const int64_t axis = op.Axis(op.Int(2, "axis"), op.InRank(0));
  std::vector<int64_t> sizes = op.Ints(1, "sizes");
  int64_t left = op.InShape(0)[axis];
  for (const int64_t size : sizes) left -= size < 0 ? 0 : size;
  for (int64_t& size : sizes) size = size < 0 ? left : size;
  GiveSplit(op, 0, axis, sizes);
}

void TranslateReverse(OpWriter& op) {
  std::vector<int64_t> axes = op.Ints(1, "axes");
  for (int64_t& axis : axes) axis = op.Axis(axis, op.InRank(0));
  const size_t count = axes.size();
  op.GiveMoved(op.Emit("Slice", {op.Moved(0), op.IntList(std::vector<int64_t>(count, -1)),
                                 op.IntList(std::vector<int64_t>(count, -kEnd)), op.IntList(axes),
                                 op.IntList(std::vector<int64_t>(count, -1))}));
}

// Of each sequence as many elements as its length says; the others stay.
void TranslateReverseSequence(OpWriter& op) {
  const auto* options = op.Options<ReverseSequenceOptions>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  const int64_t time = op.Axis(options->seq_dim(), op.InRank(0)),
                batch = op.Axis(options->batch_dim(), op.InRank(0));
  op.CheckSupported(time + batch == 1, "reverses dimension ", time, " of sequences along ", batch,
                    "; dimensions 0 and 1 are supported");
  op.GiveMoved(op.Emit("ReverseSequence", {op.Moved(0), op.List(1)},
                       {{"time_axis", time}, {"batch_axis", batch}}));
}

constexpr Entry kSliceEntries[] = {
    {BuiltinOperator_SLICE, TranslateSlice},
    {BuiltinOperator_STRIDED_SLICE, TranslateStridedSlice},
    {BuiltinOperator_SPLIT, TranslateSplit},
    {BuiltinOperator_SPLIT_V, TranslateSplitV},
    {BuiltinOperator_REVERSE_V2, TranslateReverse},
    {BuiltinOperator_REVERSE_SEQUENCE, TranslateReverseSequence},
};

}  // namespace

std::span<const Entry> SliceEntries() { return kSliceEntries; }

}  // namespace rshift::tflite
