#include "quantize/ascend_plan.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "quantize/overrides.h"
#include "quantize/ranges/propagation_rules.h"

namespace rshift {
namespace {

bool IsLinear(const Node& node) {
  return std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
}

int64_t InputChannels(const Graph& graph, const Node& node) {
  const Shape& x = graph.value(node.inputs[0]).shape;  // NHWC, or rows
  return x.empty() ? 0 : x.back();
}

IntType GivenType(const AscendConfig& given, const IntType& measured) {
  IntType type = measured;
  if (given.GivesScale()) {
    const float scale = given.scale_d ? *given.scale_d
                                      : static_cast<float>(1.0 / static_cast<double>(*given.scale));
    type = {DType::kS8, {scale, given.offset_d.value_or(0)}};
  }
  type.ascend = given.Quant();
  return type;
}

}  // namespace

std::string WhyNotAscend(const Graph& graph, const Node& node, const QuantizeConfig& config,
                         bool calibrated) {
  const LayerConfig layer = LayerOf(graph, node, config);
  const int64_t channels = InputChannels(graph, node);
  const bool forced = layer.float32.has_value();  // mode: int8
  if (channels <= kAscendFewChannels && !forced) {
    RSHIFT_REQUIRE(
        !layer.ascend.GivesScale() && layer.ascend.scale_w.empty(), ErrorCode::kInvalidInput,
        EntryPlace(config, layer), ": '", node.name, "' reads ", channels,
        " channels, and Ascend quantizes above ", kAscendFewChannels,
        ": it takes no scales; leave them out, or add mode: int8 to quantize it all the same");
    return Cat("runs in fp16: its input has ", channels, " channels, Ascend quantizes above ",
               kAscendFewChannels, " (mode: int8 in --config quantizes it all the same)");
  }
  if (!calibrated && !layer.ascend.GivesScale() && !layer.threshold && !layer.low) {
    return "runs in fp16: the configuration gives no scale_d, and there is no calibration table";
  }
  return "";
}

std::string WhyHalf(const Graph& graph, const Node& node) {
  if (IsLinear(node)) return "";
  if (MovesInput(graph, node)) return "moves fp16 data";
  return "runs in fp16: Ascend quantizes Conv2D, DepthwiseConv2D and FullyConnection alone";
}

void SetAscendTypes(const Graph& graph, const QuantizationPlan& plan, const QuantizeConfig& config,
                    ValueTypes* types) {
  std::map<ValueId, const Node*> readers;  // by what they read
  std::map<ValueId, IntType> measured;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (!IsLinear(node) || plan.forms[n] != NodeForm::kInteger) continue;
    const ValueId x = node.inputs[0];
    IntType& type = types->types[x.index()];
    const AscendConfig given = LayerOf(graph, node, config).ascend;
    if (!given.GivesScale() && given.Quant().empty()) continue;  // as another reader says
    const auto [reader, first] = readers.emplace(x, &node);
    const IntType wanted = GivenType(given, first ? type : measured.at(x));
    if (first) measured.emplace(x, type);
    RSHIFT_REQUIRE(first || wanted == type, ErrorCode::kInvalidInput, config.where, ": '",
                   reader->second->name, "' and '", node.name, "' read '", graph.value(x).name,
                   "' and are given different attributes of AscendQuant; give both the same");
    type = wanted;
    if (given.GivesScale()) types->zero[x.index()] = false;
  }
}

PostOpPlan FindHalfResults(const Graph& graph, const QuantizationPlan& plan) {
  const std::vector<std::vector<NodeId>> consumers = graph.Consumers();
  PostOpPlan result;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (!IsLinear(node) || plan.forms[n] != NodeForm::kInteger) continue;
    const ValueId y = node.outputs[0];
    const auto& readers = consumers[y.index()];
    const bool quantized = std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return plan.forms[reader.index()] == NodeForm::kInteger;
    });
    if (!quantized || readers.empty() || graph.IsOutput(y)) result.of[n] = {{}, y, {}, true};
  }
  return result;
}

}  // namespace rshift
