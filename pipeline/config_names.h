// Names in --config that the model has and fusion has taken: where they went.
#ifndef RSHIFT_PIPELINE_CONFIG_NAMES_H_
#define RSHIFT_PIPELINE_CONFIG_NAMES_H_

#include "graph/graph.h"
#include "quantize/config.h"

namespace rshift {

// Throws kInvalidInput for an entry that names, or a wildcard that matches, what `imported` has and
// `passed`, which RunPasses made of it, has no more; it says which layer that is part of. Entries
// that neither knows are left to QuantizeGraph, which lists the names that look like them.
void CheckFusedNames(const Graph& imported, const Graph& passed, const QuantizeConfig& config);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CONFIG_NAMES_H_
