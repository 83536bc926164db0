// Which elements count depends on the data. Where their number does, too, a command writes a list
// as long as it can become, preceded by how many of its entries count; those behind them are zeros.
#ifndef RSHIFT_ISA_OPS_SELECT_H_
#define RSHIFT_ISA_OPS_SELECT_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

struct NonMaxSuppression {
  RSHIFT_COMMAND(
      kNonMaxSuppression, "non_max_suppression", kFloat,
      "boxes src [N, B, 4] with scores src2 [N, C, B] that overlap no better one of their class by "
      "more than alpha_f, at most count for each class; flags 1: boxes are center and size, 2: "
      "scores above beta_f only; dst s64 [1 + N C min(count, B), 3]: how many rows count, then "
      "batch, class and box of each, then zeros",
      .taps = TapForm::kSuppression, .buffers = BufferForm::kPlaces, .element_ns = 3)

  int64_t most = 0;  // boxes of one class
  float iou_threshold = 0, score_threshold = 0;
  bool center_point_box = false, has_score_threshold = false;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kCount, 0, kMaxDim), c.most);
    visit(Float(Field::kAlphaF), c.iou_threshold);
    visit(Float(Field::kBetaF), c.score_threshold);
    visit(Flags(2), c.center_point_box, c.has_score_threshold);
  }
};

struct NonZero {
  RSHIFT_COMMAND(kNonZero, "non_zero", kFloat,
                 "dst s64 [1 + src's elements]: how many elements of src are not 0, where they lie "
                 "in src's order, then zeros",
                 .buffers = BufferForm::kNone, .element_ns = 3)

  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) { DenseFields(c, visit); }
};

struct Unique {
  RSHIFT_COMMAND(
      kUnique, "unique", kFloat,
      "different rows of src [R, W], in the order of their first appearance or, with "
      "flag 1, ascending; dst s64 [1 + 3 R]: how many there are; for each its first row, "
      "then zeros; for each row of src which one it is; how many rows each has, then "
      "zeros",
      .taps = TapForm::kSort, .buffers = BufferForm::kPlaces, .element_ns = 3)

  bool sorted = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Flags(1), c.sorted);
  }
};

struct TopK {
  RSHIFT_COMMAND(kTopK, "top_k", kFloat,
                 "in each row of src [R, N] where the largest elements lie, or with flag 1 the "
                 "smallest, in that order; equal ones in the order of the row, NaN behind all "
                 "numbers; dst s64 [R, K], K <= N",
                 .buffers = BufferForm::kNone, .element_ns = 20)

  bool smallest = false;
  Tensor dst = 0, src = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(Flags(1), c.smallest);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_SELECT_H_
