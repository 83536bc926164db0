#include <algorithm>

#include "graph/fold/fold.h"
#include "graph/onnx/choice.h"
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr int64_t kMaxDim = int64_t{1} << 40;

void ImportTranspose(OnnxNode& node) {
  const Shape x = node.ShapeOf(0);
  auto perm = node.Ints("perm");
  if (!node.HasAttribute("perm")) {
    for (size_t d = x.size(); d-- > 0;) perm.push_back(static_cast<int64_t>(d));
  }
  node.Check(perm.size() == x.size(), "attribute 'perm' has ", perm.size(), " entries, expected ",
             x.size());
  node.Axes(perm, x.size());
  Shape out;
  for (int64_t& p : perm) {
    p = node.Axis(p, x.size());
    out.push_back(x[p]);
  }
  node.Output(Transpose{perm}, {node.Input(0)}, node.TypeOf(0), out);
}

void ImportConcat(OnnxNode& node) {
  node.Check(node.InputCount() >= 1, "has no inputs");
  Shape out = node.ShapeOf(0);
  const int64_t axis = node.Axis(node.Int("axis", 1), out.size());
  std::vector<ValueId> inputs{node.Input(0)};
  for (int i = 1; i < node.InputCount(); ++i) {
    Shape shape = node.ShapeOf(i);
    node.Check(shape.size() == out.size() && node.TypeOf(i) == node.TypeOf(0), "input ",
               Quoted(node.At(node.Input(i)).name), " is ", ToString(shape), " ",
               Name(node.TypeOf(i)), ", which does not fit ", ToString(out), " ",
               Name(node.TypeOf(0)));
    const int64_t extent = shape[axis];
    shape[axis] = out[axis];
    node.Check(shape == out, "input ", Quoted(node.At(node.Input(i)).name), " has the shape ",
               ToString(node.ShapeOf(i)), ", which differs from ", ToString(node.ShapeOf(0)),
               " outside axis ", axis);
    out[axis] += extent;
    inputs.push_back(node.Input(i));
  }
  if (inputs.size() == 1) return node.Output(Identity{}, inputs, node.TypeOf(0), out);
  node.Output(Concat{axis}, inputs, node.TypeOf(0), out);
}

void ImportExpand(OnnxNode& node) {
  const auto target = node.ConstantInts(1, "shape");
  for (int64_t d : target) node.Check(d >= 0, "the new shape holds ", d);
  const Shape x = node.ShapeOf(0);
  const Shape out = Broadcast(x, target, node.where());
  if (x == out) return node.Output(Identity{}, {node.Input(0)}, node.TypeOf(0), out);
  node.Output(Expand{}, {node.Input(0)}, node.TypeOf(0), out);
}

void ImportTile(OnnxNode& node) {
  Shape out = node.ShapeOf(0);
  const auto repeats = node.ConstantInts(1, "repeats");
  node.Check(repeats.size() == out.size(), "has ", repeats.size(), " repeats, expected ",
             out.size());
  for (size_t d = 0; d < out.size(); ++d) {
    node.Check(repeats[d] >= 0 && (repeats[d] == 0 || out[d] < kMaxDim / repeats[d]),
               "repeats dimension ", out[d], " ", repeats[d], " times");
    out[d] *= repeats[d];
  }
  node.Output(Tile{repeats}, {node.Input(0)}, node.TypeOf(0), out);
}

void ImportGather(OnnxNode& node) {
  const Shape x = node.ShapeOf(0), indices = node.ShapeOf(1);
  const int64_t axis = node.Axis(node.Int("axis", 0), x.size());
  const DType type = node.TypeOf(1);
  node.Check(type == DType::kS64 || type == DType::kS32, "indices have type ", Name(type),
             ", expected int64 or int32");
  const Value& list = node.At(node.Input(1));
  if (list.is_constant()) {
    for (int64_t i : LoadInts(list)) {
      node.Check(i >= -x[axis] && i < x[axis], "index ", i, " is outside [-", x[axis], ", ",
                 x[axis], ")");
    }
  }
  Shape out(x.begin(), x.begin() + axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), x.begin() + axis + 1, x.end());
  node.Output(Gather{axis}, {node.Input(0), node.Input(1)}, node.TypeOf(0), out);
}

