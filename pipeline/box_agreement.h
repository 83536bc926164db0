// Boxes of a detector: how many the integer program has in common with the float one.
#ifndef RSHIFT_PIPELINE_BOX_AGREEMENT_H_
#define RSHIFT_PIPELINE_BOX_AGREEMENT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "runtime/runtime.h"

namespace rshift {

// Outputs of a program that ends in boxes (docs/detectors.md), as indices of its outputs: of as
// many elements as there are boxes, [n, 4] and [n] of F32 and [n] of s64 or s32.
struct BoxOutputs {
  int boxes = 0, scores = 0, classes = 0;
};
// Nothing for a program that ends otherwise, or has several such outputs.
std::optional<BoxOutputs> FindBoxOutputs(const Program& program);

struct Box {
  std::array<float, 4> corners = {};  // left, top, right, bottom
  float score = 0;
  int64_t class_id = 0;
};
// Of the last run.
std::vector<Box> ReadBoxes(const Program& program, const Session& session,
                           const BoxOutputs& outputs);

// A recall and precision that are good enough where nothing else is asked for.
inline constexpr double kGoodBoxes = 0.95;

struct BoxAgreement {
  int64_t wanted = 0, found = 0;  // boxes of the float and of the integer program
  int64_t matched = 0;            // pairs of one of each
  // 1 where there are none.
  double recall() const;
  double precision() const;
  double least() const;  // the lower of both
  // Boxes of either program without a partner.
  int64_t unmatched() const { return wanted + found - 2 * matched; }
  void Add(const BoxAgreement& other);
  bool operator==(const BoxAgreement&) const = default;
};
// Partners have the same class and an intersection over union of 0.5 or more; the best scores
// choose first, each the partner that it overlaps most.
BoxAgreement MatchBoxes(const std::vector<Box>& found, const std::vector<Box>& wanted);

// "recall 0.952 (20 of 21 boxes), precision 0.909"
std::string BoxesText(const BoxAgreement& agreement);

// Both programs on every sample; nothing unless both end in boxes.
std::optional<BoxAgreement> CompareBoxes(const Program& integer, const Program& floating,
                                         const Dataset& samples, int threads);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_BOX_AGREEMENT_H_
