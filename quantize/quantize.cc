#include "quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/passes/passes.h"
#include "quantize/ascend_plan.h"
#include "quantize/emitter.h"
#include "quantize/encodable.h"
#include "quantize/int16_plan.h"
#include "quantize/ops/channel_affine.h"
#include "quantize/ops/function_chains.h"
#include "quantize/ops/function_scales.h"
#include "quantize/ops/fuse_post_ops.h"
#include "quantize/ops/fuse_slopes.h"
#include "quantize/ops/ops.h"
#include "quantize/ops/recurrent.h"
#include "quantize/overrides.h"
#include "quantize/plan.h"
#include "quantize/qdq.h"
#include "quantize/ranges/propagation_rules.h"
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

// Profile ascend: operators that give out numbers they are given (a Pad of 0 adds one that fp16
// has).
bool MovesNumbers(const Graph& graph, const Node& node) {
  const bool constants = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id.valid() && graph.value(id).is_constant() && graph.value(id).dtype == DType::kF32;
  });
  if (constants) return false;
  if (const auto* pad = std::get_if<Pad>(&node.op)) return pad->value == 0;
  return std::holds_alternative<MaxPool>(node.op) || std::holds_alternative<Concat>(node.op) ||
         MovesInput(graph, node);
}

void EmitFloat(Emitter& emitter, const Node& node, const QuantizationPlan& plan, size_t n) {
  const Graph& graph = emitter.old();
  std::vector<ValueId> inputs;
  const bool half =
      ArithmeticOf(emitter.options().profile).HalfResults() && plan.forms[n] == NodeForm::kFloat;
  if (half && MovesNumbers(graph, node)) {
    emitter.AddMoved(node);
    emitter.report().float_nodes.push_back({node.name, OpName(node.op), plan.reasons[n]});
    return;
  }
  for (ValueId id : node.inputs) {
    inputs.push_back(!id.valid() ? id : half ? emitter.HalfFloat(id) : emitter.Float(id));
  }
  if (half && graph.value(node.outputs[0]).dtype == DType::kF32) {
    emitter.AddHalfResult(node.name, node.op, std::move(inputs), node.outputs[0]);
  } else {
    const ValueId y = emitter.DefineFloat(node.outputs[0]);
    emitter.AddNode(node.name, node.op, std::move(inputs), y);
  }
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

// Profile ascend stores fp16 between its layers, which is a matter of the whole model; its entries
// of the configuration mean nothing to others.
void CheckProfiles(const Graph& graph, const QuantizeOptions& options) {
  if (options.config.empty()) return;
  const bool ascend = options.profile.id == ProfileId::kAscend;
  for (const Node& node : graph.nodes()) {
    const LayerConfig layer = LayerOf(graph, node, options.config);
    RSHIFT_REQUIRE(!ascend || !layer.profile, ErrorCode::kInvalidInput,
                   EntryPlace(options.config, layer), ": '", node.name,
                   "' has a profile of its own, and --profile ascend is for a whole model; leave "
                   "one of them out");
    const Profile profile = layer.profile.value_or(options.profile);
    RSHIFT_REQUIRE(profile.id == ProfileId::kOneDnn || layer.onednn.empty(),
                   ErrorCode::kInvalidInput, EntryPlace(options.config, layer), ": '", node.name,
                   "' has onednn attributes, which mean nothing under profile ", Name(profile.id),
                   "; give profile: onednn beside them");
    RSHIFT_REQUIRE(ascend || layer.ascend.empty(), ErrorCode::kInvalidInput,
                   EntryPlace(options.config, layer), ": '", node.name,
                   "' has ascend attributes, which mean nothing under profile ", Name(profile.id),
                   "; give --profile ascend");
  }
}

// Sums and products with constants that read or write 16 bits keep their own form.
void KeepInt16Sums(const Graph& graph, const ValueTypes& types, ChannelAffines* affines) {
  if (types.int16.empty()) return;
  const auto is = [&](ValueId id) { return types.int16[id.index()].quant.scale > 0; };
  for (auto it = affines->of.begin(); it != affines->of.end();) {
    const ChannelAffine& affine = it->second;
    const Node &first = graph.nodes()[it->first], &last = graph.nodes()[affine.last];
    if (!is(affine.x) && !is(first.outputs[0]) && !is(last.outputs[0])) {
      ++it;
      continue;
    }
    if (affine.last != it->first) affines->taken.erase(affine.last);
    it = affines->of.erase(it);
  }
}

QuantizeResult EmitGraph(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                         PostOpPlan post_ops, const QuantizeOptions& options,
                         const RecurrentCells& cells = {}, const FunctionChains& chains = {}) {
  Emitter emitter(graph, types, options);
  for (auto& [n, fused] : post_ops.of) emitter.SetPostOps(graph.nodes()[n], std::move(fused));
  RecurrentEmitter recurrent(emitter, cells);
  std::set<size_t> chained;
  for (const auto& [last, nodes] : chains.of) chained.insert(nodes.begin(), nodes.end());
  ChannelAffines affines = FindChannelAffines(graph, plan, options, chained);
  KeepInt16Sums(graph, types, &affines);
  std::set<size_t> elsewhere;
  for (const auto& [at, n] : post_ops.written_at) elsewhere.insert(n);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    if (const auto conv = post_ops.written_at.find(n); conv != post_ops.written_at.end()) {
      emitter.Begin(graph.nodes()[conv->second]);
      EmitInteger(emitter, graph.nodes()[conv->second]);
    }
    const Node& node = graph.nodes()[n];
    emitter.ReadBytes();
    if (recurrent.Emit(n)) continue;
    if (elsewhere.contains(n) || post_ops.taken.contains(n) || affines.taken.contains(n) ||
        chains.taken.contains(n))
      continue;
    if (const auto affine = affines.of.find(n); affine != affines.of.end()) {
      emitter.Begin(node);
      EmitChannelAffine(emitter, node, affine->second);
      continue;
    }
    if (plan.forms[n] != NodeForm::kInteger) {
      EmitFloat(emitter, node, plan, n);
      continue;
    }
    emitter.Begin(node);
    if (const auto chain = chains.of.find(n); chain != chains.of.end()) {
      EmitFunctionChain(emitter, chain->second);
    } else if (types.types[node.outputs[0].index()].channel_zeros != nullptr) {
      emitter.Alias(node.outputs[0], node.inputs[0]);  // its readers take the zero points off
    } else if (std::holds_alternative<Quantize>(node.op)) {
      EmitModelQuantize(emitter, node);
    } else if (std::holds_alternative<Dequantize>(node.op)) {
      EmitModelDequantize(emitter, node);
    } else {
      EmitInteger(emitter, node);
    }
  }
  recurrent.Finish();
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
  PostOpPlan post_ops = FindPostOps(graph, plan.plan, plan.types, options);
  plan.post_ops.of.merge(post_ops.of);
  plan.post_ops.taken.merge(post_ops.taken);
  TakePostOpsAsSlopes(graph, options, &plan.post_ops);
  QuantizeResult result =
      EmitGraph(graph, plan.plan, plan.types, std::move(plan.post_ops), options);
  result.report.type_sources = std::move(plan.sources);
  return result;
}

