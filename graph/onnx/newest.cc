// Operators of language and speech models from the newest opsets: SwiGLU, CausalConvWithState; and
// the weights of mel filters.
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "graph/onnx/body.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

// a * sigmoid(alpha * a) * b
void ImportSwiGlu(OnnxNode& node) {
  const Expr a = FloatIn(node, 0), b = FloatIn(node, 1);
  node.Check(a.shape() == b.shape(), "inputs have the shapes ", ToString(a.shape()), " and ",
             ToString(b.shape()), ", expected equal shapes");
  const float alpha = node.Float("alpha", 1.0f);
  const Expr gate = alpha == 1.0f ? Apply(UnaryOp::kSilu, a) : a * Sigmoid(alpha * a);
  Give(gate * b);
}

// A convolution of each channel on its own with what came before: the state, or zeros.
void ImportCausalConv(OnnxNode& node) {
  const Expr x = FloatIn(node, 0), w = FloatIn(node, 1);
  node.Check(x.rank() == 3 && w.rank() == 3 && w.dim(0) == x.dim(1) && w.dim(1) == 1, "input ",
             ToString(x.shape()), " and weight ", ToString(w.shape()),
             " do not fit, expected [batch, channels, length] and [channels, 1, k]");
  const std::string activation = node.String("activation", "none");
  node.Check(activation == "none" || activation == "silu" || activation == "swish",
             "attribute 'activation' is ", Quoted(activation), ", expected none, silu or swish");
  const int64_t past = w.dim(2) - 1;
  const Expr all = node.HasInput(3) ? Joined({FloatIn(node, 3), x}, 2) : Padded(x, 2, past, 0);
  node.Check(all.dim(2) == x.dim(2) + past, "past_state has ", all.dim(2) - x.dim(2),
             " positions, expected ", past);
  const Expr bias(node, node.HasInput(2) ? node.Input(2) : ValueId());
  const Expr y = Called(node, "Conv", {all, w, bias}, {IntAttribute("group", x.dim(1))});
  Give(activation == "none" ? y : Apply(UnaryOp::kSilu, y));
  if (node.OutputUsed(1)) Give(Part(all, 2, x.dim(2), all.dim(2)), 1);
}

double Only(OnnxNode& node, int i, const char* role) {
  const Expr x = In(node, i);
  node.CheckSupported(x.is_constant(), role,
                      " is computed from the model's input, expected a constant");
  node.Check(NumElements(x.shape()) == 1, role, " has the shape ", ToString(x.shape()),
             ", expected one number");
  if (x.type() == DType::kF32) return FloatElements(x.value())[0];
  return static_cast<double>(IntElements(x.value())[0]);
}

// Edges of the bands in bins of the spectrum: equal steps in mel.
std::vector<int64_t> MelEdges(int64_t bands, int64_t dft, double rate, double low, double high) {
  const auto mel = [](double hertz) { return 2595.0 * portable::Log10(1.0 + hertz / 700.0); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges(bands + 2);
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double at = static_cast<double>(i) * step + mel(low);
    const double hertz = 700.0 * (portable::Pow(10.0, at / 2595.0) - 1.0);
    edges[i] = static_cast<int64_t>(std::floor(static_cast<double>(dft + 1) * hertz / rate));
  }
  return edges;
}

// [bins, bands]: triangles over the spectrum.
void ImportMelWeights(OnnxNode& node) {
  const auto bands = static_cast<int64_t>(Only(node, 0, "num_mel_bins"));
  const auto dft = static_cast<int64_t>(Only(node, 1, "dft_length"));
  const double rate = Only(node, 2, "sample_rate");
  const double low = Only(node, 3, "lower_edge_hertz"), high = Only(node, 4, "upper_edge_hertz");
  const int64_t bins = dft / 2 + 1;
  node.Check(bands >= 1 && dft >= 1 && bands < (1 << 20) && dft < (1 << 20) && rate > 0 &&
                 low >= 0 && high >= low,
             "makes ", bands, " bands of a spectrum of ", dft, ", from ", low, " to ", high,
             " Hz at ", rate, " samples a second");
  const auto edges = MelEdges(bands, dft, rate, low, high);
  node.Check(edges.back() < bins + 1, "upper_edge_hertz ", high, " is beyond half the sample rate ",
             rate);
  CheckConstantSize(node, bins * bands);
  std::vector<float> weights(bins * bands, 0.0f);
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t first = edges[i], top = edges[i + 1], end = std::min(edges[i + 2], bins);
    for (int64_t j = first; j <= std::min(top, bins - 1); ++j) {
      weights[j * bands + i] =
          top == first ? 1.0f : static_cast<float>(j - first) / static_cast<float>(top - first);
    }
    for (int64_t j = top; j < end; ++j) {
      weights[j * bands + i] =
          static_cast<float>(edges[i + 2] - j) / static_cast<float>(edges[i + 2] - top);
    }
  }
  const DType type = ImportDType(static_cast<int>(node.Int("output_datatype", 1)), node.where());
  Give(CastTo(Floats(node, {bins, bands}, weights), type));
}

constexpr ImportEntry kNewestImports[] = {
    {"SwiGLU", ImportSwiGlu},
    {"CausalConvWithState", ImportCausalConv},
    {"MelWeightMatrix", ImportMelWeights},
};

}  // namespace

std::span<const ImportEntry> NewestImports() { return kNewestImports; }

}  // namespace rshift
