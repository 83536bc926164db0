// Whether a deployed program is any good, in one line: a few samples through the float and the
// integer program, and what to try when the outputs differ too much.
#ifndef RSHIFT_PIPELINE_VERDICT_H_
#define RSHIFT_PIPELINE_VERDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "pipeline/box_agreement.h"
#include "pipeline/layer_compare.h"
#include "pipeline/output_compare.h"

namespace rshift {

enum class Grade {
  kNone,  // nothing was run
  // Quality() of 12 dB and more (cosine .97), and at most a quarter of the rows change their class,
  // ties apart.
  kGood,
  kDoubtful,  // between
  // Below 8 dB (cosine .92), a NaN, a constant, or half of the rows change their class.
  kBad,
};
const char* Name(Grade grade);

// Another way to deploy the same model, tried on the same samples.
struct Trial {
  std::string options;  // "--mode asymmetric"
  std::string recipe;   // what to do before that, "" when nothing: "calibrate with --method minmax"
  double quality_db = 0;
  double sqnr_db = 0;  // the lowest of its outputs; tells those apart that lose nothing
  Grade grade = Grade::kNone;
};

struct Verdict {
  std::string samples;   // "4 calibration samples", "1 test input"
  std::string why_none;  // of a verdict without samples
  Grade grade = Grade::kNone;
  std::vector<OutputResult> outputs;
  std::optional<BoxAgreement> boxes;  // of a program that ends in boxes
  std::vector<LayerResult> weakest;   // up to three, by what each loses alone
  std::vector<Trial> trials;          // only unless the grade is good; best first
  bool can_search = true;             // --auto could find more
  std::string next;                   // the advice that follows from the trials, "" when good
};

Grade Judge(const std::vector<OutputResult>& outputs);
// Of ten boxes and more: below .75 of recall or precision doubtful, below .5 bad.
Grade JudgeBoxes(const BoxAgreement& boxes);
// Tensors that a command computes, not only moves, ascending by the median channel alone.
std::vector<LayerResult> WeakestAlone(const std::vector<LayerResult>& layers);
// The `check:` line.
std::string CheckLine(const Verdict& verdict);
// The line for stderr, "" when there is nothing to warn of.
std::string WarningLine(const Verdict& verdict);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_VERDICT_H_
