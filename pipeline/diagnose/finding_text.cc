#include "pipeline/diagnose/finding_text.h"

#include <cstdio>

#include "base/error.h"

namespace rshift {

std::string Figure(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

std::string PercentText(double share) { return Figure(100 * share) + " %"; }

std::string WhereText(const TensorFacts& facts) {
  if (facts.op.empty()) return Cat("input '", facts.tensor, "'");
  return Cat("'", ModelName(facts.tensor), "' of ", facts.op, " '", facts.node, "'");
}

}  // namespace rshift
