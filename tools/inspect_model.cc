// model_tool support: what Rshift makes of every node of an ONNX model, before any work is done.
#include <cstdio>
#include <map>
#include <optional>

#include "base/error.h"
#include "graph/passes/passes.h"
#include "graph/passes/split_fake_quantize.h"
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

Fates PlanFates(const Graph& graph) {
  const QuantizationPlan plan = MakePlan(graph, QuantizeConfig{});
  Fates fates;
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    Fate fate;
    switch (plan.forms[n]) {
      case NodeForm::kInteger:
        fate.status = "integer";
        break;
      case NodeForm::kFloat:
        fate = {"F32", plan.reasons[n]};
        break;
      case NodeForm::kOther:
        fate.status = "copied";
        break;
    }
    fates[graph.nodes()[n].name] = fate;
  }
  return fates;
}

// None while shapes are open: `why` then says so.
std::optional<Fates> FindFates(const std::string& model, const ImportOptions& options,
                               std::string& why) {
  try {
    return PlanFates(RunPasses(SplitFakeQuantize(ImportOnnx(model, options), {}).graph));
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

Fate FateOf(const NodeSupport& node, const std::optional<Fates>& fates) {
  if (!node.supported) return {"unsupported", node.reason + "; " + node.advice};
  if (node.folded) return {"folded", ""};
  if (!fates) return {"supported", ""};
  const auto at = fates->find(node.node);
  return at == fates->end() ? Fate{"fused", ""} : at->second;
}

}  // namespace

int SupportCommand(const std::string& model, const ImportOptions& options, bool json) {
  const std::vector<NodeSupport> nodes = CheckSupport(model, options);
  std::map<std::string, int> counts = {{"unsupported", 0}};
  for (const NodeSupport& n : nodes) counts["unsupported"] += !n.supported;
  const int unsupported = counts["unsupported"];
  std::string why;
  std::optional<Fates> fates;
  if (unsupported == 0) fates = FindFates(model, options, why);
  nlohmann::json rows = nlohmann::json::array();
  for (const NodeSupport& n : nodes) {
    const Fate fate = FateOf(n, fates);
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
    PrintJson(
        {{"model", model}, {"unsupported", unsupported}, {"counts", counts}, {"nodes", rows}});
  } else {
    std::fputs(Count(nodes.size(), "node").c_str(), stdout);
    for (const auto& [status, count] : counts) std::printf(", %d %s", count, status.c_str());
    std::printf("\n");
    if (!why.empty()) std::printf("integer or F32 is not known yet: %s\n", why.c_str());
  }
  if (unsupported == 0) return 0;
  std::fprintf(stderr, "error: %s: %d of %s %s unsupported\n", model.c_str(), unsupported,
               Count(nodes.size(), "node").c_str(), unsupported == 1 ? "is" : "are");
  return 1;
}

}  // namespace rshift
