#include "quantize/encodable.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "quantize/numerics/double_scale.h"
#include "quantize/numerics/requantize.h"

namespace rshift {
namespace {

// The largest offset of a sum in the integers of LiteRT's optimised mean: 24 bits.
constexpr float kLargestOffset = 16777216.0f;

class Checker {
 public:
  Checker(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  void Check() const {
    std::visit(Overloaded{[&](const QConv& op) { Linear(op); },
                          [&](const QConvTranspose& op) { Linear(op.conv); },
                          [&](const QMatMul& op) { Linear(op); },
                          [&](const isa::Mul& op) { Words(op.rounding, op.words); },
                          [&](const isa::AddFma& op) {
                            Finite(op.ratio_a, "factor of its first input");
                            Finite(op.ratio_b, "factor of its second input");
                            Finite(op.fixed, "offset");
                          },
                          [&](const isa::AddScaled& op) {
                            Finite(op.zero_a, "zero point of its first input");
                            Finite(op.ratio, "factor of its first input");
                            Finite(op.scale, "factor");
                            Finite(op.shift, "offset");
                          },
                          [&](const isa::AveragePool& op) { Pool(op); }, [](const auto&) {}},
               node_.op);
  }

 private:
  // "'x' 0.5, 'y' 1e-30"
  std::string Scales() const {
    std::string text;
    const auto add = [&](ValueId id) {
      if (!id.valid() || !graph_.value(id).quant) return;
      const Value& value = graph_.value(id);
      text += Cat(text.empty() ? "" : ", ", "'", value.name, "' ", value.quant->scale);
    };
    for (ValueId id : node_.inputs) add(id);
    for (ValueId id : node_.outputs) add(id);
    return text;
  }

  void Require(bool ok, const char* what, float value) const {
    RSHIFT_REQUIRE(ok, ErrorCode::kInvalidInput, node_.name, " (", OpName(node_.op), "): its ",
                   what, " is ", value, ", which no program can hold; it comes from the scales ",
                   Scales(),
                   ": give these tensors ranges that are nearer to each other (threshold in "
                   "--config), or leave the node in F32 (mode: f32)");
  }

  void Finite(float value, const char* what) const { Require(std::isfinite(value), what, value); }

  // The two words of a factor.
  void Words(Rounding rounding, const RequantWords& words) const {
    if (numerics::IsIntegerRounding(rounding)) return;
    const double factor = rounding == Rounding::kDoubleAway
                              ? numerics::WordsToDouble(words.multiplier, words.rshift)
                              : static_cast<double>(numerics::WordToFloat(words.multiplier));
    Require(std::isfinite(factor), "factor", static_cast<float>(factor));
  }

  void Linear(const QLinear& op) const {
    const bool bias_f =
        kRoundingWords[static_cast<size_t>(op.rounding)] == RoundingWords::kScaleAndBias;
    for (const ChannelRequant& channel : op.channels) {
      Words(op.rounding, {channel.multiplier, channel.rshift});
      if (bias_f) Finite(numerics::WordToFloat(channel.rshift), "bias");
    }
    for (const PostOp& post : op.post_ops) {
      Finite(post.scale, "factor of a fused operator");
      const bool bounds = post.kind == PostOpKind::kClip;  // those may be open
      for (float number : {post.alpha, post.beta}) {
        Require(bounds ? !std::isnan(number) : std::isfinite(number),
                "parameter of a fused operator", number);
      }
      for (float number : post.alphas) Finite(number, "parameter of a fused operator");
      for (float number : post.betas) Finite(number, "parameter of a fused operator");
    }
    if (op.rounding != Rounding::kHalfFloat) return;
    if (graph_.value(node_.outputs[0]).dtype == DType::kF16) return;  // no AscendQuant behind it
    const float scale = op.half.quant_scale;
    Require(std::isfinite(scale) && scale > 0, "factor", scale);
    Finite(op.half.quant_offset, "offset");
  }

  void Pool(const isa::AveragePool& op) const {
    Finite(op.scale, "factor");
    const bool float_offset =
        op.arithmetic != PoolArithmetic::kRawSum || op.rounding == Rounding::kFloatZeroEven;
    Require(float_offset ? std::isfinite(op.offset) : std::abs(op.offset) <= kLargestOffset,
            "offset", op.offset);
    Words(op.rounding, op.words);
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

void CheckEncodable(const Graph& graph) {
  for (const Node& node : graph.nodes()) Checker(graph, node).Check();
}

}  // namespace rshift
