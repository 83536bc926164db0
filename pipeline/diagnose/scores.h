// Scores that a detector or a classifier gives, beside those of the float program.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_SCORES_H_
#define RSHIFT_PIPELINE_DIAGNOSE_SCORES_H_

#include <vector>

#include "pipeline/diagnose/facts.h"
#include "pipeline/output_compare.h"

namespace rshift {

// One for each output that has scores. A channel is an index of the shorter of the last two
// dimensions: the other counts boxes. Both from the same samples.
std::vector<ScoreFacts> DescribeScores(const std::vector<OutputValues>& integer,
                                       const std::vector<OutputValues>& floating);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_SCORES_H_
