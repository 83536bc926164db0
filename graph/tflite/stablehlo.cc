// Operators of StableHLO that TensorFlow's converter finds no counterpart for. PyTorch's exporter
// (litert-torch) leaves pooling, transposed convolutions of volumes and index_put to them. Meaning:
// openxla.org/stablehlo/spec.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "graph/tflite/table.h"

namespace rshift::tflite {
namespace {

using Ints = std::vector<int64_t>;

// A list of `count` integers; `missing` for each where the file has none.
Ints ListOf(const OpWriter& op, const flatbuffers::Vector<int64_t>* list, size_t count,
            int64_t missing, const char* role) {
  if (list == nullptr || list->size() == 0) return Ints(count, missing);
  op.Check(list->size() == count, "has ", list->size(), " ", role, ", expected ", count);
  return {list->begin(), list->end()};
}

// Dimensions of a tensor of `rank`, each once.
Ints DimensionsOf(const OpWriter& op, const flatbuffers::Vector<int64_t>* list, int rank,
                  const char* role) {
  Ints dims;
  if (list != nullptr) dims.assign(list->begin(), list->end());
  Ints sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  op.Check(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
               (sorted.empty() || (sorted.front() >= 0 && sorted.back() < rank)),
           role, " are ", ToString(dims), ", expected some of ", rank, " dimensions, each once");
  return dims;
}

template <typename T>
const T& Needed(const OpWriter& op) {
  const T* options = op.Options2<T>();
  op.Check(options != nullptr, "has no options; the file is damaged");
  return *options;
}

bool AllAre(const Ints& list, int64_t x) {
  return std::all_of(list.begin(), list.end(), [x](int64_t v) { return v == x; });
}

int64_t Product(const Ints& list) {
  return std::accumulate(list.begin(), list.end(), int64_t{1}, std::multiplies<>());
}

Ints At(const Ints& list, const Ints& dims) {
  Ints picked;
  for (const int64_t d : dims) picked.push_back(list[static_cast<size_t>(d)]);
  return picked;
}

Ints Joined(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Those of `rank` dimensions that are not in `dims`.
Ints OthersOf(size_t rank, const Ints& dims) {
  Ints others;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) others.push_back(d);
  return others;
}

Ints Inverse(const Ints& order) {
  Ints inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return inverse;
}

std::string InOrder(OpWriter& op, const std::string& x, const Ints& order) {
  return std::is_sorted(order.begin(), order.end()) ? x : op.Transposed(x, order);
}

// The beginnings of all dimensions, then their ends, as ONNX has them: of pairs.
Ints OnnxPads(const Ints& pairs, const Ints& dims) {
  Ints pads;
  for (const int64_t end : {0, 1})
    for (const int64_t d : dims) pads.push_back(pairs[static_cast<size_t>(2 * d + end)]);
  return pads;
}

// What a subgraph does with two numbers: ADD, MUL, MAXIMUM, MINIMUM, which files have under either
// name, or something else; nothing where it gives the second one.
std::optional<BuiltinOperator> ReducerOf(const OpWriter& op, int subgraph) {
  const std::optional<BuiltinOperator> body = op.BodyOf(subgraph);
  if (!body) return body;
  switch (*body) {
    case BuiltinOperator_STABLEHLO_ADD:
      return BuiltinOperator_ADD;
    case BuiltinOperator_STABLEHLO_MULTIPLY:
      return BuiltinOperator_MUL;
    case BuiltinOperator_STABLEHLO_MAXIMUM:
      return BuiltinOperator_MAXIMUM;
    case BuiltinOperator_STABLEHLO_MINIMUM:
      return BuiltinOperator_MINIMUM;
    default:
      return body;
  }
}

// How a window moves over the input; one entry per dimension, two of the padding.
struct Window {
  Ints size, strides, dilations, padding;
};

Window WindowOf(const OpWriter& op) {
  const auto& options = Needed<StablehloReduceWindowOptions>(op);
  const auto rank = static_cast<size_t>(op.InRank(0));
  op.CheckSupported(
      AllAre(ListOf(op, options.base_dilations(), rank, 1, "dilations of its input"), 1),
      "spreads its input (base_dilations), which is not supported");
  Window window = {ListOf(op, options.window_dimensions(), rank, 1, "sizes of the window"),
                   ListOf(op, options.window_strides(), rank, 1, "strides"),
                   ListOf(op, options.window_dilations(), rank, 1, "dilations"),
                   ListOf(op, options.padding(), 2 * rank, 0, "pads")};
  for (const Ints* list : {&window.size, &window.strides, &window.dilations})
    op.Check(std::all_of(list->begin(), list->end(), [](int64_t v) { return v > 0; }),
             "has the window ", ToString(window.size), ", strides ", ToString(window.strides),
             " and dilations ", ToString(window.dilations), ", expected positive numbers");
  op.CheckSupported(
      std::all_of(window.padding.begin(), window.padding.end(), [](int64_t v) { return v >= 0; }),
      "has negative pads");
  return window;
}

// Dimensions along which the window does something; the last one where there is none.
Ints WindowedDimensions(const OpWriter& op, const Window& window) {
  Ints dims;
  for (size_t d = 0; d < window.size.size(); ++d)
    if (window.size[d] != 1 || window.strides[d] != 1 || window.padding[2 * d] != 0 ||
        window.padding[2 * d + 1] != 0)
      dims.push_back(static_cast<int64_t>(d));
  if (dims.empty()) dims.push_back(static_cast<int64_t>(window.size.size()) - 1);
  op.CheckSupported(dims.size() <= 3, "has a window over ", dims.size(),
                    " dimensions; up to 3 are supported");
  return dims;
}

// A pool of what is padded with minus infinity or zeros, joined with the initial value.
std::string Pooled(OpWriter& op, const std::string& x, BuiltinOperator body, const Window& window,
                   const OpAttributes& attributes) {
  const float initial = op.FloatOf(1, "the initial value");
  if (body == BuiltinOperator_ADD) {
    // StableHLO pads with the initial value.
    op.CheckSupported(initial == 0 || AllAre(window.padding, 0), "pads a sum that begins with ",
                      initial, ", which is supported without pads alone");
    OpAttributes mean = attributes;
    mean.emplace_back("count_include_pad", int64_t{1});
    const auto count = static_cast<float>(Product(window.size));
    const std::string sum = op.Emit("Mul", {op.Emit("AveragePool", {x}, mean), op.Float(count)});
    return initial == 0 ? sum : op.Emit("Add", {sum, op.Float(initial)});
  }
  const bool least = body == BuiltinOperator_MINIMUM;
  const std::string most = op.Emit("MaxPool", {least ? op.Emit("Neg", {x}) : x}, attributes);
  std::string y = least ? op.Emit("Neg", {most}) : most;
  const float sign = least ? -1.0F : 1.0F;
  if (sign * initial <= std::numeric_limits<float>::lowest()) return y;
  return op.Emit(least ? "Min" : "Max", {y, op.Float(initial)});
}

// Inputs: x of any number of dimensions, the number that each result begins with.
void TranslateReduceWindow(OpWriter& op) {
  const Window window = WindowOf(op);
  op.Check(op.InRank(0) > 0, "input has no dimensions");
  const std::optional<BuiltinOperator> body =
      ReducerOf(op, Needed<StablehloReduceWindowOptions>(op).body_subgraph_index());
  op.CheckSupported(body == BuiltinOperator_ADD || body == BuiltinOperator_MAXIMUM ||
                        body == BuiltinOperator_MINIMUM,
                    "is supported with ADD, MAXIMUM or MINIMUM as its body");
  const Ints dims = WindowedDimensions(op, window), others = OthersOf(window.size.size(), dims);
  const Ints order = Joined(others, dims);
  const Shape in = op.InShape(0), out = op.OutShape();
  op.Check(out.size() == in.size(), "result has ", out.size(), " dimensions, expected ", in.size());
  Ints outer = At(in, others);
  const int64_t channels = outer.empty() ? 1 : outer.back();
  if (!outer.empty()) outer.pop_back();
  const Ints shape = Joined({Product(outer), channels}, At(in, dims));
  std::string x = InOrder(op, op.Real(0), order);
  if (shape != At(in, order)) x = op.Reshaped(x, shape);
  std::string y = Pooled(op, x, *body, window,
                         {{"kernel_shape", At(window.size, dims)},
                          {"strides", At(window.strides, dims)},
                          {"dilations", At(window.dilations, dims)},
                          {"pads", OnnxPads(window.padding, dims)}});
  if (shape != At(in, order)) y = op.Reshaped(y, At(out, order));
  op.GiveReal(InOrder(op, y, Inverse(order)));
}

// Where batch, channels and space are, as dimensions of input, weights and result.
struct ConvolutionLayout {
  Ints input, weights, output;  // [N, C, ...], [O, I / groups, ...], [N, C, ...]
};

ConvolutionLayout LayoutOf(const OpWriter& op, const StablehloConvolutionOptions& options) {
  const auto of = [&](int64_t a, int64_t b, const flatbuffers::Vector<int64_t>* space, int rank,
                      const char* role) {
    Ints order = Joined({a, b}, DimensionsOf(op, space, rank, role));
    Ints sorted = order;
    std::sort(sorted.begin(), sorted.end());
    op.Check(static_cast<int>(order.size()) == rank && sorted == OthersOf(order.size(), {}), role,
             " are ", ToString(order), ", expected each of ", rank, " dimensions once");
    return order;
  };
  return {of(options.input_batch_dimension(), options.input_feature_dimension(),
             options.input_spatial_dimensions(), op.InRank(0), "dimensions of the input"),
          of(options.kernel_output_feature_dimension(), options.kernel_input_feature_dimension(),
             options.kernel_spatial_dimensions(), op.InRank(1), "dimensions of the weights"),
          of(options.output_batch_dimension(), options.output_feature_dimension(),
             options.output_spatial_dimensions(), static_cast<int>(op.OutShape().size()),
             "dimensions of the result")};
}

// Weights turned around along the dimensions of space that `along` names.
std::string Reversed(OpWriter& op, const std::string& w, const Ints& along) {
  if (along.empty()) return w;
  const Ints last(along.size(), -1), first(along.size(), std::numeric_limits<int64_t>::min());
  return op.Emit("Slice",
                 {w, op.IntList(last), op.IntList(first), op.IntList(along), op.IntList(last)});
}

// Weights [O, I / groups, ...] as ConvTranspose reads them: [I, O / groups, ...], turned around.
std::string TransposedWeights(OpWriter& op, const std::string& w, const Shape& shape,
                              int64_t groups, const Ints& along) {
  const Ints space(shape.begin() + 2, shape.end());
  const Ints split = Joined({groups, shape[0] / groups, shape[1]}, space);
  Ints order(split.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[1], order[2]);
  const std::string swapped = op.Transposed(op.Reshaped(w, split), order);
  return Reversed(op, op.Reshaped(swapped, Joined({groups * shape[1], shape[0] / groups}, space)),
                  along);
}

// Inputs: x, weights.
void TranslateConvolution(OpWriter& op) {
  const auto& options = Needed<StablehloConvolutionOptions>(op);
  const ConvolutionLayout layout = LayoutOf(op, options);
  const size_t space = layout.input.size() - 2;
  op.Check(layout.weights.size() == space + 2 && layout.output.size() == space + 2,
           "input, weights and result have ", layout.input.size(), ", ", layout.weights.size(),
           " and ", layout.output.size(), " dimensions, expected as many each");
  op.CheckSupported(space >= 1 && space <= 3, "has ", space,
                    " dimensions of space; 1 to 3 are supported");
  op.CheckSupported(options.batch_group_count() == 1, "has groups of its batch");
  const int64_t groups = options.feature_group_count();
  const Shape w = At(op.InShape(1), layout.weights), x = At(op.InShape(0), layout.input);
  op.Check(groups > 0 && w[0] % groups == 0 && w[1] * groups == x[1], "has ", groups, " groups, ",
           x[1], " input channels and the weights ", ToString(w));
  const Ints strides = ListOf(op, options.window_strides(), space, 1, "strides"),
             spread = ListOf(op, options.lhs_dilation(), space, 1, "dilations of its input"),
             dilations = ListOf(op, options.rhs_dilation(), space, 1, "dilations"),
             padding = ListOf(op, options.padding(), 2 * space, 0, "pads");
  std::vector<bool> turned(space, false);
  if (const auto* list = options.window_reversal(); list != nullptr && list->size() > 0) {
    op.Check(list->size() == space, "has ", list->size(), " reversals, expected ", space);
    for (size_t d = 0; d < space; ++d) turned[d] = list->Get(static_cast<unsigned>(d)) != 0;
  }
  Ints all(space);
  std::iota(all.begin(), all.end(), 0);
  const bool transposed = !AllAre(spread, 1);
  Ints along;  // ConvTranspose turns its weights around itself.
  for (size_t d = 0; d < space; ++d)
    if (turned[d] != transposed) along.push_back(static_cast<int64_t>(d) + 2);
  OpAttributes attributes = {{"dilations", dilations}, {"group", groups}};
  const std::string input = InOrder(op, op.Real(0), layout.input);
  const std::string weights = InOrder(op, op.Real(1), layout.weights);
  std::string y;
  if (transposed) {
    op.CheckSupported(AllAre(strides, 1), "has strides and spreads its input");
    Ints pads = OnnxPads(padding, all), beyond(space, 0);
    for (size_t d = 0; d < space; ++d) {
      const int64_t reach = dilations[d] * (w[d + 2] - 1);
      pads[d] = reach - pads[d];
      int64_t& end = pads[space + d];
      end = reach - end;
      if (end < 0) beyond[d] = -std::exchange(end, 0);
      op.CheckSupported(pads[d] >= 0 && beyond[d] < std::max(spread[d], dilations[d]),
                        "pads its input by more than its window");
    }
    attributes.emplace_back("strides", spread);
    attributes.emplace_back("pads", pads);
    attributes.emplace_back("output_padding", beyond);
    y = op.Emit("ConvTranspose", {input, TransposedWeights(op, weights, w, groups, along)},
                attributes);
  } else {
    attributes.emplace_back("strides", strides);
    attributes.emplace_back("pads", OnnxPads(padding, all));
    y = op.Emit("Conv", {input, Reversed(op, weights, along)}, attributes);
  }
  op.GiveReal(InOrder(op, y, Inverse(layout.output)));
}

const char* ReductionOf(const OpWriter& op, std::optional<BuiltinOperator> body) {
  if (!body) return "none";
  switch (*body) {
    case BuiltinOperator_ADD:
      return "add";
    case BuiltinOperator_MUL:
      return "mul";
    case BuiltinOperator_MAXIMUM:
      return "max";
    case BuiltinOperator_MINIMUM:
      return "min";
    default:
      op.Unsupported("is supported with ADD, MUL, MAXIMUM, MINIMUM or nothing as its body");
  }
}

// Inputs: x, places, updates. Whole slices of x: of dimensions that no place names.
void TranslateScatter(OpWriter& op) {
  const auto& options = Needed<StablehloScatterOptions>(op);
  op.CheckSupported(op.InputCount() == 3, "scatters into ", (op.InputCount() - 1) / 2, " tensors");
  op.CheckSupported(op.IsFloat(0) && op.IsFloat(2), "scatters integers; floats are supported");
  const Shape x = op.InShape(0), updates = op.InShape(2);
  const int rank = op.InRank(0);
  const Ints named = DimensionsOf(op, options.scatter_dims_to_operand_dims(), rank,
                                  "scatter_dims_to_operand_dims"),
             inserted =
                 DimensionsOf(op, options.inserted_window_dims(), rank, "inserted_window_dims"),
             windows =
                 DimensionsOf(op, options.update_window_dims(), op.InRank(2), "update_window_dims");
  const Ints whole = OthersOf(x.size(), named);
  Ints sorted = named;
  std::sort(sorted.begin(), sorted.end());
  op.CheckSupported(sorted == inserted && At(updates, windows) == At(x, whole),
                    "writes windows of the shape ", ToString(At(updates, windows)),
                    "; whole slices along the dimensions that no index names are supported");
  const int64_t vector = options.index_vector_dim();
  const auto places_rank = static_cast<int64_t>(op.InRank(1));
  op.Check(vector >= 0 && vector <= places_rank, "index_vector_dim is ", vector, ", expected 0 to ",
           places_rank);
  std::string places = op.List(1);
  if (vector == places_rank) {
    places = op.Reshaped(places, Joined(op.InShape(1), {1}));
  } else {
    places = InOrder(op, places, Joined(OthersOf(op.InShape(1).size(), {vector}), {vector}));
  }
  const Ints order = Joined(named, whole);
  const std::string into = InOrder(op, op.Real(0), order);
  const std::string from =
      InOrder(op, op.Real(2), Joined(OthersOf(updates.size(), windows), windows));
  const char* reduction =
      ReductionOf(op, ReducerOf(op, options.update_computation_subgraph_index()));
  const std::string y =
      op.Emit("ScatterND", {into, places, from}, {{"reduction", std::string(reduction)}});
  op.GiveReal(InOrder(op, y, Inverse(order)));
}

constexpr Entry kStablehloEntries[] = {
    {BuiltinOperator_STABLEHLO_CONVOLUTION, TranslateConvolution},
    {BuiltinOperator_STABLEHLO_REDUCE_WINDOW, TranslateReduceWindow},
    {BuiltinOperator_STABLEHLO_SCATTER, TranslateScatter},
};

}  // namespace

std::span<const Entry> StablehloEntries() { return kStablehloEntries; }

}  // namespace rshift::tflite
