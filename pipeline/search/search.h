// Which types and methods make a model's integer program good enough for the least time:
// docs/auto.md.
#ifndef RSHIFT_PIPELINE_SEARCH_SEARCH_H_
#define RSHIFT_PIPELINE_SEARCH_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interop/model_names.h"
#include "pipeline/search/budget.h"
#include "pipeline/search/candidate.h"
#include "pipeline/search/search_figures.h"

namespace rshift {

struct SearchInput;

struct SearchResult {
  Candidate candidate;
  QuantizeConfig config;  // only what the search adds
  SearchReport report;
};

// Deterministic: no clock, no chance; threads change nothing.
SearchResult Search(const SearchInput& input, const SearchBudget& budget);

// The text of a --config file: that of `config_text` ("" for none) and what the search has chosen.
std::string SearchConfigText(const SearchReport& report, const std::string& config_text);
// A quantization table of TPU-MLIR, which knows no 16-bit integers: F16 where the search has them.
// `names`: of the model's file; tensors that no operator of it makes are left out.
std::string SearchQtable(const SearchReport& report, const ModelNames& names);
// The lines model_deploy prints.
std::string SearchText(const SearchReport& report);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_SEARCH_H_
