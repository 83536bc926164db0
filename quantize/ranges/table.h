// The calibration table: per tensor, what was observed and where the methods clip it. Text (YAML),
// strict.
#ifndef RSHIFT_QUANTIZE_RANGES_TABLE_H_
#define RSHIFT_QUANTIZE_RANGES_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "quantize/ranges/equalization.h"
#include "quantize/ranges/recorded_sample.h"

namespace rshift {

// What a range does to the values that were seen, by their histogram.
struct RangeEffect {
  float clipped = 0;  // share of the elements that lie beyond it
  float sqnr_db = 0;  // of them in 8 bits: sum x^2 / sum of squared errors; 200: nothing is lost
};

// As the method of a range: the bounds of the function that makes the tensor, min and max too
// (known_bounds.h).
inline constexpr std::string_view kKnownMethod = "known";

// All in real units. min/max: observed over all samples. threshold: symmetric clip, range
// [-threshold, threshold] or [0, threshold] for tensors that are never negative. low/high:
// asymmetric clip, low <= 0 <= high is NOT guaranteed here (quantization extends it). All before
// propagation.
struct TensorRange {
  float min = 0, max = 0;
  float threshold = 0;
  float low = 0, high = 0;
  std::string method;       // "kl", kKnownMethod, ...
  uint64_t infinities = 0;  // of masks: left out of all the above
  // Of threshold and of low and high; none in old tables, and in those of other tools.
  std::optional<RangeEffect> symmetric = {}, asymmetric = {};
  std::string reason = {};  // why the range is as it is, for people; "": nothing is known of it
  std::string min_sample = {}, max_sample = {};  // where they were seen; "": nobody knows
};

struct CalibrationTable {
  std::string model_sha256;
  std::string method;  // as asked for: "kl", "percentile 99.99"
  int64_t samples = 0;
  std::string samples_sha256;  // of the samples' content, in order of their hashes
  std::vector<std::string> sample_names;
  std::vector<RecordedSample> check_samples;  // a few, lowest hashes first; none in old tables
  std::string preprocess;                     // YAML text of the preprocessing file, "" when none
  // What the user said of inputs whose shape the model leaves open, in the model's order of
  // dimensions.
  std::map<std::string, Shape> input_shapes;
  int pass_list_version = 0;
  std::map<std::string, std::string> environment;  // cpu, onednn, ...
  // The model was measured so, and is deployed so: ranges below are of the scaled tensors.
  Equalization equalization;
  std::vector<std::pair<std::string, TensorRange>> tensors;  // in graph order
  // What differs in the model as it is, by the model's names: tensors that are scaled, and (omse)
  // what functions read of which only the result is. None in tables of before.
  std::vector<std::pair<std::string, TensorRange>> unequalized;
  // Scaled beside those where the integer programs gain by it, which model_deploy measures; the
  // ranges of these tensors scaled, by the names of scaled tensors.
  Equalization trial;
  std::vector<std::pair<std::string, TensorRange>> trial_tensors;

  const TensorRange* Find(const std::string& tensor) const;
};

// The table of the model as it is: that of `--equalize off`, but for the ranges that --method auto
// has chosen, which it judges by the equalized program. Throws kInvalidInput, `where` in front, for
// a table that says nothing of scaled tensors.
CalibrationTable WithoutEqualization(CalibrationTable table, const std::string& where);

// The table of the model with all that is to be tried.
CalibrationTable WithTrial(CalibrationTable table);

// Byte-for-byte reproducible. Floats are written so that they read back exactly.
std::string WriteTable(const CalibrationTable& table);
// Throws kInvalidInput with `where`:line for unknown keys, duplicates, NaN, missing fields, a wrong
// version. Also accepts the TPU-MLIR text form (lines `tensor threshold min max`, '#' comments);
// there min/max are low/high.
CalibrationTable ReadTable(const std::string& text, const std::string& where);
// An equalization is left out, as by WithoutEqualization.
std::string WriteTpuMlirTable(const CalibrationTable& table);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_RANGES_TABLE_H_
