#include "codegen/compile.h"

#include <variant>

#include "codegen/lowering/lowering.h"

namespace rshift {

ProgramImage Compile(const Graph& graph, const CompileOptions& options) {
  graph.Check();
  LoweringContext context(graph, options);
  for (const Node& node : graph.nodes()) {
    std::visit([&](const auto& op) { lowering::Lower(context, node, op); }, node.op);
  }
  ProgramImage image = context.Finish();
  image.meta = options.meta;
  return image;
}

}  // namespace rshift
