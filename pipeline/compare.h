// How close two tensors are. Every element counts; a NaN on either side fails.
#ifndef RSHIFT_PIPELINE_COMPARE_H_
#define RSHIFT_PIPELINE_COMPARE_H_

#include <cstdint>
#include <span>
#include <string>

namespace rshift {

struct Similarity {
  bool equal = false;    // every element identical
  bool has_nan = false;  // on either side; the figures below are then NaN
  double cosine = 1;     // 1 when both are all zero, 0 when one is
  double euclid = 1;     // 1 - |a-b| / |(a+b)/2|; 1 when both are all zero
  double sqnr_db = 0;    // 10 log10(sum b^2 / sum (a-b)^2), the mean left in; capped at 200
  double max_abs = 0;    // max |a-b|
  int64_t count = 0;
};

// Sums over any number of pieces of the same tensor (one per sample).
class SimilaritySum {
 public:
  // a: under test, b: the reference; equal sizes.
  void Add(std::span<const float> a, std::span<const float> b);
  Similarity Result() const;

 private:
  double aa_ = 0, bb_ = 0, ab_ = 0, dd_ = 0, mm_ = 0, max_abs_ = 0;
  int64_t count_ = 0;
  bool equal_ = true, has_nan_ = false;
};

Similarity Compare(std::span<const float> a, std::span<const float> b);

// "COS,EUCLID", e.g. "0.99,0.90".
struct Tolerance {
  double cosine = 0.99, euclid = 0.90;
  bool Accepts(const Similarity& s) const {
    return !s.has_nan && s.cosine >= cosine && s.euclid >= euclid;
  }
};
// Throws UsageError.
Tolerance ParseTolerance(const std::string& text);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_COMPARE_H_
