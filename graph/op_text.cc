#include "graph/op_text.h"

#include <iomanip>
#include <sstream>

#include "base/error.h"
#include "isa/function_names.h"

namespace rshift {

// Shortest of the precisions that read back: 9 digits are always enough for a float.
std::string NumberText(float value) {
  for (int digits = 1; digits < 9; ++digits) {
    std::ostringstream out;
    out << std::setprecision(digits) << value;
    std::istringstream in(out.str());
    float back = 0.0f;
    if (in >> back && back == value) return out.str();
  }
  std::ostringstream out;
  out << std::setprecision(9) << value;
  return out.str();
}

namespace {

std::string Text(const Window& w) {
  std::ostringstream out;
  out << " kernel=" << w.kernel_h << "x" << w.kernel_w;
  if (w.stride_h != 1 || w.stride_w != 1) out << " stride=" << w.stride_h << "x" << w.stride_w;
  if (w.dilation_h != 1 || w.dilation_w != 1)
    out << " dilation=" << w.dilation_h << "x" << w.dilation_w;
  if (w.pad_top != 0 || w.pad_left != 0 || w.pad_bottom != 0 || w.pad_right != 0) {
    out << " pads=" << ListText<int64_t>({w.pad_top, w.pad_left, w.pad_bottom, w.pad_right});
  }
  return out.str();
}

std::string Text(const Clamp& c) {
  return c.active() ? Cat(" clamp=[", NumberText(c.lo), ",", NumberText(c.hi), "]") : "";
}

std::string Text(const ClampQ& c) { return Cat(" clamp=[", c.lo, ",", c.hi, "]"); }

std::string Attribute(const char* key, int64_t value) { return Cat(" ", key, "=", value); }
std::string Attribute(const char* key, float value) {
  return Cat(" ", key, "=", NumberText(value));
}
std::string UnlessOne(const char* key, int64_t value) {
  return value == 1 ? "" : Attribute(key, value);
}
std::string Flag(const char* key, bool value) { return value ? Cat(" ", key) : ""; }

std::string Text(const std::vector<ChannelRequant>& channels, const std::vector<int32_t>& zero_w) {
  std::string text = " channels=[";
  for (size_t i = 0; i < channels.size(); ++i) {
    const ChannelRequant& c = channels[i];
    text += Cat(i > 0 ? "," : "", c.bias, ":", c.multiplier, ">>", c.rshift);
  }
  text += "]";
  return zero_w.empty() ? text : text + " zero_w=" + ListText(zero_w);
}

std::string Shift(const char* key, int32_t multiplier, int32_t rshift) {
  return Cat(" ", key, "=", multiplier, ">>", rshift);
}

std::string Shift(const char* key, const RequantWords& words) {
  return Shift(key, words.multiplier, words.rshift);
}

std::string Text(Rounding rounding) {
  return rounding == Rounding::kHalfUp ? "" : Cat(" ", Name(rounding));
}

std::string LinearText(const QLinear& o) {
  std::string text = Text(o.channels, o.zero_w);
  for (size_t i = 0; i < o.negative.size(); ++i) {
    text += Cat(i == 0 ? " below_0=[" : ",", o.negative[i].multiplier, ">>", o.negative[i].rshift,
                i + 1 == o.negative.size() ? "]" : "");
  }
  text += Text(o.clamp) + Text(o.rounding);
  for (const PostOp& p : o.post_ops) {
    text += Cat(" post_op=", static_cast<int>(p.kind), ":", NumberText(p.alpha), ",",
                NumberText(p.beta), ",", NumberText(p.scale));
    for (const std::vector<float>* numbers : {&p.alphas, &p.betas}) {
      if (!numbers->empty()) text += Cat(" of channels=", ListText(*numbers));
    }
  }
  if (o.rounding == Rounding::kHalfFloat) {
    const HalfEpilogue& a = o.half;
    text += Cat(a.relu ? " relu" : "", " quant=", NumberText(a.quant_scale), ",",
                NumberText(a.quant_offset), " rounding=", static_cast<int>(a.mode));
  }
  return text;
}

template <typename E>
std::string Pick(E value) {
  return Cat(" ", Name(value));
}

// The attributes of each operator, each with a leading blank.
std::string Attributes(const Conv& o) {
  return Text(o.window) + UnlessOne("groups", o.groups) + Text(o.clamp);
}

std::string Attributes(const ConvTranspose& o) {
  std::string text = Text(o.window) + UnlessOne("groups", o.groups);
  if (o.output_pad_h != 0 || o.output_pad_w != 0) {
    text += " output_pad=" + ListText<int64_t>({o.output_pad_h, o.output_pad_w});
  }
  return text + Text(o.clamp);
}

std::string Attributes(const MatMul& o) { return Text(o.clamp); }
std::string Attributes(const MaxPool& o) { return Text(o.window); }

std::string Attributes(const AveragePool& o) {
  return Text(o.window) + Flag("count_include_pad", o.count_include_pad);
}

std::string Attributes(const Binary& o) { return Text(o.clamp); }

std::string Attributes(const Clip& o) {
  return Cat(" [", NumberText(o.clamp.lo), ",", NumberText(o.clamp.hi), "]");
}

std::string Attributes(const LeakyRelu& o) { return Attribute("alpha", o.alpha); }

std::string Exponents(const char* name, const std::vector<int32_t>& exponents) {
  return exponents.empty() ? ""
                           : Cat(" ", name, "=") +
                                 ListText(std::vector<int64_t>(exponents.begin(), exponents.end()));
}

std::string Attributes(const Unary& op) {
  return (op.alpha != 0.0f ? Attribute("alpha", op.alpha) : "") +
         (op.beta != 0.0f ? Attribute("beta", op.beta) : "") +
         Exponents("input_exponents", op.input_exponents) +
         Exponents("output_exponents", op.output_exponents);
}

std::string Attributes(const BatchNorm& o) { return Attribute("epsilon", o.epsilon); }

std::string Attributes(const LayerNorm& o) {
  return Attribute("axis", o.axis) + Attribute("epsilon", o.epsilon);
}

std::string Attributes(const InstanceNorm& o) { return Attribute("epsilon", o.epsilon); }

std::string Attributes(const Lrn& o) {
  return Attribute("size", o.size) + Attribute("alpha", o.alpha) + Attribute("beta", o.beta) +
         Attribute("bias", o.bias) + Attribute("axis", o.axis);
}

std::string Attributes(const Softmax& o) { return Attribute("axis", o.axis) + Flag("log", o.log); }
std::string Attributes(const Reduce& o) { return Pick(o.op) + " axes=" + ListText(o.axes); }

std::string Attributes(const ArgMax& o) {
  return Attribute("axis", o.axis) + Flag("min", o.min) + Flag("last_index", o.select_last_index);
}

std::string Attributes(const NonMaxSuppression& o) {
  return Attribute("most", o.most) + Attribute("iou_threshold", o.iou_threshold) +
         (o.has_score_threshold ? Attribute("score_threshold", o.score_threshold) : "") +
         Flag("center_point_box", o.center_point_box);
}

std::string Attributes(const NonZero&) { return ""; }
std::string Attributes(const TopK& o) { return Flag("smallest", o.smallest); }
std::string Attributes(const Unique& o) { return Flag("sorted", o.sorted); }

std::string Attributes(const Resize& op) {
  std::string text = Pick(op.mode) + Pick(op.coordinate);
  if (op.mode == ResizeMode::kNearest) text += Pick(op.nearest);
  if (op.mode == ResizeMode::kCubic) text += Attribute("cubic_a", op.cubic_a);
  return text + Flag("exclude_outside", op.exclude_outside) + " scales=" + ListText(op.scales);
}

std::string Attributes(const Transpose& o) { return " perm=" + ListText(o.perm); }
std::string Attributes(const Concat& o) { return Attribute("axis", o.axis); }

std::string Attributes(const Slice& o) {
  return " starts=" + ListText(o.starts) + " steps=" + ListText(o.steps);
}

std::string Attributes(const Pad& op) {
  std::string text =
      Pick(op.mode) + " before=" + ListText(op.before) + " after=" + ListText(op.after);
  return op.mode == PadMode::kConstant ? text + Attribute("value", op.value) : text;
}

std::string Attributes(const Tile& o) { return " repeats=" + ListText(o.repeats); }
std::string Attributes(const Gather& o) { return Attribute("axis", o.axis); }

std::string Attributes(const DepthToSpace& o) {
  return Attribute("block", o.block) + Flag("crd", o.crd);
}

std::string Attributes(const SpaceToDepth& o) { return Attribute("block", o.block); }
std::string Attributes(const Cast& o) { return Cat(" to=", Name(o.to)); }
std::string Attributes(const Requantize& o) { return Shift("multiplier", o.words) + Text(o.clamp); }

std::string Attributes(const QConv& o) {
  return Text(o.window) + UnlessOne("groups", o.groups) + LinearText(o) +
         (o.zero_x.empty() ? "" : " zero_x=" + ListText(o.zero_x));
}

std::string Attributes(const QConvTranspose& o) { return Attributes(o.conv); }
std::string Attributes(const QMatMul& o) { return LinearText(o); }

std::string Attributes(const isa::Add& o) {
  return Attribute("multiplier_a", int64_t{o.multiplier}) +
         Shift("multiplier_b", o.multiplier2, o.rshift) + Text(o.rounding) + Text(o.clamp);
}

std::string Attributes(const isa::AddFloat& o) { return " by_float" + Text(o.clamp); }

std::string Attributes(const isa::AddShifted& o) {
  return Attribute("left_shift", int64_t{o.left_shift}) + Shift("a", o.words) +
         Shift("b", o.words2) + Shift("y", o.words3) + Text(o.rounding) + Text(o.clamp);
}

std::string Attributes(const isa::AddFma& o) {
  return Attribute("ratio_a", o.ratio_a) + Attribute("ratio_b", o.ratio_b) +
         Attribute("fixed", o.fixed) + Flag("keeps_sign", o.keeps_sign) + Text(o.clamp);
}

std::string Attributes(const isa::AddScaled& o) {
  return Attribute("zero_a", o.zero_a) + Attribute("ratio", o.ratio) + Attribute("scale", o.scale) +
         Attribute("shift", o.shift) + Attribute("after", int64_t{o.after}) + Text(o.clamp);
}

std::string Attributes(const FakeQuantize& o) {
  return Attribute("levels", o.levels) + Attribute("axis", o.axis);
}

std::string Attributes(const isa::Mul& o) {
  return Shift("multiplier", o.words) + Text(o.rounding) + Flag("keeps_sign", o.keeps_sign) +
         Text(o.clamp);
}

std::string LinearText(const DynamicLinear& o) {
  return (o.scales.empty() ? "" : " scales=" + ListText(o.scales)) +
         (o.bias.empty() ? "" : " bias=" + ListText(o.bias)) +
         (o.zero_w.empty() ? "" : " zero_w=" + ListText(o.zero_w));
}
std::string Attributes(const DynamicConv& o) {
  return Text(o.window) + UnlessOne("groups", o.groups) + LinearText(o);
}
std::string Attributes(const DynamicMatMul& o) { return LinearText(o); }
std::string Attributes(const DynamicRange&) { return ""; }
std::string Attributes(const DynamicQuantize&) { return ""; }

std::string Attributes(const isa::BatchedMatMul& o) {
  return Shift("multiplier", o.words) + Text(o.rounding) + Text(o.clamp);
}

std::string Attributes(const QNormalize& o) {
  return Attribute("axis", o.axis) + Flag("center", o.center) + Flag("channels", o.channels) +
         Attribute("epsilon", o.epsilon) + Attribute("variance_shift", int64_t{o.variance_shift}) +
         Attribute("rshift", int64_t{o.rshift}) + " factors=" + ListText(o.row_factors) +
         " offsets=" + ListText(o.row_offsets) + Text(o.clamp);
}

std::string GateText(const GateNumbers& numbers, int64_t row, int32_t rshift, int32_t state_bits) {
  return Attribute("row", row) + Attribute("rshift", int64_t{rshift}) +
         Attribute("state_bits", int64_t{state_bits}) +
         " factors=" + ListText(numbers.gate_factors) +
         " offsets=" + ListText(numbers.gate_offsets);
}
std::string Attributes(const QLstmCell& o) {
  return GateText(o.numbers, o.row, o.rshift, o.state_bits);
}
std::string Attributes(const QGruCell& o) {
  return GateText(o.numbers, o.row, o.rshift, o.state_bits) +
         Flag("resets_product", o.resets_product);
}
std::string Attributes(const QGatedOutput& o) {
  return GateText(o.numbers, o.row, o.rshift, o.state_bits) + Attribute("gate", o.gate) +
         Flag("tanh", o.tanh) + Shift("multiplier", o.words) + Text(o.clamp);
}

std::string FixedGateText(const FixedGates& gates, int64_t row, int32_t state_bits) {
  return Attribute("row", row) + Attribute("state_bits", int64_t{state_bits}) +
         " first_scales=" + ListText(gates.first_scales) +
         " second_scales=" + ListText(gates.second_scales) +
         " biases=" + ListText(gates.gate_biases);
}
std::string Attributes(const QFixedLstmCell& o) {
  return FixedGateText(o.gates, o.row, o.state_bits) + Text(o.clamp);
}
std::string Attributes(const QFixedGatedOutput& o) {
  return FixedGateText(o.gates, o.row, o.state_bits) + Attribute("output_scale", o.output_scale) +
         Text(o.clamp);
}

std::string Attributes(const isa::Extremum& o) { return Text(o.clamp); }

std::string Attributes(const QDiv& o) {
  return " reciprocals=" + ListText(o.reciprocals) + Text(o.clamp);
}

std::string Attributes(const QBinaryTable& o) { return " table=#" + FingerprintText(o.entries); }

std::string Attributes(const QResize& o) {
  return " taps=#" + FingerprintText(o.taps) + Shift("multiplier", o.words) + Text(o.clamp);
}

std::string Attributes(const QResizeS16& o) {
  return " taps=#" + FingerprintText(o.taps) + Shift("multiplier", o.words) + Text(o.clamp);
}

std::string Attributes(const QResizeLinear& o) {
  return Attribute("arithmetic", static_cast<int64_t>(o.arithmetic)) + " taps=#" +
         FingerprintText(o.taps);
}
std::string Attributes(const isa::L2Normalize&) { return ""; }
std::string Attributes(const isa::Product& o) {
  return Shift("multiplier", o.words) + Text(o.clamp);
}

std::string Attributes(const isa::ReduceSquares& o) {
  return Flag("root", o.root) + Shift("multiplier", o.words) + Text(o.clamp);
}

std::string Attributes(const QSoftmax& o) {
  return Attribute("arithmetic", static_cast<int64_t>(o.arithmetic)) + Text(o.clamp);
}

std::string Attributes(const isa::AveragePool& o) {
  const PoolParameters& reads = kPoolParameters[static_cast<size_t>(o.arithmetic)];
  return Text(o.window) + Flag("count_include_pad", o.count_include_pad) +
         Attribute("arithmetic", static_cast<int64_t>(o.arithmetic)) +
         (reads.scale ? Attribute("scale", o.scale) : "") +
         (reads.offset ? Attribute("offset", o.offset) : "") +
         (reads.words ? Shift("multiplier", o.words) + Text(o.rounding) : "") + Text(o.clamp);
}

std::string Attributes(const isa::LeakyRelu& o) {
  return Shift("negative", o.multiplier, o.rshift) + Shift("positive", o.positive) + Text(o.clamp);
}

std::string Attributes(const QPRelu& o) {
  return " slopes=" + ListText(std::vector<int>(o.slopes.begin(), o.slopes.end())) +
         Attribute("rshift", int64_t{o.rshift}) + Shift("positive", o.positive) + Text(o.clamp);
}

std::string Attributes(const QTable& op) {
  return " table=" + ListText(std::vector<int>(op.entries.begin(), op.entries.end()));
}

std::string Attributes(const QChannelTables& op) {
  return Cat(" tables=", op.entries.size() / 256, " #", FingerprintText(op.entries)) +
         " table_of_channel=" +
         ListText(std::vector<int>(op.table_of_channel.begin(), op.table_of_channel.end()));
}

std::string Attributes(const isa::RequantizeS16& o) {
  return Shift("multiplier", o.words) + Text(o.rounding) + Text(o.clamp);
}
std::string Attributes(const QConvS16& o) {
  return Text(o.window) + UnlessOne("groups", o.groups) + Text(o.channels, {}) + Text(o.rounding) +
         Text(o.clamp);
}
std::string Attributes(const QMatMulS16& o) {
  return Text(o.channels, {}) + Text(o.rounding) + Text(o.clamp);
}
std::string Attributes(const isa::AddS16& o) {
  return Attribute("multiplier_a", int64_t{o.multiplier}) +
         Shift("multiplier_b", o.multiplier2, o.rshift) + Text(o.clamp);
}
std::string Attributes(const isa::MulS16& o) {
  return Shift("multiplier", o.words) + Text(o.rounding) + Text(o.clamp);
}
std::string Attributes(const isa::DivS16& o) {
  return Shift("multiplier", o.words) + Text(o.clamp);
}
std::string Attributes(const isa::CompareS16& o) {
  return Cat(" ", Name(o.op)) + Attribute("factor_a", o.factor) + Attribute("factor_b", o.factor2);
}
std::string Attributes(const isa::ModS16& o) {
  return Attribute("factor_a", o.factor) + Attribute("factor_b", o.factor2) +
         Shift("multiplier", o.words) + Text(o.clamp);
}
std::string Attributes(const QPowS16& o) {
  return Shift("multiplier", o.words) + Attribute("log_a", o.log_src) +
         Attribute("log_y", o.log_dst) + " table=#" + FingerprintText(o.entries) + Text(o.clamp);
}
std::string Attributes(const isa::AddShiftedS16& o) {
  return Attribute("left_shift", int64_t{o.left_shift}) + Shift("a", o.words) +
         Shift("b", o.words2) + Shift("y", o.words3) + Flag("subtract", o.subtract) + Text(o.clamp);
}
std::string Attributes(const QSoftmaxS16& o) {
  return Shift("multiplier", o.words) + " table=#" + FingerprintText(o.entries);
}
std::string Attributes(const isa::ExtremumS16& o) { return Flag("min", o.min) + Text(o.clamp); }
std::string Attributes(const isa::BatchedMatMulS16& o) {
  return Shift("multiplier", o.words) + Text(o.clamp);
}
std::string Attributes(const QQuotientSoftmaxS16& o) {
  return Shift("multiplier", o.words) + " table=#" + FingerprintText(o.entries) +
         Flag("log", o.log) + Text(o.clamp);
}
std::string Attributes(const QTableS16& o) {
  return (o.entries.empty() ? " interpolated=#" + FingerprintText(o.interpolated)
                            : " table=#" + FingerprintText(o.entries)) +
         Text(o.clamp);
}
std::string Attributes(const QChannelTablesS16& o) {
  return " interpolated=#" + FingerprintText(o.interpolated) + " table_of_channel=" +
         ListText(std::vector<int>(o.table_of_channel.begin(), o.table_of_channel.end())) +
         Text(o.clamp);
}
std::string Attributes(const isa::AveragePoolS16& o) {
  return Text(o.window) + Flag("count_include_pad", o.count_include_pad) +
         Shift("multiplier", o.words) + Text(o.rounding) + Text(o.clamp);
}
std::string Attributes(const QNormalizeS16& o) {
  return Attribute("axis", o.axis) + Flag("center", o.center) + Flag("channels", o.channels) +
         Attribute("epsilon", o.epsilon) + Attribute("variance_shift", int64_t{o.variance_shift}) +
         " factors=#" + FingerprintText(o.row_factors) + " offsets=#" +
         FingerprintText(o.row_offsets) + Text(o.clamp);
}

std::string Attributes(const PRelu&) { return ""; }
std::string Attributes(const Where&) { return ""; }
std::string Attributes(const Identity&) { return ""; }
std::string Attributes(const Reshape&) { return ""; }
std::string Attributes(const Expand&) { return ""; }

std::string Attributes(const Quantize& o) {
  return (o.rounding == RealRounding::kEven
              ? std::string()
              : Attribute("rounding", static_cast<int64_t>(o.rounding))) +
         Flag("by_reciprocal", o.by_reciprocal);
}

std::string Attributes(const Dequantize&) { return ""; }

}  // namespace

std::string AttributeText(const Op& op) {
  return std::visit([](const auto& o) { return Attributes(o); }, op);
}

}  // namespace rshift
