// What each group loses, and what of that reaches the outputs, from one pass of the integer program
// beside the float one.
#ifndef RSHIFT_PIPELINE_SEARCH_NOISE_H_
#define RSHIFT_PIPELINE_SEARCH_NOISE_H_

#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/search/groups.h"

namespace rshift {

// Noise of the tensor that each node makes, as a share of its power: two numbers for each node of
// `floating`, in order. Behind everything before it, and what its command alone makes
// (layer_compare.h); -1 where the integer program has no such tensor.
std::vector<double> MeasureNoise(const Graph& floating, const Graph& integer,
                                 const Dataset& samples);

// For each group the noise of the outputs, as a share of their power, that its own commands are the
// cause of.
//
// What a tensor's noise is more than that of its command alone has come through the command: that
// and the noise of what it reads give its gain. The gains from a tensor to the outputs, multiplied
// along every way and summed over the ways, say what a unit of noise in it becomes. So one pass
// does for all groups what a run for each of them would measure. `alone` is the pass whose own
// noise counts, `gains` the one whose gains are taken: those of a program in which noise is small,
// for a tensor that is nothing but noise gets no worse.
std::vector<double> NoiseOfGroups(const Graph& floating, const std::vector<OperatorGroup>& groups,
                                  const std::vector<double>& alone,
                                  const std::vector<double>& gains);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_NOISE_H_
