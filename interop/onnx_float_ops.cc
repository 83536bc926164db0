#include "interop/onnx_float_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "isa/function_names.h"

namespace rshift {
namespace {

struct Target {
  const Graph& graph;
  const Node& node;
  const std::vector<std::string>& in;
  std::string out;
  OnnxWriter& writer;

  const Shape& Shape0() const { return graph.value(node.inputs[0]).shape; }
  const Shape& OutShape() const { return graph.value(node.outputs[0]).shape; }
  std::string Constant(const char* name, const std::vector<int64_t>& numbers) const {
    return writer.Integers(out + "/" + name, {static_cast<int64_t>(numbers.size())}, numbers);
  }
};

void SetWindow(const Window& w, onnx::NodeProto* node) {
  OnnxWriter::Set(node, "kernel_shape", std::array<int64_t, 2>{w.kernel_h, w.kernel_w});
  OnnxWriter::Set(node, "strides", std::array<int64_t, 2>{w.stride_h, w.stride_w});
  // ONNX Runtime's integer AveragePool does not know the attribute.
  if (w.dilation_h != 1 || w.dilation_w != 1)
    OnnxWriter::Set(node, "dilations", std::array<int64_t, 2>{w.dilation_h, w.dilation_w});
  OnnxWriter::Set(node, "pads",
                  std::array<int64_t, 4>{w.pad_top, w.pad_left, w.pad_bottom, w.pad_right});
}

int64_t Floor(int64_t size, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  return (size + pads - dilation * (kernel - 1) - 1) / stride + 1;
}

// The output is larger than the pads alone give.
bool NeedsCeil(const Target& t, const Window& w) {
  const Shape& x = t.Shape0();
  const Shape& y = t.OutShape();
  return y[2] > Floor(x[2], w.pad_top + w.pad_bottom, w.kernel_h, w.dilation_h, w.stride_h) ||
         y[3] > Floor(x[3], w.pad_left + w.pad_right, w.kernel_w, w.dilation_w, w.stride_w);
}

// Writes through an intermediate when a clamp follows: `write(name of the result)`.
template <typename Write>
void WithClamp(const Target& t, const Clamp& clamp, Write write) {
  if (!clamp.active()) return write(t.out);
  const std::string inner = t.out + "/before_clip";
  write(inner);
  const bool relu = clamp.lo == 0 && clamp.hi == std::numeric_limits<float>::infinity();
  if (relu) {
    t.writer.Node("Relu", {inner}, t.out);
    return;
  }
  const std::string lo = t.writer.Floats(t.out + "/lo", {}, std::array<float, 1>{clamp.lo});
  const std::string hi = t.writer.Floats(t.out + "/hi", {}, std::array<float, 1>{clamp.hi});
  t.writer.Node("Clip", {inner, lo, hi}, t.out);
}

void Write(const Target& t, const Conv& op) {
  WithClamp(t, op.clamp, [&](const std::string& y) {
    auto* node = t.writer.Node("Conv", t.in, y);
    SetWindow(op.window, node);
    OnnxWriter::Set(node, "group", op.groups);
  });
}

void Write(const Target& t, const MatMul& op) {
  WithClamp(t, op.clamp, [&](const std::string& y) {
    if (t.in.size() < 3 || t.in[2].empty()) {
      t.writer.Node("MatMul", {t.in[0], t.in[1]}, y);
    } else if (t.Shape0().size() == 2) {
      t.writer.Node("Gemm", t.in, y);
    } else {
      t.writer.Node("MatMul", {t.in[0], t.in[1]}, y + "/product");
      t.writer.Node("Add", {y + "/product", t.in[2]}, y);
    }
  });
}

void Write(const Target& t, const MaxPool& op) {
  auto* node = t.writer.Node("MaxPool", {t.in[0]}, t.out);
  SetWindow(op.window, node);
  if (NeedsCeil(t, op.window)) OnnxWriter::Set(node, "ceil_mode", int64_t{1});
}

void Write(const Target& t, const AveragePool& op) {
  if (op.global) {
    t.writer.Node("GlobalAveragePool", {t.in[0]}, t.out);
    return;
  }
  auto* node = t.writer.Node("AveragePool", {t.in[0]}, t.out);
  SetWindow(op.window, node);
  OnnxWriter::Set(node, "count_include_pad", static_cast<int64_t>(op.count_include_pad));
  if (NeedsCeil(t, op.window)) OnnxWriter::Set(node, "ceil_mode", int64_t{1});
}

void Write(const Target& t, const Binary& op) {
  WithClamp(t, op.clamp, [&](const std::string& y) {
    if (op.op == BinaryOp::kSquaredDifference) {
      const std::string difference = t.out + "/difference";
      t.writer.Node("Sub", {t.in[0], t.in[1]}, difference);
      t.writer.Node("Mul", {difference, difference}, y);
      return;
    }
    auto* node = t.writer.Node(OpName(t.node.op), {t.in[0], t.in[1]}, y);
    const bool is_float = t.graph.value(t.node.inputs[0]).dtype == DType::kF32;
    if (op.op == BinaryOp::kMod && is_float) OnnxWriter::Set(node, "fmod", int64_t{1});
  });
}

void Write(const Target& t, const Clip& op) {
  WithClamp(t, op.clamp, [&](const std::string& y) { t.writer.Node("Identity", {t.in[0]}, y); });
}

void Write(const Target& t, const LeakyRelu& op) {
  OnnxWriter::Set(t.writer.Node("LeakyRelu", {t.in[0]}, t.out), "alpha", op.alpha);
}

void Write(const Target& t, const PRelu&) { t.writer.Node("PRelu", {t.in[0], t.in[1]}, t.out); }

void Write(const Target& t, const Unary& op) {
  RSHIFT_REQUIRE(!op.scales_channels(), ErrorCode::kInternal, t.out,
                 ": an equalized model is written with scales of channels");
  switch (op.op) {
    case UnaryOp::kSilu:
      t.writer.Node("Sigmoid", {t.in[0]}, t.out + "/sigmoid");
      t.writer.Node("Mul", {t.in[0], t.out + "/sigmoid"}, t.out);
      return;
    case UnaryOp::kSquare:
      t.writer.Node("Mul", {t.in[0], t.in[0]}, t.out);
      return;
    case UnaryOp::kRsqrt:
      t.writer.Node("Sqrt", {t.in[0]}, t.out + "/root");
      t.writer.Node("Reciprocal", {t.out + "/root"}, t.out);
      return;
    case UnaryOp::kGeluTanh:
      OnnxWriter::Set(t.writer.Node("Gelu", {t.in[0]}, t.out), "approximate", "tanh");
      return;
    default:
      break;
  }
  auto* node = t.writer.Node(OpName(t.node.op), {t.in[0]}, t.out);
  const bool has_alpha = op.op == UnaryOp::kHardSigmoid || op.op == UnaryOp::kElu ||
                         op.op == UnaryOp::kSelu || op.op == UnaryOp::kThresholdedRelu ||
                         op.op == UnaryOp::kCelu;
  if (has_alpha) OnnxWriter::Set(node, "alpha", op.alpha);
  if (op.op == UnaryOp::kHardSigmoid) OnnxWriter::Set(node, "beta", op.beta);
  if (op.op == UnaryOp::kSelu) OnnxWriter::Set(node, "gamma", op.beta);
}

void Write(const Target& t, const Softmax& op) {
  OnnxWriter::Set(t.writer.Node(op.log ? "LogSoftmax" : "Softmax", {t.in[0]}, t.out), "axis",
                  op.axis);
}

void Write(const Target& t, const Reshape&) {
  t.writer.Node("Reshape", {t.in[0], t.Constant("shape", t.OutShape())}, t.out);
}

void Write(const Target& t, const Transpose& op) {
  OnnxWriter::Set(t.writer.Node("Transpose", {t.in[0]}, t.out), "perm", op.perm);
}

void Write(const Target& t, const Concat& op) {
  OnnxWriter::Set(t.writer.Node("Concat", t.in, t.out), "axis", op.axis);
}

void Write(const Target& t, const Pad& op) {
  std::vector<int64_t> pads = op.before;
  pads.insert(pads.end(), op.after.begin(), op.after.end());
  const std::string value = t.writer.Floats(t.out + "/value", {}, std::array<float, 1>{op.value});
  auto* node = t.writer.Node("Pad", {t.in[0], t.Constant("pads", pads), value}, t.out);
  OnnxWriter::Set(node, "mode",
                  op.mode == PadMode::kReflect ? "reflect"
                  : op.mode == PadMode::kEdge  ? "edge"
                                               : "constant");
}

void Write(const Target& t, const Slice& op) {
  std::vector<int64_t> ends, axes;
  for (size_t d = 0; d < op.starts.size(); ++d) {
    const int64_t last = op.starts[d] + (t.OutShape()[d] - 1) * op.steps[d];
    const int64_t end = op.steps[d] > 0 ? last + 1 : last - 1;
    ends.push_back(end < 0 ? std::numeric_limits<int64_t>::min() : end);
    axes.push_back(static_cast<int64_t>(d));
  }
  t.writer.Node("Slice",
                {t.in[0], t.Constant("starts", op.starts), t.Constant("ends", ends),
                 t.Constant("axes", axes), t.Constant("steps", op.steps)},
                t.out);
}

void Write(const Target& t, const DepthToSpace& op) {
  auto* node = t.writer.Node("DepthToSpace", {t.in[0]}, t.out);
  OnnxWriter::Set(node, "blocksize", op.block);
  OnnxWriter::Set(node, "mode", op.crd ? "CRD" : "DCR");
}

void Write(const Target& t, const SpaceToDepth& op) {
  OnnxWriter::Set(t.writer.Node("SpaceToDepth", {t.in[0]}, t.out), "blocksize", op.block);
}

void Write(const Target& t, const Expand&) {
  t.writer.Node("Expand", {t.in[0], t.Constant("shape", t.OutShape())}, t.out);
}

void Write(const Target& t, const Tile& op) {
  t.writer.Node("Tile", {t.in[0], t.Constant("repeats", op.repeats)}, t.out);
}

void Write(const Target& t, const Gather& op) {
  OnnxWriter::Set(t.writer.Node("Gather", {t.in[0], t.in[1]}, t.out), "axis", op.axis);
}

// In operators that every version has; RMSNormalization is of opset 23.
void WriteRootMeanSquare(const Target& t, const LayerNorm& op) {
  const auto rank = static_cast<int64_t>(t.Shape0().size());
  std::vector<int64_t> axes;
  for (int64_t d = op.axis; d < rank; ++d) axes.push_back(d);
  const std::string epsilon =
      t.writer.Floats(t.out + "/epsilon", {}, std::array<float, 1>{op.epsilon});
  t.writer.Node("Mul", {t.in[0], t.in[0]}, t.out + "/squares");
  t.writer.Node("ReduceMean", {t.out + "/squares", t.Constant("axes", axes)}, t.out + "/mean");
  t.writer.Node("Add", {t.out + "/mean", epsilon}, t.out + "/sum");
  t.writer.Node("Sqrt", {t.out + "/sum"}, t.out + "/root");
  t.writer.Node("Div", {t.in[0], t.out + "/root"}, t.out + "/normal");
  const bool bias = t.in.size() > 2 && !t.in[2].empty();
  t.writer.Node("Mul", {t.out + "/normal", t.in[1]}, bias ? t.out + "/scaled" : t.out);
  if (bias) t.writer.Node("Add", {t.out + "/scaled", t.in[2]}, t.out);
}

void Write(const Target& t, const LayerNorm& op) {
  if (op.rms) return WriteRootMeanSquare(t, op);
  auto* node = t.writer.Node("LayerNormalization", t.in, t.out);
  OnnxWriter::Set(node, "axis", op.axis);
  OnnxWriter::Set(node, "epsilon", op.epsilon);
}

void Write(const Target& t, const InstanceNorm& op) {
  OnnxWriter::Set(t.writer.Node("InstanceNormalization", t.in, t.out), "epsilon", op.epsilon);
}

// With its dimensions kept; the result may have lost them.
void Write(const Target& t, const Reduce& op) {
  Shape kept = t.Shape0();
  for (const int64_t axis : op.axes) kept[static_cast<size_t>(axis)] = 1;
  const bool reshaped = kept != t.OutShape();
  const std::string y = reshaped ? t.out + "/kept" : t.out;
  t.writer.Node(OpName(t.node.op), {t.in[0], t.Constant("axes", op.axes)}, y);
  if (reshaped) t.writer.Node("Reshape", {y, t.Constant("shape", t.OutShape())}, t.out);
}

// Whether the size follows from the scale, be the product one of floats or of doubles.
bool SizeFollows(int64_t in, float scale, int64_t out) {
  const double product = static_cast<double>(in) * static_cast<double>(scale);
  return std::floor(static_cast<float>(in) * scale) == static_cast<float>(out) &&
         std::floor(product) == static_cast<double>(out);
}

// The scale, or the nearest number beside it from which the size follows; 0 where none of four on
// either side does.
float ScaleOfSizes(int64_t in, float scale, int64_t out) {
  float above = scale, below = scale;
  for (int step = 0; step <= 4; ++step) {
    if (SizeFollows(in, above, out)) return above;
    if (SizeFollows(in, below, out)) return below;
    above = std::nextafter(above, std::numeric_limits<float>::max());
    below = std::nextafter(below, 0.0f);
  }
  return 0;
}

// Scales from which the sizes follow; empty where sizes say the same, or scales do not say it.
std::vector<float> ScalesOfSizes(const Target& t, const Resize& op) {
  std::vector<float> scales;
  bool sizes_say_it = true, follows = true;
  for (size_t d = 0; d < op.scales.size(); ++d) {
    const int64_t in = t.Shape0()[d], out = t.OutShape()[d];
    sizes_say_it = sizes_say_it && op.scales[d] == static_cast<float>(out) / static_cast<float>(in);
    follows = follows && SizeFollows(in, op.scales[d], out);
    scales.push_back(ScaleOfSizes(in, op.scales[d], out));
    if (scales.back() == 0) return {};
  }
  return sizes_say_it && !follows ? std::vector<float>{} : scales;
}

// By scales, on which the coordinates depend; by sizes where those say the same.
void Write(const Target& t, const Resize& op) {
  const Shape count = {static_cast<int64_t>(op.scales.size())};
  const std::vector<float> scales = ScalesOfSizes(t, op);
  auto* node =
      !scales.empty()
          ? t.writer.Node("Resize",
                          {t.in[0], "", t.writer.Floats(t.out + "/scales", count, scales)}, t.out)
          : t.writer.Node("Resize", {t.in[0], "", "", t.Constant("sizes", t.OutShape())}, t.out);
  OnnxWriter::Set(node, "mode", Name(op.mode));
  OnnxWriter::Set(node, "coordinate_transformation_mode", Name(op.coordinate));
  if (op.mode == ResizeMode::kNearest) OnnxWriter::Set(node, "nearest_mode", Name(op.nearest));
  if (op.mode != ResizeMode::kCubic) return;
  OnnxWriter::Set(node, "cubic_coeff_a", op.cubic_a);
  OnnxWriter::Set(node, "exclude_outside", static_cast<int64_t>(op.exclude_outside));
}

void Write(const Target& t, const Identity&) { t.writer.Node("Identity", {t.in[0]}, t.out); }

template <typename Unknown>
void Write(const Target& t, const Unknown&) {
  Fail(ErrorCode::kUnsupported, "--emit-qdq, --emit-fakequantize: ", t.node.name, ": ",
       OpName(t.node.op), " cannot be written as ONNX yet; leave the option out");
}

}  // namespace

void WriteFloatNode(const Graph& graph, const Node& node, const std::vector<std::string>& inputs,
                    const std::string& output, OnnxWriter* writer) {
  const Target target{graph, node, inputs, output, *writer};
  std::visit([&](const auto& op) { Write(target, op); }, node.op);
}

}  // namespace rshift
