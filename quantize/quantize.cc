#include "quantize/quantize.h"

#include <set>
#include <utility>

#include "base/error.h"
#include "graph/passes/passes.h"
#include "quantize/emitter.h"
#include "quantize/encodable.h"
#include "quantize/ops/channel_affine.h"
#include "quantize/ops/fuse_post_ops.h"
#include "quantize/ops/ops.h"
#include "quantize/overrides.h"
#include "quantize/plan.h"
#include "quantize/qdq.h"
#include "quantize/sensitive.h"

namespace rshift {
namespace {

void CheckTable(const Graph& graph, const CalibrationTable& table) {
  RSHIFT_REQUIRE(
      table.model_sha256.empty() || graph.sha256.empty() || table.model_sha256 == graph.sha256,
      ErrorCode::kInvalidInput, "the calibration table is of another model: its model_sha256 is ",
      table.model_sha256, ", the model's is ", graph.sha256, "; calibrate this model");
  RSHIFT_REQUIRE(table.pass_list_version == 0 || table.pass_list_version == kPassListVersion,
                 ErrorCode::kInvalidInput, "the calibration table was made with version ",
                 table.pass_list_version, " of the graph passes, expected ", kPassListVersion,
                 "; calibrate again");
}

void EmitFloat(Emitter& emitter, const Node& node, const QuantizationPlan& plan, size_t n) {
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) inputs.push_back(id.valid() ? emitter.Float(id) : id);
  const ValueId y = emitter.DefineFloat(node.outputs[0]);
  emitter.AddNode(node.name, node.op, std::move(inputs), y);
  if (plan.forms[n] == NodeForm::kFloat) {
    emitter.report().float_nodes.push_back({node.name, OpName(node.op), plan.reasons[n]});
  }
}

std::vector<std::string> FloatTensors(const Graph& graph, const QuantizationPlan& plan) {
  std::vector<std::string> names;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    if (plan.forms[n] == NodeForm::kInteger) continue;
    names.push_back(graph.value(graph.nodes()[n].outputs[0]).name);
  }
  return names;
}

void CheckProfile(const Profile& profile) {
  const std::string variants = VariantNames(profile.id);
  RSHIFT_REQUIRE(HasVariant(profile.id, profile.variant), ErrorCode::kInvalidInput, "variant ",
                 Name(profile.variant), " with profile ", Name(profile.id),
                 variants.empty() ? ": it has no variants; leave --variant out"
                                  : ": its variants are " + variants);
  ArithmeticOf(profile);  // throws for a profile that this build does not have
}

QuantizeResult EmitGraph(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                         PostOpPlan post_ops, const QuantizeOptions& options) {
  Emitter emitter(graph, types, options);
  for (auto& [n, fused] : post_ops.of) emitter.SetPostOps(graph.nodes()[n], std::move(fused));
  const ChannelAffines affines = FindChannelAffines(graph, plan, options);
  std::set<size_t> elsewhere;
  for (const auto& [at, n] : post_ops.written_at) elsewhere.insert(n);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    if (const auto conv = post_ops.written_at.find(n); conv != post_ops.written_at.end()) {
      EmitInteger(emitter, graph.nodes()[conv->second]);
    }
    const Node& node = graph.nodes()[n];
    if (elsewhere.contains(n) || post_ops.taken.contains(n) || affines.taken.contains(n)) continue;
    if (const auto affine = affines.of.find(n); affine != affines.of.end()) {
      EmitChannelAffine(emitter, node, affine->second);
      continue;
    }
    if (plan.forms[n] != NodeForm::kInteger) {
      EmitFloat(emitter, node, plan, n);
    } else if (std::holds_alternative<Quantize>(node.op)) {
      EmitModelQuantize(emitter, node);
    } else if (std::holds_alternative<Dequantize>(node.op)) {
      EmitModelDequantize(emitter, node);
    } else {
      EmitInteger(emitter, node);
    }
  }
  QuantizeResult result = emitter.Finish();
  CheckEncodable(result.graph);
  result.mode = options.mode;
  return result;
}

QuantizeResult QuantizeByModel(const Graph& graph, const CalibrationTable& table,
                               QuantizeOptions options) {
  RSHIFT_REQUIRE(
      table.tensors.empty(), ErrorCode::kInvalidInput,
      "the model holds its own quantization parameters; leave the calibration table out");
  CheckQdqConfig(graph, options.config);
  options.mode = ModeOfTypes(graph, options);
  QdqPlan plan = PlanQdq(graph, options.config, options.profile);
  PostOpPlan post_ops = FindPostOps(graph, plan.plan, plan.types, ArithmeticOf(options.profile));
  plan.post_ops.of.merge(post_ops.of);
  plan.post_ops.taken.merge(post_ops.taken);
  QuantizeResult result =
      EmitGraph(graph, plan.plan, plan.types, std::move(plan.post_ops), options);
  result.report.type_sources = std::move(plan.sources);
  return result;
}

QuantizeResult QuantizeByTable(const Graph& graph, const CalibrationTable& table,
                               const QuantizeOptions& options) {
  CheckTable(graph, table);
  const QuantizationPlan plan = MakePlan(graph, options.config, options.profile, table);
  RangeOptions range_options{options.mode, FixedRanges(graph, table, options.config, options.mode),
                             FloatTensors(graph, plan)};
  RangeResult ranges = PropagateRanges(graph, table, range_options);
  const ValueTypes types = TypesOfRanges(ranges, options);
  QuantizeResult result = EmitGraph(
      graph, plan, types, FindPostOps(graph, plan, types, ArithmeticOf(options.profile)), options);
  result.report.notes = FindSensitive(graph, plan, types, table);
  result.report.range_changes = std::move(ranges.changes);
  return result;
}

}  // namespace

QuantizeResult QuantizeGraph(const Graph& graph, const CalibrationTable& table,
                             const QuantizeOptions& options) {
  CheckProfile(options.profile);
  CheckLayers(graph, options.config);
  if (HoldsQuantization(graph)) return QuantizeByModel(graph, table, options);
  return QuantizeByTable(graph, table, options);
}

}  // namespace rshift
