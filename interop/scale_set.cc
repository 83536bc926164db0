#include "interop/scale_set.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"

namespace rshift {
namespace {

double Greatest(const std::vector<double>& numbers) {
  return *std::max_element(numbers.begin(), numbers.end());
}

double GreatestMagnitude(const AxisRange& range) {
  return std::max(std::fabs(*std::min_element(range.low.begin(), range.low.end())),
                  std::fabs(Greatest(range.high)));
}

// -2^(bits-1) and 2^(bits-1) - 1 of one scale are the ends of this range: then the scale.
std::optional<double> GridScale(double low, double high, int bits) {
  const double scale = (high - low) / (std::exp2(bits) - 1);
  const bool centred = scale > 0 && std::fabs(low / scale + std::exp2(bits - 1)) < 0.01;
  return centred ? std::optional<double>(scale) : std::nullopt;
}

std::vector<double> GridScales(const ScaleEntry& e) {
  std::vector<double> scales;
  for (size_t i = 0; i < e.low.size(); ++i) {
    const std::optional<double> scale = GridScale(e.low[i], e.high[i], e.bits);
    if (!scale) return {};
    scales.push_back(*scale);
  }
  return scales;
}

// A tensor of zeros gets scale 1, as quantization does: every value is then 0.
double OneIfZero(double scale) { return scale >= kLeastScale ? scale : 1.0; }

void CheckFinite(const std::vector<double>& numbers, const std::string& place, const char* what) {
  for (const double number : numbers) {
    RSHIFT_REQUIRE(std::isfinite(number), ErrorCode::kInvalidInput, place, ": ", what, " is ",
                   number, ", expected a finite number");
  }
}

void CheckNumbers(const ScaleEntry& e, const std::string& place) {
  CheckFinite(e.low, place, "low");
  CheckFinite(e.high, place, "high");
  CheckFinite(e.scales, place, "scale");
  CheckFinite({e.threshold.value_or(0), e.min.value_or(0), e.max.value_or(0)}, place,
              "threshold, min or max");
  RSHIFT_REQUIRE(e.threshold.value_or(0) >= 0, ErrorCode::kInvalidInput, place, ": threshold is ",
                 *e.threshold, ", expected >= 0");
  for (const double scale : e.scales) {
    RSHIFT_REQUIRE(scale > 0, ErrorCode::kInvalidInput, place, ": scale is ", scale,
                   ", expected a number > 0");
    RSHIFT_REQUIRE(scale >= kLeastScale, ErrorCode::kInvalidInput, place, ": scale is ", scale,
                   ", expected at least ", kLeastScale, ", the least normal float");
  }
}

// Behind CheckLengths.
void CheckReach(const ScaleEntry& e, const std::string& place) {
  const AxisRange range = RangeOf(e);
  std::vector<double> reals = {e.threshold.value_or(0), e.min.value_or(0), e.max.value_or(0)};
  reals.insert(reals.end(), range.low.begin(), range.low.end());
  reals.insert(reals.end(), range.high.begin(), range.high.end());
  for (const double real : reals) {
    RSHIFT_REQUIRE(std::fabs(real) <= kGreatestReal, ErrorCode::kInvalidInput, place,
                   ": its integers reach ", real, ", expected at most ", kGreatestReal,
                   ", within the floats");
  }
}

void CheckLengths(const ScaleEntry& e, const std::string& place) {
  RSHIFT_REQUIRE(e.low.size() == e.high.size(), ErrorCode::kInvalidInput, place, ": ", e.low.size(),
                 " numbers for low and ", e.high.size(), " for high, expected as many");
  for (size_t i = 0; i < e.low.size(); ++i) {
    RSHIFT_REQUIRE(e.low[i] <= e.high[i], ErrorCode::kInvalidInput, place, ": low is ", e.low[i],
                   " and high is ", e.high[i], ", expected low <= high");
  }
  RSHIFT_REQUIRE(e.zero_points.empty() || e.zero_points.size() == e.scales.size(),
                 ErrorCode::kInvalidInput, place, ": ", e.scales.size(), " scales and ",
                 e.zero_points.size(), " zero points, expected as many");
  RSHIFT_REQUIRE(e.min.has_value() == e.max.has_value() && e.min.value_or(0) <= e.max.value_or(0),
                 ErrorCode::kInvalidInput, place, ": expected min <= max, both or neither");
  const bool says = e.threshold || !e.low.empty() || !e.scales.empty() || e.is_float;
  RSHIFT_REQUIRE(says, ErrorCode::kInvalidInput, place,
                 ": no threshold, range or scale; leave the entry out");
  const bool numbers = e.threshold || !e.low.empty() || !e.scales.empty();
  RSHIFT_REQUIRE(!e.is_float || !numbers, ErrorCode::kInvalidInput, place,
                 ": stays in floating point and has a threshold, range or scale, expected one of "
                 "the two");
}

}  // namespace

const char* Name(Subject subject) {
  switch (subject) {
    case Subject::kTensor:
      return "tensor";
    case Subject::kWeights:
      return "weights";
    case Subject::kLayerInput:
      return "layer_input";
    case Subject::kLayerWeights:
      return "layer_weights";
  }
  return "?";
}

std::vector<std::string> LossLines(const Losses& losses) {
  std::vector<std::string> lines;
  for (const auto& [kind, count] : losses) lines.push_back(Cat(kind, " (", count, ")"));
  return lines;
}

int SmallInt(int64_t number, const std::string& what) {
  RSHIFT_REQUIRE(number >= -10000 && number <= 10000, ErrorCode::kInvalidInput, what, " is ",
                 number, ", expected a small integer");
  return static_cast<int>(number);
}

void CheckScales(const ScaleSet& set) {
  RSHIFT_REQUIRE(set.entries.size() <= kMaxScaleEntries, ErrorCode::kInvalidInput, set.where, ": ",
                 set.entries.size(), " entries, expected at most ", kMaxScaleEntries);
  std::set<std::pair<Subject, std::string>> seen;
  for (const ScaleEntry& e : set.entries) {
    const std::string place = Cat(set.where, ": ", Name(e.subject), " '", e.name, "'");
    RSHIFT_REQUIRE(!e.name.empty(), ErrorCode::kInvalidInput, set.where,
                   ": an entry has an empty name");
    RSHIFT_REQUIRE(seen.emplace(e.subject, e.name).second, ErrorCode::kInvalidInput, place,
                   " occurs twice; keep one of them");
    RSHIFT_REQUIRE(e.bits >= 2 && e.bits <= 32, ErrorCode::kInvalidInput, place, ": ", e.bits,
                   " bits, expected 2..32");
    RSHIFT_REQUIRE(e.axis >= -1 && e.axis < 16, ErrorCode::kInvalidInput, place, ": axis is ",
                   e.axis, ", expected 0..15");
    CheckNumbers(e, place);
    CheckLengths(e, place);
    CheckReach(e, place);
    for (const int64_t zero : e.zero_points) {
      const int64_t low = QMin(e.bits, IsSigned(e)), high = QMax(e.bits, IsSigned(e));
      RSHIFT_REQUIRE(zero >= low && zero <= high, ErrorCode::kInvalidInput, place,
                     ": zero point is ", zero, ", expected ", low, "..", high);
    }
  }
}

int64_t QMin(int bits, bool is_signed) { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
int64_t QMax(int bits, bool is_signed) { return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }

bool IsCentred(const ScaleEntry& e) {
  return std::all_of(e.zero_points.begin(), e.zero_points.end(), [](int64_t z) { return z == 0; });
}

bool IsSigned(const ScaleEntry& e) {
  if (e.is_signed) return *e.is_signed;
  if (e.min) return *e.min < 0;
  if (!e.low.empty()) return *std::min_element(e.low.begin(), e.low.end()) < 0;
  if (!e.zero_points.empty() && !IsCentred(e)) {
    return *std::min_element(e.zero_points.begin(), e.zero_points.end()) < 0;
  }
  return true;
}

AxisRange RangeOf(const ScaleEntry& e) {
  if (!e.low.empty()) return {e.low, e.high};
  AxisRange range;
  const bool is_signed = IsSigned(e);
  for (size_t i = 0; i < e.scales.size(); ++i) {
    const auto zero = static_cast<double>(e.zero_points.empty() ? 0 : e.zero_points[i]);
    range.low.push_back((static_cast<double>(QMin(e.bits, is_signed)) - zero) * e.scales[i]);
    range.high.push_back((static_cast<double>(QMax(e.bits, is_signed)) - zero) * e.scales[i]);
  }
  if (!e.scales.empty()) return range;
  const double threshold = e.threshold.value_or(0);
  return {{is_signed ? -threshold : 0.0}, {threshold}};
}

double ThresholdOf(const ScaleEntry& e, double steps) {
  if (e.threshold) return *e.threshold;
  const bool is_signed = IsSigned(e);
  if (!e.scales.empty() && IsCentred(e)) {
    return Greatest(e.scales) * (is_signed ? steps : static_cast<double>(QMax(e.bits, false)));
  }
  const std::vector<double> grid = GridScales(e);
  if (is_signed && !grid.empty()) return Greatest(grid) * steps;
  return GreatestMagnitude(RangeOf(e));
}

std::vector<double> SymmetricScalesOf(const ScaleEntry& e) {
  const bool is_signed = IsSigned(e);
  if (!e.scales.empty() && IsCentred(e) && is_signed) return e.scales;
  const auto steps = static_cast<double>(QMax(e.bits, true));
  if (e.threshold) return {OneIfZero(*e.threshold / steps)};
  if (is_signed && !GridScales(e).empty()) return GridScales(e);
  const AxisRange range = RangeOf(e);
  std::vector<double> scales;
  for (size_t i = 0; i < range.low.size(); ++i) {
    scales.push_back(
        OneIfZero(std::max(std::fabs(range.low[i]), std::fabs(range.high[i])) / steps));
  }
  return scales;
}

AxisQuantParams AxisQuantParamsOf(const ScaleEntry& e, bool symmetric) {
  if (!e.scales.empty()) {
    AxisQuantParams said{e.scales, e.zero_points, IsSigned(e)};
    said.zero_points.resize(e.scales.size(), 0);
    return said;
  }
  const std::vector<double> grid = GridScales(e);
  if (e.low.empty() || (symmetric && e.threshold) || !grid.empty()) {
    const bool by_grid = !e.low.empty() && !(symmetric && e.threshold);
    const std::vector<double> scales = by_grid ? grid : SymmetricScalesOf(e);
    return {scales, std::vector<int64_t>(scales.size(), 0), true};
  }
  AxisQuantParams result;
  const auto levels = static_cast<double>(QMax(e.bits, false));
  for (size_t i = 0; i < e.low.size(); ++i) {
    const double low = std::min(e.low[i], 0.0), high = std::max(e.high[i], 0.0);
    const double scale = high > low ? (high - low) / levels : 1.0;
    result.scales.push_back(scale);
    result.zero_points.push_back(std::llround(-low / scale));
  }
  return result;
}

}  // namespace rshift
