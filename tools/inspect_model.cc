// model_tool support: what Rshift makes of every node of a model, before any work is done.
#include <cstdio>
#include <map>
#include <optional>

#include "base/error.h"
#include "graph/passes/passes.h"
#include "pipeline/model_integers.h"
#include "quantize/ops/ops.h"
#include "quantize/plan.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

struct Fate {
  std::string status;
  std::string reason;  // why a node runs in F32
};

// What becomes of the nodes that are left after the passes in an integer program, by name.
using Fates = std::map<std::string, Fate>;

struct Forecast {
  Fates fates;
  int64_t macs = 0, integer_macs = 0;
};

// Multiply-accumulates of convolutions and matrix products, the model's own.
int64_t MacsOf(const Graph& graph, const Node& node) {
  const auto shape = [&](size_t i) -> const Shape& { return graph.value(node.inputs[i]).shape; };
  const int64_t outputs = NumElements(graph.value(node.outputs[0]).shape);
  if (std::holds_alternative<MatMul>(node.op) || std::holds_alternative<DynamicMatMul>(node.op))
    return outputs * shape(0).back();
  const bool transposed = std::holds_alternative<ConvTranspose>(node.op);
  if (!transposed && !std::holds_alternative<Conv>(node.op) &&
      !std::holds_alternative<DynamicConv>(node.op))
    return 0;
  const Shape& weights = shape(1);  // [OC, IC / groups, KH, KW], transposed [IC, OC / groups, ...]
  return (transposed ? NumElements(shape(0)) : outputs) *
         NumElements(Shape(weights.begin() + 1, weights.end()));
}

Forecast Foresee(const Graph& graph, const Profile& profile) {
  const QuantizationPlan plan = MakePlan(graph, QuantizeConfig{}, profile);
  Forecast forecast;
  Fates& fates = forecast.fates;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    Fate fate;
    const bool integer = plan.forms[n] == NodeForm::kInteger || IsDynamic(graph.nodes()[n].op);
    switch (plan.forms[n]) {
      case NodeForm::kInteger:
        fate.status = "integer";
        break;
      case NodeForm::kFloat:
        fate = {"F32", plan.reasons[n]};
        break;
      case NodeForm::kOther:
        fate.status = integer ? "integer" : "copied";
        break;
    }
    const int64_t macs = MacsOf(graph, graph.nodes()[n]);
    forecast.macs += macs;
    if (integer) forecast.integer_macs += macs;
    fates[graph.nodes()[n].name] = fate;
  }
  return forecast;
}

// None while shapes are open: `why` then says so.
std::optional<Forecast> Foresee(const std::string& model, const ImportOptions& options,
                                const Profile& profile, std::string& why) {
  try {
    return Foresee(RunPasses(TakeModelIntegers(ImportOnnx(model, options), profile).graph),
                   profile);
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

Fate FateOf(const NodeSupport& node, const std::optional<Forecast>& forecast) {
  if (!node.supported) return {"unsupported", node.reason + "; " + node.advice};
  if (node.folded) return {"folded", ""};
  if (!forecast) return {"supported", ""};
  const auto at = forecast->fates.find(node.node);
  return at == forecast->fates.end() ? Fate{"fused", ""} : at->second;
}

double IntegerShare(const Forecast& forecast) {
  if (forecast.macs == 0) return 0;
  return static_cast<double>(forecast.integer_macs) / static_cast<double>(forecast.macs);
}

}  // namespace

int SupportCommand(const std::string& model, const ImportOptions& options, const Profile& profile,
                   bool json) {
  const std::vector<NodeSupport> nodes = CheckSupport(model, options);
  std::map<std::string, int> counts = {{"unsupported", 0}};
  for (const NodeSupport& n : nodes) counts["unsupported"] += !n.supported;
  const int unsupported = counts["unsupported"];
  std::string why;
  std::optional<Forecast> forecast;
  if (unsupported == 0) forecast = Foresee(model, options, profile, why);
  nlohmann::json rows = nlohmann::json::array();
  for (const NodeSupport& n : nodes) {
    const Fate fate = FateOf(n, forecast);
    if (n.supported) ++counts[fate.status];
    if (json) {
      rows.push_back({{"node", n.node},
                      {"op", n.op},
                      {"status", fate.status},
                      {"reason", n.supported ? fate.reason : n.reason},
                      {"advice", n.advice}});
      continue;
    }
    std::printf("%-12s ", fate.status.c_str());
    const std::string blanks(n.op.size() < 24 ? 24 - n.op.size() : 0, ' ');
    PrintText(Cat(n.op, blanks, " ", n.node, fate.reason.empty() ? "" : ": ", fate.reason, "\n"));
  }
  if (json) {
    nlohmann::json text = {
        {"model", model}, {"unsupported", unsupported}, {"counts", counts}, {"nodes", rows}};
    text["profile"] = Name(profile.id);
    if (forecast) {
      text["macs"] = forecast->macs;
      text["integer_macs"] = forecast->integer_macs;
      text["integer_share"] = IntegerShare(*forecast);
    }
    PrintJson(text);
  } else {
    std::fputs(Count(nodes.size(), "node").c_str(), stdout);
    for (const auto& [status, count] : counts) std::printf(", %d %s", count, status.c_str());
    std::printf("\n");
    if (forecast && forecast->macs > 0) {
      std::printf("integer program, profile %s: %.1f %% of %lld multiply-accumulates in integers\n",
                  Name(profile.id), 100 * IntegerShare(*forecast),
                  static_cast<long long>(forecast->macs));
    }
    if (!why.empty()) std::printf("integer or F32 is not known yet: %s\n", why.c_str());
  }
  if (unsupported == 0) return 0;
  std::fprintf(stderr, "error: %s: %d of %s %s unsupported\n", model.c_str(), unsupported,
               Count(nodes.size(), "node").c_str(), unsupported == 1 ? "is" : "are");
  return 1;
}

}  // namespace rshift
