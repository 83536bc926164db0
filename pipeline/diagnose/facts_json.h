// What was measured, for scripts.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_FACTS_JSON_H_
#define RSHIFT_PIPELINE_DIAGNOSE_FACTS_JSON_H_

#include <nlohmann/json.hpp>

#include "pipeline/diagnose/facts.h"

namespace rshift {

// {"mode", "samples", "tensors": one entry for each in graph order (name, maker, values, range,
// what 8 bits cost it), "scores", "check"} and, where it was tried, "preprocessing".
nlohmann::json FactsJson(const DiagnoseFacts& facts);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_FACTS_JSON_H_
