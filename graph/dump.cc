#include "graph/dump.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <type_traits>

#include "base/error.h"
#include "isa/function_names.h"

namespace rshift {
namespace {

// Shortest of the precisions that read back: 9 digits are always enough for a float.
std::string Number(float value) {
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

template <typename T>
std::string List(const std::vector<T>& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ",";
    if constexpr (std::is_floating_point_v<T>) {
      text += Number(items[i]);
    } else {
      text += std::to_string(items[i]);
    }
  }
  return text + "]";
}

std::string Text(const Window& w) {
  std::ostringstream out;
  out << " kernel=" << w.kernel_h << "x" << w.kernel_w;
  if (w.stride_h != 1 || w.stride_w != 1) out << " stride=" << w.stride_h << "x" << w.stride_w;
  if (w.dilation_h != 1 || w.dilation_w != 1)
    out << " dilation=" << w.dilation_h << "x" << w.dilation_w;
  if (w.pad_top != 0 || w.pad_left != 0 || w.pad_bottom != 0 || w.pad_right != 0) {
    out << " pads=" << List<int64_t>({w.pad_top, w.pad_left, w.pad_bottom, w.pad_right});
  }
  return out.str();
}

std::string Text(const Clamp& c) {
  return c.active() ? Cat(" clamp=[", Number(c.lo), ",", Number(c.hi), "]") : "";
}

std::string Text(const ClampQ& c) { return Cat(" clamp=[", c.lo, ",", c.hi, "]"); }

std::string Attribute(const char* key, int64_t value) { return Cat(" ", key, "=", value); }
std::string Attribute(const char* key, float value) { return Cat(" ", key, "=", Number(value)); }
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
  return zero_w.empty() ? text : text + " zero_w=" + List(zero_w);
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

// What follows the accumulator of a QConv or QMatMul.
template <typename Product>
std::string TailText(const Product& o) {
  std::string text = Text(o.rounding);
  for (const PostOp& p : o.post_ops) {
    text += Cat(" post_op=", static_cast<int>(p.kind), ":", Number(p.alpha), ",", Number(p.beta),
                ",", Number(p.scale));
  }
  if (o.rounding == Rounding::kHalfFloat) {
    const HalfEpilogue& a = o.ascend;
    text += Cat(a.relu ? " relu" : "", " quant=", Number(a.quant_scale), ",",
                Number(a.quant_offset), " rounding=", static_cast<int>(a.mode));
  }
  return text;
}

std::string QConvText(const QConv& o) {
  return Text(o.window) + UnlessOne("groups", o.groups) + Text(o.channels, o.zero_w) +
         Text(o.clamp) + TailText(o);
}

template <typename E>
std::string Pick(E value) {
  return Cat(" ", Name(value));
}

std::string ResizeText(const Resize& op) {
  std::string text = Pick(op.mode) + Pick(op.coordinate);
  if (op.mode == ResizeMode::kNearest) text += Pick(op.nearest);
  if (op.mode == ResizeMode::kCubic) text += Attribute("cubic_a", op.cubic_a);
  return text + Flag("exclude_outside", op.exclude_outside) + " scales=" + List(op.scales);
}

std::string PadText(const Pad& op) {
  std::string text = Pick(op.mode) + " before=" + List(op.before) + " after=" + List(op.after);
  return op.mode == PadMode::kConstant ? text + Attribute("value", op.value) : text;
}

std::string UnaryText(const Unary& op) {
  return (op.alpha != 0.0f ? Attribute("alpha", op.alpha) : "") +
         (op.beta != 0.0f ? Attribute("beta", op.beta) : "");
}

std::string TableText(const QTable& op) {
  return " table=" + List(std::vector<int>(op.entries.begin(), op.entries.end()));
}

// The attributes of an operator, each with a leading blank.
std::string Attributes(const Op& op) {
  return std::visit(
      Overloaded{
          [](const Conv& o) {
            return Text(o.window) + UnlessOne("groups", o.groups) + Text(o.clamp);
          },
          [](const ConvTranspose& o) {
            std::string text = Text(o.window) + UnlessOne("groups", o.groups);
            if (o.output_pad_h != 0 || o.output_pad_w != 0) {
              text += " output_pad=" + List<int64_t>({o.output_pad_h, o.output_pad_w});
            }
            return text + Text(o.clamp);
          },
          [](const MatMul& o) { return Text(o.clamp); },
          [](const MaxPool& o) { return Text(o.window); },
          [](const AveragePool& o) {
            return Text(o.window) + Flag("count_include_pad", o.count_include_pad);
          },
          [](const Binary& o) { return Text(o.clamp); },
          [](const Clip& o) { return Cat(" [", Number(o.clamp.lo), ",", Number(o.clamp.hi), "]"); },
          [](const LeakyRelu& o) { return Attribute("alpha", o.alpha); },
          [](const Unary& o) { return UnaryText(o); },
          [](const BatchNorm& o) { return Attribute("epsilon", o.epsilon); },
          [](const LayerNorm& o) {
            return Attribute("axis", o.axis) + Attribute("epsilon", o.epsilon);
          },
          [](const InstanceNorm& o) { return Attribute("epsilon", o.epsilon); },
          [](const Lrn& o) {
            return Attribute("size", o.size) + Attribute("alpha", o.alpha) +
                   Attribute("beta", o.beta) + Attribute("bias", o.bias) +
                   Attribute("axis", o.axis);
          },
          [](const Softmax& o) { return Attribute("axis", o.axis) + Flag("log", o.log); },
          [](const Reduce& o) { return Pick(o.op) + " axes=" + List(o.axes); },
          [](const ArgMax& o) {
            return Attribute("axis", o.axis) + Flag("min", o.min) +
                   Flag("last_index", o.select_last_index);
          },
          [](const Resize& o) { return ResizeText(o); },
          [](const Transpose& o) { return " perm=" + List(o.perm); },
          [](const Concat& o) { return Attribute("axis", o.axis); },
          [](const Slice& o) { return " starts=" + List(o.starts) + " steps=" + List(o.steps); },
          [](const Pad& o) { return PadText(o); },
          [](const Tile& o) { return " repeats=" + List(o.repeats); },
          [](const Gather& o) { return Attribute("axis", o.axis); },
          [](const DepthToSpace& o) { return Attribute("block", o.block) + Flag("crd", o.crd); },
          [](const SpaceToDepth& o) { return Attribute("block", o.block); },
          [](const Cast& o) { return Cat(" to=", Name(o.to)); },
          [](const Requantize& o) { return Shift("multiplier", o.words) + Text(o.clamp); },
          [](const QConv& o) { return QConvText(o); },
          [](const QConvTranspose& o) { return QConvText(o.conv); },
          [](const QMatMul& o) { return Text(o.channels, o.zero_w) + Text(o.clamp) + TailText(o); },
          [](const isa::Add& o) {
            return Attribute("multiplier_a", int64_t{o.multiplier}) +
                   Shift("multiplier_b", o.multiplier2, o.rshift) + Text(o.rounding) +
                   Text(o.clamp);
          },
          [](const isa::AddFloat& o) { return " by_float" + Text(o.clamp); },
          [](const isa::AddShifted& o) {
            return Attribute("left_shift", int64_t{o.left_shift}) + Shift("a", o.words) +
                   Shift("b", o.words2) + Shift("y", o.words3) + Text(o.rounding) + Text(o.clamp);
          },
          [](const isa::AddFma& o) {
            return Attribute("ratio_a", o.ratio_a) + Attribute("ratio_b", o.ratio_b) +
                   Attribute("fixed", o.fixed) + Text(o.clamp);
          },
          [](const isa::Mul& o) {
            return Shift("multiplier", o.words) + Text(o.rounding) + Text(o.clamp);
          },
          [](const QSoftmax& o) {
            return Attribute("arithmetic", static_cast<int64_t>(o.arithmetic)) + Text(o.clamp);
          },
          [](const isa::AveragePool& o) {
            return Text(o.window) + Flag("count_include_pad", o.count_include_pad) +
                   Attribute("arithmetic", static_cast<int64_t>(o.arithmetic)) +
                   Attribute("scale", o.scale) + Attribute("offset", o.offset) +
                   Shift("multiplier", o.words) + Text(o.rounding) + Text(o.clamp);
          },
          [](const isa::LeakyRelu& o) {
            return Shift("negative", o.multiplier, o.rshift) + Shift("positive", o.positive) +
                   Text(o.clamp);
          },
          [](const QPRelu& o) {
            return " slopes=" + List(std::vector<int>(o.slopes.begin(), o.slopes.end())) +
                   Attribute("rshift", int64_t{o.rshift}) + Shift("positive", o.positive) +
                   Text(o.clamp);
          },
          [](const QTable& o) { return TableText(o); },
          // No attributes.
          [](const PRelu&) { return std::string(); }, [](const Where&) { return std::string(); },
          [](const Identity&) { return std::string(); },
          [](const Reshape&) { return std::string(); }, [](const Expand&) { return std::string(); },
          [](const Quantize& o) {
            return (o.rounding == RealRounding::kEven
                        ? std::string()
                        : Attribute("rounding", static_cast<int64_t>(o.rounding))) +
                   Flag("by_reciprocal", o.by_reciprocal);
          },
          [](const Dequantize&) { return std::string(); }},
      op);
}

std::string Type(const Value& value) {
  std::string text = Cat(Name(value.dtype), "[", ToString(value.shape), "]");
  if (value.layout == Layout::kNhwc) text += " nhwc";
  if (value.origin != nullptr && value.dtype == DType::kS8) {  // weights: the channels' scales
    const std::vector<float>& scales = value.origin->scales;
    const bool one =
        std::all_of(scales.begin(), scales.end(), [&](float scale) { return scale == scales[0]; });
    text += scales.empty() ? ""
            : one          ? Cat(" scale=", Number(scales[0]))
                           : Cat(" axis=", value.origin->axis, " scales=", List(scales));
  } else if (value.quant) {
    text += Cat(" scale=", Number(value.quant->scale), " zero=", value.quant->zero_point);
  }
  return text;
}

// FNV-1a: two dumps differ when a weight differs, without printing the weights.
std::string Fingerprint(const ConstantData& data) {
  uint64_t hash = 14695981039346656037ull;
  for (uint8_t byte : data.bytes) hash = (hash ^ byte) * 1099511628211ull;
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << hash;
  return out.str();
}

// The integers a constant remembers.
std::string OriginText(const Value& value) {
  if (value.origin == nullptr || value.dtype != DType::kF32) return "";
  const QuantizedOrigin& origin = *value.origin;
  std::string text = Cat(" from ", Name(origin.dtype));
  if (origin.axis >= 0) return Cat(text, " scales along axis ", origin.axis);
  return Cat(text, " scale=", Number(origin.scales[0]), " zero=", origin.zero_points[0]);
}

// Scalars are worth reading; everything else is named by its fingerprint.
std::string ConstantText(const Value& value) {
  if (value.dtype == DType::kF32 && NumElements(value.shape) == 1) {
    return Cat(" = ", Number(value.constant->As<float>()[0]));
  }
  return Cat(" #", Fingerprint(*value.constant));
}

}  // namespace

std::string DumpGraph(const Graph& graph) {
  std::ostringstream out;
  out << "graph " << graph.name << "\n";
  for (ValueId id : graph.inputs) {
    out << "input " << graph.value(id).name << ": " << Type(graph.value(id)) << "\n";
  }
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.is_constant()) {
      out << "const " << value.name << ": " << Type(value) << ConstantText(value)
          << OriginText(value) << "\n";
    }
  }
  for (const Node& node : graph.nodes()) {
    out << "node ";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value& value = graph.value(node.outputs[i]);
      out << (i > 0 ? ", " : "") << value.name << ": " << Type(value);
    }
    out << " = " << OpName(node.op) << "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out << (i > 0 ? ", " : "")
          << (node.inputs[i].valid() ? graph.value(node.inputs[i]).name : std::string("-"));
    }
    out << ")" << Attributes(node.op) << "\n";
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    out << "output " << graph.output_names[i] << " = " << graph.value(graph.outputs[i]).name
        << "\n";
  }
  return out.str();
}

}  // namespace rshift