PadMode ReadPadMode(const OnnxNode& node) { return ReadChoice(node, "mode", PadMode::kConstant); }

float ReadFill(OnnxNode& node) {
  if (!node.HasInput(2)) return node.AnyFloat("value", 0.0f);
  const Value& value = node.At(node.Input(2));
  node.CheckSupported(value.is_constant(), "the pad value is computed from the model's input");
  if (value.constant->bytes.empty()) return 0.0f;
  if (value.dtype == DType::kF32) return value.constant->As<float>()[0];
  return static_cast<float>(LoadInts(value)[0]);
}

// Dimensions that the pads apply to: all, or `axes` (opset 18).
std::vector<int64_t> PadAxes(OnnxNode& node, size_t rank) {
  std::vector<int64_t> axes;
  if (node.HasInput(3)) {
    for (int64_t axis : node.ConstantInts(3, "axes")) axes.push_back(node.Axis(axis, rank));
    node.Axes(axes, rank);
    return axes;
  }
  for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  return axes;
}

// The tensor, without what pads below 0 cut off, repeats itself on all sides: elements by their
// place.
void ImportWrapPad(OnnxNode& node) {
  Expr x = In(node, 0);
  const auto axes = PadAxes(node, x.rank());
  const auto pads = node.IntsFrom(1, "pads");
  node.Check(pads.size() == 2 * axes.size(), "has ", pads.size(), " pads, expected ",
             2 * axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = x.dim(axes[i]), before = pads[i], after = pads[axes.size() + i];
    node.Check(size > 0 && std::abs(before) < kMaxDim && std::abs(after) < kMaxDim &&
                   before + after + size >= 0,
               "pads dimension ", size, " by ", before, " and ", after);
    CheckConstantSize(node, before + after + size);
    const int64_t first = std::max<int64_t>(-before, 0);
    const int64_t left = size - first - std::max<int64_t>(-after, 0);
    node.Check(left > 0, "pads cut off all of dimension ", size);
    std::vector<int64_t> places(before + after + size);
    for (size_t k = 0; k < places.size(); ++k) {
      const int64_t place = static_cast<int64_t>(k) - std::max<int64_t>(before, 0);
      places[k] = first + (place % left + left) % left;
    }
    const Shape count{static_cast<int64_t>(places.size())};
    if (before != 0 || after != 0) x = Gathered(x, Ints(node, count, places), axes[i]);
  }
  Give(x);
}

// The value around the tensor is computed: it is put where the tensor is not.
void ImportComputedPad(OnnxNode& node) {
  Expr x = In(node, 0), value = In(node, 2);
  node.Check(NumElements(value.shape()) == 1 && value.type() == x.type(), "the pad value is ",
             Name(value.type()), " ", ToString(value.shape()), ", expected one ", Name(x.type()));
  const auto axes = PadAxes(node, x.rank());
  const auto pads = node.IntsFrom(1, "pads");
  node.Check(pads.size() == 2 * axes.size(), "has ", pads.size(), " pads, expected ",
             2 * axes.size());
  value = Reshaped(value, {});
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = x.dim(axes[i]), before = pads[i], after = pads[axes.size() + i];
    node.Check(
        std::abs(before) < kMaxDim && std::abs(after) < kMaxDim && before + after + size >= 0,
        "pads dimension ", size, " by ", before, " and ", after);
    CheckConstantSize(node, before + after + size);
    std::vector<bool> is_tensor(before + after + size);
    for (int64_t k = 0; k < before + after + size; ++k) {
      is_tensor[k] = k >= before && k < before + size;
    }
    x = Padded(x, axes[i], before, after);
    if (before <= 0 && after <= 0) continue;
    Shape along(x.rank(), 1);
    along[axes[i]] = static_cast<int64_t>(is_tensor.size());
    x = Select(Bools(node, along, is_tensor), x, value);
  }
  Give(x);
}

