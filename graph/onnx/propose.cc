#include "graph/onnx/propose.h"

#include <map>
#include <optional>
#include <set>

namespace rshift {
namespace {

// What the open dimensions are tried with. Networks with a fixed size inside (a fully connected
// layer, anchors) take one of these at most; those without take the first.
struct Sizes {
  int64_t image, sequence, channels;
};
constexpr Sizes kSizes[] = {{224, 128, 3}, {224, 64, 1}, {320, 256, 3}, {640, 512, 3},
                            {256, 32, 3},  {416, 16, 3}, {512, 1, 3},   {299, 128, 3},
                            {128, 64, 3},  {96, 256, 3}, {32, 512, 3},  {28, 1000, 1},
                            {32, 16000, 1}};

bool IsOpen(const onnx::TensorShapeProto::Dimension& dim) {
  return !dim.has_dim_value() || dim.dim_value() <= 0;
}

// The size for dimension `d` of an input: the batch, then channels and image (either order), or a
// sequence.
int64_t SizeOf(const onnx::TensorShapeProto& shape, int d, const Sizes& sizes) {
  constexpr int64_t kMostChannels = 4;
  if (d == 0) return 1;
  if (shape.dim_size() < 4) return sizes.sequence;
  const auto& last = shape.dim(shape.dim_size() - 1);
  const bool channels_last =
      IsOpen(shape.dim(1)) && !IsOpen(last) && last.dim_value() <= kMostChannels;
  return d == 1 && !channels_last ? sizes.channels : sizes.image;
}

// The shape of an input with its open dimensions filled in; equal symbols get equal sizes.
Shape Fill(const onnx::TensorShapeProto& shape, const Sizes& sizes,
           std::map<std::string, int64_t>& symbols) {
  Shape filled;
  for (int d = 0; d < shape.dim_size(); ++d) {
    const auto& dim = shape.dim(d);
    int64_t size = IsOpen(dim) ? SizeOf(shape, d, sizes) : dim.dim_value();
    const std::string symbol = SymbolOf(dim);
    if (!symbol.empty()) size = symbols.try_emplace(symbol, size).first->second;
    filled.push_back(size);
  }
  return filled;
}

// The inputs that nothing gives a shape to; nothing when one has no rank.
std::optional<std::vector<const onnx::ValueInfoProto*>> OpenInputs(const onnx::GraphProto& graph,
                                                                   const ImportOptions& options) {
  std::set<std::string> constants;
  for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> open;
  for (const auto& input : graph.input()) {
    if (constants.contains(input.name()) || options.input_shapes.contains(input.name()) ||
        options.bound_inputs.contains(input.name())) {
      continue;
    }
    const auto& type = input.type().tensor_type();
    if (!type.has_shape()) return std::nullopt;
    bool is_open = false;
    for (const auto& dim : type.shape().dim()) is_open = is_open || IsOpen(dim);
    if (is_open) open.push_back(&input);
  }
  return open;
}

}  // namespace

std::string SymbolOf(const onnx::TensorShapeProto::Dimension& dim) {
  return dim.dim_param() == "?" ? std::string() : dim.dim_param();
}

std::string ProposeShapes(const onnx::GraphProto& graph, const ImportOptions& options,
                          const std::function<bool(const ImportOptions&)>& imports) {
  const auto open = OpenInputs(graph, options);
  std::set<std::map<std::string, Shape>> tried;
  for (const Sizes& sizes : kSizes) {
    if (!open) break;
    ImportOptions trial = options;
    std::map<std::string, int64_t> symbols;
    std::string text = "its shape, for example";
    for (const onnx::ValueInfoProto* input : *open) {
      const Shape shape = Fill(input->type().tensor_type().shape(), sizes, symbols);
      trial.input_shapes[input->name()] = shape;
      text += Cat(" --input-shape ", input->name(), ":", ToString(shape));
    }
    if (tried.insert(trial.input_shapes).second && imports(trial)) return text;
  }
  return "--input-shape NAME:1x3xHxW with the sizes the model is used with (none of the usual ones "
         "fits it)";
}

}  // namespace rshift
