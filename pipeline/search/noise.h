// What each group loses, and what of that reaches the outputs, from one pass of the integer program
// beside the float one.
#ifndef RSHIFT_PIPELINE_SEARCH_NOISE_H_
#define RSHIFT_PIPELINE_SEARCH_NOISE_H_

#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "pipeline/search/groups.h"

namespace rshift {

// For each group the noise of the outputs, as a share of their power, that its own commands are the
// cause of.
//
// Of every tensor the pass gives the noise it has behind everything before it, and the noise that
// its command alone makes (layer_compare.h). What the former is more than the latter has come
// through the command: that and the noise of what it reads give its gain. The gains from a tensor
// to the outputs, multiplied along every way and summed over the ways, say what a unit of noise in
// it becomes. So one pass does for all groups what a run for each of them would measure.
std::vector<double> MeasureNoise(const Graph& floating, const Graph& integer,
                                 const std::vector<OperatorGroup>& groups, const Dataset& samples);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_NOISE_H_