void ImportPad(OnnxNode& node) {
  const std::string mode = node.String("mode", "constant");
  if (mode == "wrap") return ImportWrapPad(node);
  if (mode == "constant" && node.HasInput(2) && !node.At(node.Input(2)).is_constant()) {
    return ImportComputedPad(node);
  }
  Shape out = node.ShapeOf(0);
  const Shape x = out;
  const auto axes = PadAxes(node, x.size());
  const auto pads = node.IntsFrom(1, "pads");
  node.Check(pads.size() == 2 * axes.size(), "has ", pads.size(), " pads, expected ",
             2 * axes.size());
  Pad op{ReadPadMode(node), std::vector<int64_t>(x.size(), 0), std::vector<int64_t>(x.size(), 0),
         ReadFill(node)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t d = axes[i], before = pads[i], after = pads[axes.size() + i];
    node.Check(std::abs(before) < kMaxDim && std::abs(after) < kMaxDim && before > -kMaxDim &&
                   after > -kMaxDim && before + after + x[d] >= 0,
               "pads dimension ", x[d], " by ", before, " and ", after);
    const bool grows = before > 0 || after > 0;
    node.Check(op.mode != PadMode::kReflect || std::max(before, after) < std::max<int64_t>(x[d], 1),
               "reflects ", before, " and ", after, " elements of a dimension of ", x[d],
               ", expected fewer than it has");
    node.Check(op.mode != PadMode::kEdge || !grows || x[d] > 0,
               "repeats the edge of an empty dimension");
    op.before[d] = before;
    op.after[d] = after;
    out[d] = x[d] + before + after;
  }
  node.Output(op, {node.Input(0)}, node.TypeOf(0), out);
}

Shape BlockInput(const OnnxNode& node, int64_t block) {
  Shape x = node.ShapeOf(0);
  node.Check(x.size() == 4, "input has the shape ", ToString(x), ", expected [N, C, H, W]");
  node.Check(block >= 1 && block < 1024, "attribute 'blocksize' is ", block,
             ", expected 1 to 1023");
  return x;
}

void ImportDepthToSpace(OnnxNode& node) {
  const int64_t block = node.Int("blocksize", 0);
  const Shape x = BlockInput(node, block);
  node.Check(x[1] % (block * block) == 0, "has ", x[1], " channels, expected a multiple of ",
             block * block);
  const std::string mode = node.String("mode", "DCR");
  node.Check(mode == "DCR" || mode == "CRD", "attribute 'mode' is ", Quoted(mode),
             ", expected DCR or CRD");
  node.Output(DepthToSpace{block, mode == "CRD"}, {node.Input(0)}, node.TypeOf(0),
              {x[0], x[1] / (block * block), x[2] * block, x[3] * block});
}

void ImportSpaceToDepth(OnnxNode& node) {
  const int64_t block = node.Int("blocksize", 0);
  const Shape x = BlockInput(node, block);
  const std::string mode = node.String("mode", "DCR");
  node.Check(mode == "DCR" || mode == "CRD", "attribute 'mode' is ", Quoted(mode),
             ", expected DCR or CRD");
  node.Check(x[2] % block == 0 && x[3] % block == 0, "input has the shape ", ToString(x),
             ", expected height and width to be multiples of ", block);
  const Shape out{x[0], x[1] * block * block, x[2] / block, x[3] / block};
  if (mode == "CRD") {
    const Expr blocks =
        Reshaped(In(node, 0), {x[0], x[1], x[2] / block, block, x[3] / block, block});
    return GiveReshaped(Transposed(blocks, {0, 1, 3, 5, 2, 4}), out);
  }
  node.Output(SpaceToDepth{block}, {node.Input(0)}, node.TypeOf(0), out);
}

constexpr ImportEntry kMovementImports[] = {
    {"Transpose", ImportTranspose},
    {"Concat", ImportConcat},
    {"Expand", ImportExpand},
    {"Tile", ImportTile},
    {"Gather", ImportGather},
    {"Pad", ImportPad},
    {"DepthToSpace", ImportDepthToSpace},
    {"SpaceToDepth", ImportSpaceToDepth},
};

}  // namespace

std::span<const ImportEntry> MovementImports() { return kMovementImports; }

}  // namespace rshift