// Profile ascend: ranges concern only what its layers read, and may all be given.
QuantizeResult QuantizeForAscend(const Graph& graph, const CalibrationTable& table,
                                 const QuantizeOptions& options) {
  CheckTable(graph, table);
  const QuantizationPlan plan = MakePlan(graph, options.config, options.profile, table);
  const auto fixed = FixedRanges(graph, table, options.config, options.mode);
  ValueTypes types;
  if (!table.tensors.empty()) {
    const RangeOptions range_options{options.mode, fixed, FloatTensors(graph, plan)};
    types = TypesOfRanges(PropagateRanges(graph, table, range_options), options);
  } else {
    types.types.resize(graph.value_count());
    types.zero.resize(graph.value_count());
    types.names.resize(graph.value_count());
    for (const auto& [name, range] : fixed) {
      types.types[graph.FindValue(name).index()] =
          ArithmeticOf(options.profile).ActivationType(range, options.mode);
    }
  }
  SetAscendTypes(graph, plan, options.config, &types);
  return EmitGraph(graph, plan, types, FindHalfResults(graph, plan), options);
}

// Thresholds of 8 bits leave out what is rare; 16 bits have room for all that calibration saw.
CalibrationTable UnclippedTable(CalibrationTable table) {
  for (auto& [name, range] : table.tensors) {
    range.threshold = std::max(std::fabs(range.min), std::fabs(range.max));
    range.low = range.min;
    range.high = range.max;
  }
  return table;
}

