#include "tests/quantize/little_graph.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "isa/attributes.h"
#include "quantize/ranges/ranges.h"

namespace rshift::test {

ValueId LittleGraph::Input(const std::string& name, Shape shape, float low, float high) {
  inputs_.push_back({name, shape, low, high});
  const Layout layout = shape.size() == 4 ? Layout::kNhwc : Layout::kPlain;
  const ValueId id = graph_.AddValue({name, DType::kF32, std::move(shape), layout, {}, nullptr});
  graph_.inputs.push_back(id);
  return id;
}

ValueId LittleGraph::AddTyped(const std::string& name, Op op, std::vector<ValueId> inputs,
                              Shape shape, DType type) {
  const Layout layout = shape.size() == 4 ? Layout::kNhwc : Layout::kPlain;
  const ValueId id = graph_.AddValue({name, type, std::move(shape), layout, {}, nullptr});
  graph_.AddNode({name + "_node", std::move(op), std::move(inputs), {id}});
  return id;
}

ValueId LittleGraph::Add(const std::string& name, Op op, std::vector<ValueId> inputs, Shape shape) {
  return AddTyped(name, std::move(op), std::move(inputs), std::move(shape), DType::kF32);
}

ValueId LittleGraph::AddBool(const std::string& name, Op op, std::vector<ValueId> inputs,
                             Shape shape) {
  return AddTyped(name, std::move(op), std::move(inputs), std::move(shape), DType::kBool);
}

ValueId LittleGraph::AddIndex(const std::string& name, Op op, std::vector<ValueId> inputs,
                              Shape shape) {
  return AddTyped(name, std::move(op), std::move(inputs), std::move(shape), DType::kS64);
}

ValueId LittleGraph::Constant(const std::string& name, Shape shape, std::vector<float> values) {
  return graph_.AddConstant<float>(name, DType::kF32, std::move(shape), values);
}

ValueId LittleGraph::RandomConstant(const std::string& name, Shape shape, float low, float high) {
  std::uniform_real_distribution<float> value(low, high);
  std::vector<float> values(static_cast<size_t>(NumElements(shape)));
  for (float& v : values) v = value(random_);
  return Constant(name, std::move(shape), std::move(values));
}

void LittleGraph::Output(ValueId id) {
  graph_.outputs.push_back(id);
  graph_.output_names.push_back(graph_.value(id).name);
}

Tensors LittleGraph::RandomInputs() {
  Tensors inputs;
  for (const InputRange& input : inputs_) {
    std::uniform_real_distribution<float> value(input.low, input.high);
    Tensor tensor{input.shape, std::vector<double>(static_cast<size_t>(NumElements(input.shape)))};
    for (double& v : tensor.data) v = value(random_);
    inputs[input.name] = std::move(tensor);
  }
  return inputs;
}

CalibrationTable LittleGraph::Calibrate(int runs) {
  std::map<std::string, TensorRange> ranges;
  const std::vector<ValueId> values = CalibratedValues(graph_);
  samples_.clear();
  for (int run = 0; run < runs; ++run) {
    samples_.push_back(RandomInputs());
    const Tensors tensors = Execute(graph_, samples_.back());
    for (ValueId id : values) {
      const std::string& name = graph_.value(id).name;
      for (double v : tensors.at(name).data) {
        TensorRange& range =
            ranges.try_emplace(name, TensorRange{1e30f, -1e30f, 0, 0, 0, "minmax"}).first->second;
        range.min = std::min(range.min, static_cast<float>(v));
        range.max = std::max(range.max, static_cast<float>(v));
      }
    }
  }
  CalibrationTable table;
  for (ValueId id : values) {
    TensorRange range = ranges.at(graph_.value(id).name);
    range.threshold = std::max(std::fabs(range.min), std::fabs(range.max));
    range.low = range.min;
    range.high = range.max;
    table.tensors.emplace_back(graph_.value(id).name, range);
  }
  return table;
}

Shape ConvShape(const Shape& x, const Window& w, int64_t channels) {
  const auto size = [](int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
    return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
  };
  return {x[0], size(x[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top + w.pad_bottom),
          size(x[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left + w.pad_right), channels};
}

QuantizeOptions Mode(QuantMode mode) {
  QuantizeOptions options;
  options.mode = mode;
  return options;
}

namespace {

// Of one sample, in units of y's scale.
double LargestDifference(const Value& y, const Tensor& expected, const Tensor& actual) {
  const QuantParams& q = *y.quant;
  const bool wide = y.dtype == DType::kS16;
  const int32_t least = y.dtype == DType::kU8 ? 0 : wide ? -32768 : -128;
  // Beyond the range there is nothing to compare: both ends saturate.
  const double lo = static_cast<double>(least - q.zero_point) * q.scale;
  const double hi = static_cast<double>(least + (wide ? 65535 : 255) - q.zero_point) * q.scale;
  double worst = 0;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    const double real = (actual.data[i] - q.zero_point) * q.scale;
    const double wanted = std::isnan(expected.data[i]) ? 0 : expected.data[i];
    worst = std::max(worst, std::fabs(real - std::min(std::max(wanted, lo), hi)) / q.scale);
  }
  return worst;
}

}  // namespace

double WorstError(const LittleGraph& little, const QuantizeResult& result,
                  const std::string& output) {
  const Value& y = result.graph.value(result.graph.FindValue(output));
  double worst = 0;
  for (const Tensors& inputs : little.samples()) {
    const Tensor expected = Execute(little.graph(), inputs).at(output);
    worst =
        std::max(worst, LargestDifference(y, expected, Execute(result.graph, inputs).at(output)));
  }
  return worst;
}

double OwnError(const LittleGraph& little, const QuantizeResult& result,
                const std::string& output) {
  const Value& y = result.graph.value(result.graph.FindValue(output));
  double worst = 0;
  for (const Tensors& inputs : little.samples()) {
    const Tensors actual = Execute(result.graph, inputs);
    Tensors seen = inputs;
    for (auto& [name, tensor] : seen) {
      const ValueId id = result.graph.FindValue(name + "__q");
      if (!id.valid()) continue;
      const QuantParams& q = *result.graph.value(id).quant;
      tensor = actual.at(name + "__q");
      for (double& v : tensor.data) v = static_cast<double>(q.scale) * (v - q.zero_point);
    }
    const Tensor expected = Execute(little.graph(), seen).at(output);
    worst = std::max(worst, LargestDifference(y, expected, actual.at(output)));
  }
  return worst;
}

}  // namespace rshift::test
