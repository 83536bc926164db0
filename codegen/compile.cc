#include "codegen/compile.h"

#include <variant>

#include "codegen/container/output_cuts.h"
#include "codegen/lowering/lowering.h"
#include "codegen/passes/planar_ends.h"
#include "codegen/passes/scale_planes.h"
#include "codegen/passes/split_channel_scales.h"

namespace rshift {

namespace {

int64_t MemoryAxis(const Graph& graph, const OutputCut& cut) {
  constexpr int64_t kNhwcPlaces[] = {0, 3, 1, 2};  // of batch, channels, rows, columns
  const Value& value = graph.value(graph.outputs[static_cast<size_t>(cut.output)]);
  return value.layout == Layout::kNhwc ? kNhwcPlaces[cut.axis] : cut.axis;
}

}  // namespace

ProgramImage Compile(const Graph& given, const CompileOptions& options) {
  given.Check();
  const bool free_values = options.fuse && !options.observable;
  const Graph split = SplitChannelScales(given);
  const Graph graph = free_values ? ScalePlanes(PlanarEnds(split)) : split;
  LoweringContext context(graph, options);
  for (const Node& node : graph.nodes()) {
    std::visit([&](const auto& op) { lowering::Lower(context, node, op); }, node.op);
  }
  ProgramImage image = context.Finish();
  image.meta = options.meta;
  std::vector<ProgramCut> cuts;
  for (const OutputCut& cut : graph.output_cuts) {
    cuts.push_back({cut.output, cut.count, MemoryAxis(graph, cut)});
  }
  if (!cuts.empty()) image.meta[kOutputCutsKey] = OutputCutsText(cuts);
  return image;
}

}  // namespace rshift