// 16 bits are computed as profile tpu does: a node's own profile would be named and left out.
void CheckOwnProfiles(const Graph& graph, const QuantizationPlan& plan, const ValueTypes& types,
                      const QuantizeOptions& options) {
  const auto is_wide = [&](ValueId id) {
    return id.valid() && types.int16[static_cast<size_t>(id.index())].quant.scale > 0;
  };
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const Profile own = ProfileOf(graph, node, options.config, options.profile);
    if (own == options.profile || plan.forms[n] != NodeForm::kInteger || MovesInput(graph, node))
      continue;
    const bool wide =
        is_wide(node.outputs[0]) ||
        (types.reads_int16[n] && std::any_of(node.inputs.begin(), node.inputs.end(), is_wide));
    RSHIFT_REQUIRE(!wide, ErrorCode::kInvalidInput, "layer '", node.name, "' has profile ",
                   Name(own.id),
                   " by the configuration and reads or writes 16 bits, which profile tpu alone "
                   "computes; leave its profile out, or the 16 bits");
  }
}

QuantizeResult QuantizeByTable(const Graph& graph, const CalibrationTable& table,
                               const QuantizeOptions& options) {
  if (ArithmeticOf(options.profile).HalfResults()) return QuantizeForAscend(graph, table, options);
  CheckTable(graph, table);
  const QuantizationPlan plan =
      MakePlan(graph, options.config, options.profile, table, options.integer_inputs);
  RangeOptions range_options{options.mode, FixedRanges(graph, table, options.config, options.mode),
                             FloatTensors(graph, plan),
                             options.shift_negative && options.profile.id == ProfileId::kTpu};
  RangeResult ranges = PropagateRanges(graph, table, range_options);
  const RecurrentCells cells = FindRecurrentCells(graph, plan, options);
  ShareRecurrentRanges(graph, cells, range_options.fixed, &ranges);
  ValueTypes types = TypesOfRanges(ranges, options);
  PostOpPlan post_ops = FindPostOps(graph, plan, types, options);
  std::set<size_t> bound(post_ops.taken.begin(), post_ops.taken.end());
  std::map<size_t, ValueId> products;  // those with a factor
  for (const auto& [n, fused] : post_ops.of) {
    if (!std::holds_alternative<MatMul>(graph.nodes()[n].op)) {
      bound.insert(n);
    } else {
      products.emplace(n, fused.y);
    }
  }
  QuantizeReport int16_report;
  if (AsksForInt16(options)) {
    RangeResult open = PropagateRanges(graph, UnclippedTable(table), range_options);
    ShareRecurrentRanges(graph, cells, range_options.fixed, &open);
    PlanInt16(graph, plan, open, options, cells, bound, products, &types, &int16_report);
    CheckOwnProfiles(graph, plan, types, options);
  }
  FindSlopes(graph, plan, types, options, NodesOf(cells), &post_ops);
  std::set<size_t> others = NodesOf(cells);
  others.insert(post_ops.taken.begin(), post_ops.taken.end());
  std::set<std::string> given;
  for (const auto& [name, range] : range_options.fixed) given.insert(name);
  const FunctionChains chains = FindFunctionChains(graph, plan, options, others, given);
  FindFunctionScales(graph, plan, options, NodesOf(cells), range_options.fixed, chains, &types,
                     &post_ops);
  QuantizeResult result =
      EmitGraph(graph, plan, types, std::move(post_ops), options, cells, chains);
  // Only the first of a chain reads bytes.
  std::set<size_t> unread = NodesOf(cells);
  for (const auto& [last, nodes] : chains.of) unread.insert(nodes.begin() + 1, nodes.end());
  result.report.notes = FindSensitive(graph, plan, types, table, unread);
  result.report.notes.insert(result.report.notes.end(), int16_report.notes.begin(),
                             int16_report.notes.end());
  result.report.range_changes = std::move(ranges.changes);
  return result;
}

}  // namespace

QuantizeResult QuantizeGraph(const Graph& graph, const CalibrationTable& table,
                             const QuantizeOptions& options) {
  CheckProfile(options.profile);
  CheckLayers(graph, options.config);
  CheckProfiles(graph, options);
  CheckInt16(graph, options);
  if (HoldsQuantization(graph)) return QuantizeByModel(graph, table, options);
  return QuantizeByTable(graph, table, options);
}

}  // namespace rshift
