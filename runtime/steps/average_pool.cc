// Average pooling, NHWC, in every PoolArithmetic (graph/ops/quant.h). Works in blocks of channels,
// so that one pass over the taps serves them all.
#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/average_forms.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/steps/pool_shape.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// Numbered as PoolArithmetic.
enum class Arithmetic {
  kScaleOffset = 0,
  kInteger = 1,
  kDequantized = 2,
  kRequantize = 3,
  kScaleSumAway = 4,
  kRawSum = 5,
};

// What turns sums into bytes.
struct Average {
  Arithmetic arithmetic = Arithmetic::kScaleOffset;
  Rounding rounding = Rounding::kHalfUp;
  int32_t multiplier = 0, rshift = 0;
  float scale = 0, offset = 0;
  float scale_x = 0, scale_y = 0;
  int32_t zero_x = 0, zero_y = 0, shift_y = 0, lo = 0, hi = 0;

  explicit Average(const StepContext& context) {
    const Command& c = *context.command;
    const TensorRecord& src = context.Record(Field::kSrc);
    const TensorRecord& dst = context.Record(Field::kDst);
    arithmetic = static_cast<Arithmetic>(c.Get(Field::kMode));
    rounding = static_cast<Rounding>(c.Get(Field::kRounding));
    multiplier = static_cast<int32_t>(c.Get(Field::kMultiplier));
    rshift = static_cast<int32_t>(c.Get(Field::kRshift));
    scale = c.GetFloat(Field::kScaleF), offset = c.GetFloat(Field::kOffsetF);
    scale_x = src.scale, scale_y = dst.scale;
    zero_x = src.zero_point, zero_y = dst.zero_point;
    shift_y = numerics::UnsignedShift(dst.dtype == DType::kS8);
    lo = static_cast<int32_t>(c.Get(Field::kClampLoQ));
    hi = static_cast<int32_t>(c.Get(Field::kClampHiQ));
  }

  // `sum` of the `inside` taps that lie in the image; `taps` count, the others hold zero_x.
  int32_t Of(int32_t sum, int32_t inside, int32_t taps) const {
    switch (arithmetic) {
      case Arithmetic::kInteger:
        return numerics::AverageInteger(sum, inside, lo, hi);
      case Arithmetic::kRequantize:
        return numerics::RequantizeBy(rounding, sum - inside * zero_x, multiplier, rshift, zero_y,
                                      lo, hi);
      case Arithmetic::kScaleSumAway:
        return numerics::AverageScaleAway(sum - inside * zero_x, taps, scale, zero_y, lo, hi);
      default:
        return numerics::AverageRawSum(rounding, sum, multiplier, rshift, offset, lo, hi);
    }
  }

  // For the channels behind the last full block of 16 (LiteRT's optimised mean): a copy with the
  // other rounding.
  Average Tail() const {
    Average tail = *this;
    if (arithmetic == Arithmetic::kRawSum && rounding == Rounding::kTwoStepUp)
      tail.rounding = Rounding::kTwoStep;
    return tail;
  }
};

class AveragePoolStep : public Step {
 public:
  explicit AveragePoolStep(const StepContext& context)
      : shape_(context),
        src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        is_signed_(context.Record(Field::kSrc).dtype == DType::kS8),
        include_pad_((context.command->Get(Field::kFlags) & 1) != 0),
        average_(context),
        tail_(average_.Tail()),
        kernels_(KernelsFor(context.isa)),
        scale_offset_(ElementwiseFor(context.isa).average) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](int64_t m, int64_t c, int64_t count, int64_t y0, int64_t x0,
                                const Taps& rows, const Taps& columns) {
      const PoolWindow window = shape_.Window(src_, m, c, y0, x0, rows, columns);
      const int64_t inside = rows.count() * columns.count();
      const int64_t taps = include_pad_ ? shape_.PaddedTaps(y0, x0) : inside;
      uint8_t* dst = dst_ + m * shape_.channels + c;
      if (average_.arithmetic == Arithmetic::kDequantized)
        return Dequantized(window, static_cast<int32_t>(taps), count, dst);
      alignas(64) int32_t sum[kPoolBlock];
      kernels_.sum_pool(window, count, is_signed_, sum);
      // kPoolBlock is a multiple of 16: only the last block of channels has a tail.
      const int64_t full = tail_.rounding == average_.rounding
                               ? count
                               : std::min(count, shape_.channels / 16 * 16 - c);
      const auto of = static_cast<int32_t>(inside), with_pads = static_cast<int32_t>(taps);
      Finish(average_, sum, of, with_pads, full, dst);
      if (full < count) Finish(tail_, sum + full, of, with_pads, count - full, dst + full);
    });
  }

 private:
  void Finish(const Average& average, const int32_t* sum, int32_t inside, int32_t taps,
              int64_t count, uint8_t* dst) const noexcept {
    const Average a = average;
    if (a.arithmetic == Arithmetic::kScaleOffset) {
      scale_offset_({.sum = sum,
                     .y = dst,
                     .pads = (taps - inside) * a.zero_x,
                     .taps = taps,
                     .scale = a.scale,
                     .offset = a.offset,
                     .lo = a.lo,
                     .hi = a.hi},
                    count);
      return;
    }
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<uint8_t>(a.Of(sum[i], inside, taps));
  }

  // Each tap dequantized and added in window order: the order is part of the result.
  void Dequantized(const PoolWindow& w, int32_t taps, int64_t count, uint8_t* dst) const noexcept {
    const Average a = average_;
    float total[kPoolBlock] = {};
    for (int64_t y = 0; y < w.rows; ++y) {
      for (int64_t x = 0; x < w.columns; ++x) {
        const uint8_t* tap = w.base + y * w.row_step + x * w.column_step;
        for (int64_t i = 0; i < count; ++i) {
          const int32_t value = is_signed_ ? static_cast<int8_t>(tap[i]) : tap[i];
          total[i] += numerics::DequantizeValue(value, a.scale_x, a.zero_x);
        }
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      dst[i] = static_cast<uint8_t>(
          numerics::AverageDequantized(total[i], taps, a.scale_y, a.zero_y, a.shift_y, a.lo, a.hi));
    }
  }

  PoolShape shape_;
  const uint8_t* src_;
  uint8_t* dst_;
  bool is_signed_, include_pad_;
  Average average_, tail_;
  const KernelTable& kernels_;
  decltype(ElementwiseTable::average) scale_offset_;
};

}  // namespace

void RegisterAveragePoolSteps() {
  RegisterStep(Opcode::kAveragePool, [](const StepContext& context) -> std::unique_ptr<Step> {
    return std::make_unique<AveragePoolStep>(context);
  });
}

}  // namespace rshift
