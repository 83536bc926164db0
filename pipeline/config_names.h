// Names of a model that fusion has taken: where they went.
#ifndef RSHIFT_PIPELINE_CONFIG_NAMES_H_
#define RSHIFT_PIPELINE_CONFIG_NAMES_H_

#include <string>

#include "graph/graph.h"
#include "quantize/config.h"

namespace rshift {

// What became of a node or tensor of `imported` that `passed`, which RunPasses made of it, has no
// more: "is part of 'conv1' after fusion; name that, or its result 'relu1_out'". "" for a name that
// `passed` has, and for one that `imported` lacks.
std::string FateOfName(const Graph& imported, const Graph& passed, const std::string& name);

// Throws kInvalidInput for an entry that names, or a wildcard that matches, what `imported` has and
// `passed` has no more, with its fate. Entries that neither knows are left to QuantizeGraph, which
// lists the names that look like them.
void CheckFusedNames(const Graph& imported, const Graph& passed, const QuantizeConfig& config);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CONFIG_NAMES_H_
