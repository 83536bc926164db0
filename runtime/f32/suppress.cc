// NonMaxSuppression as ONNX Runtime has it: of each batch and class the boxes in the order of their
// scores, equal ones in the order of the boxes, but those that overlap one taken before.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

struct Side {
  float lo, hi;
};

// One direction of a box: y with at = 0, x with at = 1 (center: x, then y).
Side SideOf(const float* box, bool center, int at) {
  if (center) {
    const float half = box[at + 2] / 2.0f;
    return {box[at] - half, box[at] + half};
  }
  return {std::min(box[at], box[at + 2]), std::max(box[at], box[at + 2])};
}

bool Overlap(const float* a, const float* b, const isa::NonMaxSuppression& c) {
  const Side a0 = SideOf(a, c.center_point_box, 0), b0 = SideOf(b, c.center_point_box, 0);
  const Side a1 = SideOf(a, c.center_point_box, 1), b1 = SideOf(b, c.center_point_box, 1);
  const float lo0 = std::max(a0.lo, b0.lo), hi0 = std::min(a0.hi, b0.hi);
  const float lo1 = std::max(a1.lo, b1.lo), hi1 = std::min(a1.hi, b1.hi);
  if (!(hi0 > lo0) || !(hi1 > lo1)) return false;
  const float both = (hi0 - lo0) * (hi1 - lo1);
  const float area_a = (a0.hi - a0.lo) * (a1.hi - a1.lo);
  const float area_b = (b0.hi - b0.lo) * (b1.hi - b1.lo);
  const float either = area_a + area_b - both;
  if (!(area_a > 0.0f) || !(area_b > 0.0f) || !(either > 0.0f)) return false;
  return both / either > c.iou_threshold;
}

class SuppressionStep final : public Step {
 public:
  SuppressionStep(const StepContext& context, const isa::NonMaxSuppression& c)
      : command_(c),
        boxes_(context.In<float>(Field::kSrc)),
        scores_(context.In<float>(Field::kSrc2)),
        out_(context.Out<int64_t>(Field::kDst)),
        out_bytes_(context.Record(Field::kDst).bytes()) {
    const Shape& scores = context.Record(Field::kSrc2).shape;
    batches_ = scores[0], classes_ = scores[1], count_ = scores[2];
    heap_.resize(static_cast<size_t>(count_));
    taken_.resize(static_cast<size_t>(std::min(c.most, count_)));
  }

  // One thread: what is taken is decided box after box.
  void Run(const Team& team) noexcept override {
    if (team.index != 0) return;
    std::memset(out_, 0, out_bytes_);
    int64_t* row = out_ + 3;
    // Classes and batches of no boxes may be as many as they like.
    if (count_ == 0 || taken_.empty()) return;
    for (int64_t n = 0; n < batches_; ++n) {
      for (int64_t k = 0; k < classes_; ++k) {
        const size_t taken = Take(boxes_ + n * count_ * 4, scores_ + (n * classes_ + k) * count_);
        for (size_t i = 0; i < taken; ++i, row += 3) row[0] = n, row[1] = k, row[2] = taken_[i];
      }
    }
    out_[0] = (row - out_) / 3 - 1;
  }

  size_t memory_bytes() const override { return (heap_.size() + taken_.size()) * sizeof(int64_t); }

 private:
  // Fills taken_; gives how many.
  size_t Take(const float* boxes, const float* scores) noexcept {
    size_t size = 0;
    for (int64_t i = 0; i < count_; ++i) {
      // A NaN is no score.
      const bool candidate = command_.has_score_threshold ? scores[i] > command_.score_threshold
                                                          : scores[i] == scores[i];
      if (candidate) heap_[size++] = i;
    }
    const auto later = [scores](int64_t a, int64_t b) {
      return scores[a] < scores[b] || (scores[a] == scores[b] && a > b);
    };
    const auto begin = heap_.begin();
    std::make_heap(begin, begin + static_cast<int64_t>(size), later);
    size_t taken = 0;
    while (size > 0 && taken < taken_.size()) {
      std::pop_heap(begin, begin + static_cast<int64_t>(size), later);
      const int64_t best = heap_[--size];
      const bool hidden = std::any_of(
          taken_.begin(), taken_.begin() + static_cast<int64_t>(taken),
          [&](int64_t other) { return Overlap(boxes + best * 4, boxes + other * 4, command_); });
      if (!hidden) taken_[taken++] = best;
    }
    return taken;
  }

  const isa::NonMaxSuppression command_;
  const float *boxes_, *scores_;
  int64_t* out_;
  uint64_t out_bytes_;
  int64_t batches_ = 0, classes_ = 0, count_ = 0;
  std::vector<int64_t> heap_, taken_;  // boxes; made here, since a run allocates nothing
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::NonMaxSuppression& c) {
  return std::make_unique<SuppressionStep>(context, c);
}

}  // namespace rshift::f32
