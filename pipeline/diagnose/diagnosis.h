// All rules over the facts of one model, and what they found as text and JSON.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_DIAGNOSIS_H_
#define RSHIFT_PIPELINE_DIAGNOSE_DIAGNOSIS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/diagnose/facts.h"
#include "pipeline/diagnose/rules.h"

namespace rshift {

struct RuleFindings {
  const Rule* rule = nullptr;
  std::vector<Finding> findings;  // never empty
};

// In the order of DiagnoseRules; rules that found nothing are left out, and symptoms behind a
// cause.
std::vector<RuleFindings> ApplyRules(const DiagnoseFacts& facts, const DiagnoseCommands& commands);

// Whether anything could say that the preprocessing is wrong: labels, or a BatchNorm behind the
// first Conv.
bool PreprocessingJudged(const DiagnoseFacts& facts);

// For people: of each rule the first findings and how many more there are; one line where there is
// none.
std::string DiagnosisText(const DiagnoseFacts& facts, const std::vector<RuleFindings>& found);
// {"healthy", "preprocessing_judged", "mode", "samples", "findings": [{rule, trigger, where,
// tensor, figure, limit, remedy, command}], "preprocessing", "scores", "check", "tensors"}.
nlohmann::json DiagnosisJson(const DiagnoseFacts& facts, const std::vector<RuleFindings>& found);

// The table of docs/diagnose.md.
std::string RulesText();
nlohmann::json RulesJson();

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_DIAGNOSIS_H_
