// Operators with H and W in their definition, and the ones that end the spatial part of a model.

#include "graph/fold/origin.h"
#include "graph/passes/layout_ops.h"

namespace rshift {
namespace {

bool IsSpatial(const Op& op) {
  return std::visit(
      Overloaded{[](const Conv&) { return true; }, [](const ConvTranspose&) { return true; },
                 [](const MaxPool&) { return true; }, [](const AveragePool&) { return true; },
                 [](const DepthToSpace&) { return true; }, [](const SpaceToDepth&) { return true; },
                 [](const Lrn& lrn) { return lrn.axis == 1; },
                 [](const InstanceNorm&) { return true; }, [](const DynamicConv&) { return true; },
                 [](const Resize& resize) {
                   return resize.scales.size() == 4 && resize.scales[0] == 1.0f &&
                          resize.scales[1] == 1.0f;
                 },
                 [](const auto&) { return false; }},
      op);
}

Op InChannelsLast(const Op& op) {
  if (const auto* lrn = std::get_if<Lrn>(&op)) {
    Lrn result = *lrn;
    result.axis = 3;
    return result;
  }
  if (const auto* resize = std::get_if<Resize>(&op)) {
    Resize result = *resize;
    for (size_t i = 0; i < 4; ++i) result.scales[i] = resize->scales[kNhwcPerm[i]];
    return result;
  }
  return op;
}

}  // namespace

bool AddSpatial(LayoutBuilder& b, const Node& node) {
  if (!IsSpatial(node.op) || b.OldShape(node.inputs[0]).size() != 4) return false;
  std::vector<ValueId> inputs = {b.Nhwc(node.inputs[0])};
  for (size_t i = 1; i < node.inputs.size(); ++i) inputs.push_back(b.Plain(node.inputs[i]));
  b.AddNode(node.name, InChannelsLast(node.op), std::move(inputs),
            b.Define(node.outputs[0], kNhwcPerm));
  return true;
}

// One slope for each channel: in NHWC it lies along the innermost dimension, as the integer form
// needs it. [N,C,L] is read as [N,C,1,L].
bool AddChannelPRelu(LayoutBuilder& b, const Node& node) {
  if (!std::holds_alternative<PRelu>(node.op)) return false;
  const ValueId x = node.inputs[0], slope = node.inputs[1];
  Shape image = b.OldShape(x), slopes = b.OldShape(slope);
  if (!b.old().value(slope).is_constant() || image.size() < 3 || image.size() > 4) return false;
  slopes.insert(slopes.begin(), image.size() - slopes.size(), 1);
  if (slopes[1] == 1 || NumElements(slopes) != slopes[1]) return false;
  if (image.size() == 3) {
    image.insert(image.begin() + 2, 1);
    slopes.push_back(1);
    const Form form{b.NhwcAs(x, image), Normalize(image, kNhwcPerm)};
    b.AddNode(node.name, node.op, {form.id, b.NhwcAs(slope, slopes)},
              b.DefineLike(node.outputs[0], form));
    return true;
  }
  b.AddNode(node.name, node.op, {b.Nhwc(x), b.NhwcAs(slope, slopes)},
            b.Define(node.outputs[0], kNhwcPerm));
  return true;
}

bool AddMatMulOfFlattened(LayoutBuilder& b, const Node& node) {
  if (!std::holds_alternative<MatMul>(node.op) || b.IsPlainFree(node.inputs[0])) return false;
  const Value& weight = b.old().value(node.inputs[1]);
  const Shape shape = b.OldShape(node.inputs[0]);
  if (!weight.is_constant() || weight.shape.size() != 2 || shape.size() < 2) return false;
  const Form native = b.Native(node.inputs[0]);
  const int64_t k = shape.back();
  const int64_t rows = NumElements(shape) / k;
  const std::optional<Shape> common = CommonDims(native.order.dims, {rows, k});
  if (!common) return false;
  // The dims of the rows must come first and in order; those of K may come in any.
  const ElementOrder fine = Split(native.order, *common);
  size_t lead = 0;
  for (int64_t product = 1; product != rows; ++lead) {
    if (fine.perm[lead] != static_cast<int64_t>(lead)) return false;
    product *= fine.dims[lead];
  }
  Shape weight_dims(fine.dims.begin() + lead, fine.dims.end());
  Perm weight_perm;
  for (size_t i = lead; i < fine.perm.size(); ++i) {
    weight_perm.push_back(fine.perm[i] - static_cast<int64_t>(lead));
  }
  weight_perm.push_back(static_cast<int64_t>(weight_dims.size()));
  weight_dims.push_back(weight.shape[1]);

  Value permuted = weight;
  const auto permute = [&](const std::vector<uint8_t>& bytes, size_t size) {
    return PermuteBytes(bytes, size, weight_dims, weight_perm);
  };
  auto data = std::make_shared<ConstantData>();
  data->bytes = permute(weight.constant->bytes, SizeOf(weight.dtype));
  permuted.constant = std::move(data);
  permuted.origin = MoveOrigin(weight, weight.shape, permute);
  const std::string name = b.old().value(node.inputs[0]).name;
  ValueId flat = native.id;
  if (b.graph().value(flat).shape != shape || b.graph().value(flat).layout != Layout::kPlain) {
    Value view = b.old().value(node.inputs[0]);
    view.shape = shape;
    view.quant = b.graph().value(native.id).quant;
    flat = b.AddDerived(name + "__hwc", std::move(view));
    b.AddNode(name + "__hwc", Reshape{}, {native.id}, flat);
  }
  std::vector<ValueId> inputs = {flat, b.AddDerived(weight.name + "__hwc", std::move(permuted))};
  if (node.inputs.size() > 2) inputs.push_back(b.Plain(node.inputs[2]));
  b.AddNode(node.name, node.op, std::move(inputs), b.DefinePlain(node.outputs[0]));
  return true;
}

void AddPlain(LayoutBuilder& b, const Node& node) {
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) inputs.push_back(b.Plain(id));
  std::vector<ValueId> outputs;
  for (ValueId id : node.outputs) outputs.push_back(b.DefinePlain(id));
  b.graph().AddNode({node.name, node.op, std::move(inputs), std::move(outputs)});
}

}  // namespace rshift
