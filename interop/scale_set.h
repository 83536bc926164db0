// One schema for what tools call calibration tables, caches and encodings: thresholds, ranges,
// scales and zero points of tensors and channels, and the precision of operators.
#ifndef RSHIFT_INTEROP_SCALE_SET_H_
#define RSHIFT_INTEROP_SCALE_SET_H_

#include <cfloat>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rshift {

// What the name of an entry names.
enum class Subject {
  kTensor,        // an activation, by its ONNX name
  kWeights,       // a constant, by its ONNX name
  kLayerInput,    // what the operator of this name reads (ncnn)
  kLayerWeights,  // the weights of the operator of this name (ncnn)
};
const char* Name(Subject subject);  // "tensor", "weights", "layer_input", "layer_weights"

// What a file says of one tensor: a threshold, a range or scales, often more than one of them; all
// reals in the model's units. Vectors hold one number, or one for each channel. What is not said
// is derived by the functions below.
struct ScaleEntry {
  std::string name = {};
  Subject subject = Subject::kTensor;
  std::optional<double> threshold = {};      // clip point of a symmetric range, >= 0
  std::vector<double> low = {}, high = {};   // the reals that the integers reach; both or neither
  std::vector<double> scales = {};           // > 0; real = scale * (integer - zero point)
  std::vector<int64_t> zero_points = {};     // empty: all 0; else as many as scales
  std::optional<double> min = {}, max = {};  // what calibration saw; both or neither
  int bits = 8;                              // of the integers, 2..32
  std::optional<bool> is_signed = {};        // the integers: -2^(bits-1).. or 0..
  int axis = -1;                             // of the channels; -1: not said
  bool is_float = false;                     // stays in floating point; then no numbers
};
// Numbers are used as floats: scales below the least normal one, and reals that the integers reach
// beyond this, are refused.
inline constexpr double kLeastScale = static_cast<double>(FLT_MIN);
inline constexpr double kGreatestReal = 1e38;
// Of one set.
inline constexpr size_t kMaxScaleEntries = 1'000'000;

// What an operator is to compute in: "F32", "F16", "BF16", "INT8", ..., as TPU-MLIR spells it.
using Precisions = std::map<std::string, std::string>;

struct ScaleSet {
  std::string format;  // of the file it comes from
  std::string where;   // its path, for messages
  std::string method;  // how the ranges were found; "" when the file does not say
  std::string header;  // of a TensorRT cache: its first line
  int64_t samples = 0;
  // Names of tensors may be "<ONNX name>_<operator>" (TPU-MLIR).
  bool names_end_in_operator = false;
  std::vector<ScaleEntry> entries;  // in the file's order
  Precisions precisions;
};

// What a conversion could not carry: kind -> how often. Each is said in one line.
using Losses = std::map<std::string, int64_t>;
// "zero points left out: ncnn has none (12)", one for each kind.
std::vector<std::string> LossLines(const Losses& losses);

// Throws kInvalidInput naming `set.where` and the entry: a name that occurs twice, numbers that are
// not finite or out of the bounds above, negative thresholds, scales that are not positive, low >
// high, vectors of different lengths, zero points outside of their type, widths outside of 2..32,
// axes outside of 0..15, too many entries.
void CheckScales(const ScaleSet& set);
// For `bits` and `axis`. Throws kInvalidInput naming `what` for what is beyond +-10000.
int SmallInt(int64_t number, const std::string& what);

// --- what is not said ---

struct AxisQuantParams {
  std::vector<double> scales;
  std::vector<int64_t> zero_points;  // as many
  bool is_signed = false;
};
struct AxisRange {
  std::vector<double> low, high;
};

// Least and greatest integer.
int64_t QMin(int bits, bool is_signed);
int64_t QMax(int bits, bool is_signed);
// zero points are all 0 (or not said).
bool IsCentred(const ScaleEntry& entry);
// The integers are signed: as said; else when scales are said without zero points, or the range or
// what calibration saw goes below 0.
bool IsSigned(const ScaleEntry& entry);

// [low, high]: as said; else what the integers reach; else [-threshold, threshold], or [0,
// threshold] of unsigned integers.
AxisRange RangeOf(const ScaleEntry& entry);
// One for the tensor: as said; else scale * `steps` (127 or 128 for 8 bits signed; 2^bits - 1 for
// unsigned); else the greatest magnitude of the range.
double ThresholdOf(const ScaleEntry& entry, double steps);
// Scales of signed integers without zero point, one for each channel: as said when that is what
// they are; else threshold / (2^(bits-1) - 1).
std::vector<double> SymmetricScalesOf(const ScaleEntry& entry);
// As said; else of the range, extended to hold 0, in unsigned integers; `symmetric`: of the
// threshold, signed, when the entry has one.
AxisQuantParams AxisQuantParamsOf(const ScaleEntry& entry, bool symmetric);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_SCALE_SET_H_
