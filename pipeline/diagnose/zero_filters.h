// Filters that hold nothing.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_ZERO_FILTERS_H_
#define RSHIFT_PIPELINE_DIAGNOSE_ZERO_FILTERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// By the tensor that a product makes: output channels whose weights and bias are all exactly zero.
// Training does not end there: a channel that dies keeps a bias, or a rest of its weights. Products
// without a bias are left out: the filters of a Fourier transform have a zero one.
std::map<std::string, std::vector<int64_t>> FindZeroFilters(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_ZERO_FILTERS_H_
