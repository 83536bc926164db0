// Comparisons, remainders and powers of two tensors of 16-bit integers, as the commands of int16.h.
// quantize/numerics/int16_pairs.h has the arithmetic. src2: as of add_s16.
#ifndef RSHIFT_ISA_OPS_INT16_PAIRS_H_
#define RSHIFT_ISA_OPS_INT16_PAIRS_H_

#include "isa/ops/field_list.h"

namespace rshift::isa {

// Times |q - Z| <= 2^15 it is within 2^61.
inline constexpr int64_t kMostInt16Factor = (int64_t{1} << 46) - 1;
inline constexpr int32_t kMostInt16PairRshift = 93;
inline constexpr int64_t kMostInt16Log = int64_t{256} << 24;  // of 24 fraction bits

struct CompareS16 {
  RSHIFT_COMMAND(kCompareS16, "compare_s16", kInteger,
                 "(src - Z) * multiplier compared with (src2 - Z) * multiplier2; mode: BinaryOp, "
                 "equal to greater_or_equal; dst bool",
                 .buffers = BufferForm::kNone, .element_ns = 0.5)

  BinaryOp op = BinaryOp::kAdd;
  int64_t factor = 1, factor2 = 1;
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Mode(kBinaryOpCount), c.op);
    visit(Int(Field::kMultiplier, 1, kMostInt16Factor), c.factor);
    visit(Int(Field::kMultiplier2, 1, kMostInt16Factor), c.factor2);
  }
};

struct ModS16 {
  RSHIFT_COMMAND(kModS16, "mod_s16", kInteger,
                 "clamp((((src - Z) * multiplier mod (src2 - Z) * multiplier2) * multiplier3 >> "
                 "rshift3) + Zdst) in 128 bits, mod of src's sign; by 0: Zdst",
                 .buffers = BufferForm::kNone, .element_ns = 10)

  int64_t factor = 1, factor2 = 1;
  RequantWords words;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Int(Field::kMultiplier, 1, kMostInt16Factor), c.factor);
    visit(Int(Field::kMultiplier2, 1, kMostInt16Factor), c.factor2);
    visit(Int(Field::kMultiplier3, 0, kInt32Max), c.words.multiplier);
    visit(Int(Field::kRshift3, 0, kMostInt16PairRshift), c.words.rshift);
    ClampFieldsS16(c.clamp, visit);
  }
};

struct PowS16 {
  RSHIFT_COMMAND(kPowS16, "pow_s16", kInteger,
                 "(src - Z) to the power (src2 - Z) * multiplier / 2^rshift; table: 1,025 s32, "
                 "log2(1 + i / 1024) of 24 fraction bits, then 2^(i / 256) and 2^(i / 65536) of "
                 "29, 256 each; offset, count: log2 of the scales of src and of dst, of 24; + "
                 "Zdst, clamped",
                 .buffers = BufferForm::kNone, .element_ns = 10)

  RequantWords words;
  int64_t log_src = 0, log_dst = 0;
  ClampQ clamp = {0, 0};
  Tensor dst = 0, src = 0, src2 = 0;
  Tensor table = 0;

  static constexpr void Fields(auto& c, auto&& visit) {
    DenseFields(c, visit);
    visit(In(Field::kSrc2), c.src2);
    visit(Const(Field::kTable), c.table);
    visit(Int(Field::kMultiplier, 0, (1 << 24) - 1), c.words.multiplier);
    visit(Int(Field::kRshift, 0, kMostInt16PairRshift), c.words.rshift);
    visit(Int(Field::kOffset, -kMostInt16Log, kMostInt16Log), c.log_src);
    visit(Int(Field::kCount, -kMostInt16Log, kMostInt16Log), c.log_dst);
    ClampFieldsS16(c.clamp, visit);
  }
};

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_INT16_PAIRS_H_
