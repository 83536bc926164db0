// What was measured of a model, its data and its integer program: what the rules judge by. Plain
// figures, so that a test can say them.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_FACTS_H_
#define RSHIFT_PIPELINE_DIAGNOSE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/preprocess_trial.h"
#include "pipeline/verdict.h"
#include "quantize/equalize/choose.h"

namespace rshift {

// A constant of a product or a normalization that holds numbers which are none.
struct BadWeight {
  std::string node = {}, op = {}, tensor = {};
  int64_t channel = 0;  // the first such output channel
  int64_t channels = 0;
  int64_t nans = 0, infinities = 0;  // in all channels
};

// The two sides of the widest empty interval among the values of a tensor.
struct ValueGap {
  double share = 0;         // of the interval between the smallest and the largest value
  double smaller_side = 0;  // share of the elements on the side that has fewer
  double larger_width = 0;  // of the interval that the others lie in
  float low = 0, high = 0;  // the ends of the interval
};

// The integers of a tensor beside its floats, over the compared samples.
struct IntegerFacts {
  double sqnr_db = 200;  // of all elements, what its command alone loses
  double median_channel_db = 200, worst_channel_db = 200;
  int64_t worst_channel = -1;
  double saturated = 0;  // share of the elements held at an end of the range
  int64_t saturated_count = 0;
  bool moves = false;  // the command only moves elements
};

// An f32 activation of the model as it is deployed: after the passes and the equalization.
struct TensorFacts {
  std::string tensor = {}, node = {}, op = {};  // the maker; without: an input of the model
  bool output = false;       // of the model, perhaps behind operators that only move
  std::string read_by = {};  // "Sigmoid", "Softmax" ...: a function that all readers are; or ""
  bool product = false;      // the sums of a product with constant weights
  bool equalizable = false;  // its channels can be scaled

  // Over all samples.
  float min = 0, max = 0;
  std::vector<float> channel_min = {},
                     channel_max = {};     // empty where channels are not the last dimension
  std::vector<int64_t> zero_filters = {};  // channels whose weights and bias are all zero
  std::vector<float> sample_peaks = {};    // the largest |x| of each sample
  float bulk_peak = 0;  // no more than one element in a thousand is larger than this, by |x|
  double bulk_rms = 0;  // root of the mean square of the others
  ValueGap gap = {};

  // The range of the table in this mode.
  bool has_range = false;
  float range_low = 0, range_high = 0;
  std::string method = {};
  double clipped = 0;  // share of the elements that lie beyond the range

  std::optional<IntegerFacts> integer = {};  // none: F32 in the program, or part of another command
};

// Tensors of one Concat, Add ... by how many of the output's 256 steps they reach over.
struct JoinFacts {
  std::string node = {}, op = {}, output = {};
  struct Input {
    std::string tensor = {};
    double quanta = 0;
  };
  std::vector<Input> inputs = {};
};

// An output with channels whose floats are all from 0 to 1: scores. Of each such channel the
// highest score in each sample, where the float program is sure (kSureScore).
inline constexpr double kSureScore = 0.25;
struct ScoreFacts {
  std::string output = {};
  int64_t count = 0;                 // of highest scores
  double median_ratio = 1;           // integer program's to float program's
  double floating = 0, integer = 0;  // the highest of all, and the integer program's there
};

struct DiagnoseFacts {
  std::string mode = {};                    // "symmetric"
  std::vector<std::string> samples = {};    // names
  std::vector<BadWeight> bad_weights = {};  // where there are any, nothing else was measured
  std::optional<PreprocessResults> preprocess = {};
  int64_t label_offset = 0;               // as given
  bool table_given = false;               // else it was made of the same samples
  std::vector<TensorFacts> tensors = {};  // in graph order
  std::vector<JoinFacts> joins = {};      // in graph order
  std::vector<ScoreFacts> scores = {};
  // What --equalize auto would scale, where the table has no equalization.
  std::vector<EqualizedTensors> not_equalized = {};
  Verdict verdict = {};
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_FACTS_H_
