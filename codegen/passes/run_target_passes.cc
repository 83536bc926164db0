#include "codegen/passes/merge_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/read_bytes.h"
#include "codegen/passes/repeat_channels.h"
#include "codegen/passes/subpixel_transpose.h"
#include "codegen/passes/unroll_width.h"

namespace rshift {

// What one pass has made is not what another looks for: unrolling comes before groups are merged
// into convolutions of one group, and the phases of a transposed convolution, which may be of 16
// bits, before bytes are read.
Graph RunTargetPasses(const Graph& graph, const Target& target) {
  if (!target.conv) return SubpixelTranspose(graph, target.conv);
  const ConvForms& forms = *target.conv;
  return ReadBytes(SubpixelTranspose(
      MergeGroups(RepeatChannels(UnrollWidth(graph, forms), forms), forms), forms));
}

}  // namespace rshift
