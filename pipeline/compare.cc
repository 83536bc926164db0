#include "pipeline/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "base/portable_math.h"
#include "pipeline/usage.h"

namespace rshift {

void SimilaritySum::Add(std::span<const float> a, std::span<const float> b) {
  RSHIFT_REQUIRE(a.size() == b.size(), ErrorCode::kInternal, "comparing ", a.size(), " with ",
                 b.size(), " elements");
  count_ += static_cast<int64_t>(a.size());
  // Independent sums, so that one element need not wait for the one before it.
  constexpr size_t kLanes = 4;
  double aa[kLanes] = {}, bb[kLanes] = {}, ab[kLanes] = {}, dd[kLanes] = {}, mm[kLanes] = {};
  double most[kLanes] = {};
  bool nan = false, equal = true;
  const auto add = [&](size_t i, size_t lane) {
    const double x = a[i], y = b[i], d = x - y, m = (x + y) / 2;
    nan |= std::isunordered(x, y);
    equal &= x == y;
    aa[lane] += x * x;
    bb[lane] += y * y;
    ab[lane] += x * y;
    dd[lane] += d * d;
    mm[lane] += m * m;
    most[lane] = std::max(most[lane], std::abs(d));
  };
  const size_t whole = a.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (size_t i = whole; i < a.size(); ++i) add(i, i - whole);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    aa_ += aa[lane];
    bb_ += bb[lane];
    ab_ += ab[lane];
    dd_ += dd[lane];
    mm_ += mm[lane];
    max_abs_ = std::max(max_abs_, most[lane]);
  }
  has_nan_ |= nan;
  equal_ &= equal;
}

Similarity SimilaritySum::Result() const {
  Similarity s;
  s.count = count_;
  s.equal = equal_;
  s.has_nan = has_nan_;
  if (has_nan_) {
    s.cosine = s.euclid = s.sqnr_db = s.max_abs = std::numeric_limits<double>::quiet_NaN();
    return s;
  }
  s.max_abs = max_abs_;
  if (equal_) {
    s.sqnr_db = 200;
    return s;
  }
  s.cosine = aa_ == 0 || bb_ == 0 ? 0 : ab_ / (std::sqrt(aa_) * std::sqrt(bb_));
  s.euclid = mm_ == 0 ? 0 : 1 - std::sqrt(dd_) / std::sqrt(mm_);
  s.sqnr_db = bb_ == 0 ? -200 : std::clamp(10 * portable::Log10(bb_ / dd_), -200.0, 200.0);
  return s;
}

Similarity Compare(std::span<const float> a, std::span<const float> b) {
  SimilaritySum sum;
  sum.Add(a, b);
  return sum.Result();
}

Tolerance ParseTolerance(const std::string& text) {
  Tolerance tolerance;
  std::istringstream in(text);
  char comma = 0;
  in >> tolerance.cosine >> comma >> tolerance.euclid;
  RequireUsage(!in.fail() && comma == ',' && in.peek() == std::char_traits<char>::eof(),
               "--tolerance ", text, ": expected COS,EUCLID, e.g. 0.99,0.90");
  RequireUsage(std::fabs(tolerance.cosine) <= 1 && tolerance.euclid <= 1, "--tolerance ", text,
               ": a cosine is -1 to 1, and a euclid similarity at most 1: nothing can reach that");
  return tolerance;
}

}  // namespace rshift
