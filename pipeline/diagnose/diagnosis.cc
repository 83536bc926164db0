#include "pipeline/diagnose/diagnosis.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "pipeline/diagnose/facts_json.h"
#include "pipeline/plural.h"

namespace rshift {
namespace {

constexpr size_t kShown = 3;  // findings of one rule

std::string OneRule(size_t number, const RuleFindings& found) {
  const Rule& rule = *found.rule;
  std::string text = Cat(number, ". ", rule.name, ": ", rule.trigger, "\n");
  for (size_t i = 0; i < std::min(kShown, found.findings.size()); ++i)
    text += Cat("   ", found.findings[i].where, ": ", found.findings[i].figure, "\n");
  if (found.findings.size() > kShown)
    text += Cat("   and ", found.findings.size() - kShown, " more (--json has all)\n");
  text += Cat("   remedy: ", rule.remedy, "\n");
  const std::string& command = found.findings[0].command;
  return command.empty() ? text : text + Cat("   try: ", command, "\n");
}

}  // namespace

std::vector<RuleFindings> ApplyRules(const DiagnoseFacts& facts, const DiagnoseCommands& commands) {
  std::vector<RuleFindings> all;
  for (const Rule& rule : DiagnoseRules()) {
    if (rule.symptom && !all.empty()) continue;
    std::vector<Finding> findings = rule.find(facts, commands);
    if (!findings.empty()) all.push_back({&rule, std::move(findings)});
  }
  return all;
}

bool PreprocessingJudged(const DiagnoseFacts& facts) {
  return facts.preprocess &&
         (facts.preprocess->labels || (!facts.preprocess->variants.empty() &&
                                       facts.preprocess->variants[0].norm_distance.has_value()));
}

std::string DiagnosisText(const DiagnoseFacts& facts, const std::vector<RuleFindings>& found) {
  const std::string seen = facts.bad_weights.empty()
                               ? Cat(Count(facts.samples.size(), "sample"), ", ",
                                     Count(facts.tensors.size(), "tensor"), ", ", facts.mode)
                               : "the weights alone";
  const std::string open =
      facts.bad_weights.empty() && !PreprocessingJudged(facts)
          ? Cat("whether the preprocessing is right was not judged: ",
                facts.preprocess ? "give --labels" : "no --preprocess of pictures is given")
          : "";
  if (found.empty()) {
    return Cat("nothing found: ", Count(DiagnoseRules().size(), "rule"), ", ", seen,
               open.empty() ? "" : "; " + open, "\n");
  }
  std::string text = Cat("found by ", Count(found.size(), "rule"), " (", seen, "):\n");
  for (size_t i = 0; i < found.size(); ++i) text += OneRule(i + 1, found[i]);
  return open.empty() ? text : text + open + "\n";
}

nlohmann::json DiagnosisJson(const DiagnoseFacts& facts, const std::vector<RuleFindings>& found) {
  nlohmann::json findings = nlohmann::json::array();
  for (const RuleFindings& of_rule : found) {
    for (const Finding& finding : of_rule.findings) {
      findings.push_back({{"rule", of_rule.rule->name},
                          {"trigger", of_rule.rule->trigger},
                          {"where", finding.where},
                          {"tensor", finding.tensor},
                          {"figure", finding.figure},
                          {"limit", of_rule.rule->limit},
                          {"remedy", of_rule.rule->remedy},
                          {"command", finding.command}});
    }
  }
  nlohmann::json result = FactsJson(facts);
  result["healthy"] = found.empty();
  result["preprocessing_judged"] = PreprocessingJudged(facts);
  result["findings"] = std::move(findings);
  return result;
}

std::string RulesText() {
  std::string text = "| rule | looks for | limit | remedy |\n|---|---|---|---|\n";
  for (const Rule& rule : DiagnoseRules()) {
    text +=
        Cat("| `", rule.name, "` | ", rule.trigger, " | ", rule.limit, " | ", rule.remedy, " |\n");
  }
  return text;
}

nlohmann::json RulesJson() {
  nlohmann::json rules = nlohmann::json::array();
  for (const Rule& rule : DiagnoseRules()) {
    rules.push_back({{"rule", rule.name},
                     {"trigger", rule.trigger},
                     {"limit", rule.limit},
                     {"remedy", rule.remedy}});
  }
  return {{"rules", rules}};
}

}  // namespace rshift
