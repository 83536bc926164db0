// model_tool support: what Rshift makes of every node of an ONNX model, before any work is done.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/tool_commands.h"

namespace rshift {

int SupportCommand(const std::string& model, const ImportOptions& options, bool json) {
  const std::vector<NodeSupport> nodes = CheckSupport(model, options);
  int unsupported = 0;
  nlohmann::json rows = nlohmann::json::array();
  for (const NodeSupport& n : nodes) {
    unsupported += !n.supported;
    const char* status = !n.supported ? "unsupported" : n.folded ? "folded" : "supported";
    if (json) {
      rows.push_back({{"node", n.node}, {"op", n.op}, {"status", status}, {"reason", n.reason}, {"advice", n.advice}});
      continue;
    }
    std::printf("%-12s %-24s %s", status, n.op.c_str(), n.node.c_str());
    if (!n.reason.empty()) std::printf(": %s; %s", n.reason.c_str(), n.advice.c_str());
    std::printf("\n");
  }
  if (json) {
    std::printf("%s\n", nlohmann::json{{"model", model}, {"unsupported", unsupported}, {"nodes", rows}}.dump().c_str());
  } else {
    std::printf("%zu nodes, %d unsupported\n", nodes.size(), unsupported);
  }
  if (unsupported == 0) return 0;
  std::fprintf(stderr, "error: %s: %d of %zu nodes are unsupported\n", model.c_str(), unsupported, nodes.size());
  return 1;
}

}  // namespace rshift
