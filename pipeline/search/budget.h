// What a search is asked to reach, and what it may spend.
#ifndef RSHIFT_PIPELINE_SEARCH_BUDGET_H_
#define RSHIFT_PIPELINE_SEARCH_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rshift {

struct SearchBudget {
  std::optional<double> cosine;         // of the outputs, the lowest; at least
  std::optional<double> top1;           // percent of what the float program has right; at least
  std::optional<double> boxes;          // of recall and precision, the lower; at least
  std::optional<int64_t> float_layers;  // left in F32; at most
  std::optional<int64_t> evaluations;   // at most
  // Whether it says what is good enough.
  bool has_aim() const { return cosine || top1 || boxes; }
};

// "cosine=0.999", "top1=99", "boxes=0.95", "float-layers=2", "time=40evaluations", each once at
// most. Throws kInvalidInput naming the one that is none of these.
SearchBudget ParseBudget(const std::vector<std::string>& texts);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_BUDGET_H_
