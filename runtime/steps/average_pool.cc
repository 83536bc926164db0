// Average pooling, NHWC, in every PoolArithmetic (isa/functions.def). Works in blocks of channels,
// so that one pass over the taps serves them all.
#include "quantize/numerics/add_forms.h"
#include "quantize/numerics/average_forms.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/pool_shape.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/uniform_requant.h"

namespace rshift {
namespace {

// What turns sums into bytes: the arithmetic's numbers.
struct Average {
  PoolArithmetic arithmetic = PoolArithmetic::kScaleOffset;
  float scale = 0, offset = 0;
  float scale_y = 0;
  int32_t zero_x = 0, zero_y = 0, shift_y = 0, lo = 0, hi = 0;
  UniformForm form;

  Average(const StepContext& context, const isa::AveragePool& pool) {
    const TensorRecord& dst = context.Record(Field::kDst);
    arithmetic = pool.arithmetic;
    scale = pool.scale, offset = pool.offset;
    scale_y = dst.scale;
    zero_x = context.Record(Field::kSrc).zero_point, zero_y = dst.zero_point;
    shift_y = pool.keeps_sign ? 0 : numerics::UnsignedShift(dst.dtype == DType::kS8);
    lo = pool.clamp.lo, hi = pool.clamp.hi;
    form = {pool.rounding, pool.words, zero_y, pool.clamp};
    if (arithmetic != PoolArithmetic::kRawSum) return;
    // A raw sum scaled in binary32 takes the path of kScaleOffset; one_tap_ makes that divide by 1
    // instead of the number of taps.
    if (form.rounding == Rounding::kFloatZeroEven) {
      arithmetic = PoolArithmetic::kScaleOffset;
      scale = numerics::WordToFloat(form.words.multiplier);
    } else {
      form.zero_y = static_cast<int32_t>(offset);
    }
  }

  // For the channels behind the last full block of 16 (LiteRT's optimised mean).
  UniformForm RemainderForm() const {
    UniformForm remainder = form;
    if (arithmetic == PoolArithmetic::kRawSum && form.rounding == Rounding::kTwoStepUp)
      remainder.rounding = Rounding::kTwoStep;
    return remainder;
  }
};

class AveragePoolStep : public Step {
 public:
  AveragePoolStep(const StepContext& context, const isa::AveragePool& pool)
      : shape_(context, pool.window),
        src_(OperandOf(context, Field::kSrc)),
        scale_x_(context.Record(Field::kSrc).scale),
        dst_(context.Out<uint8_t>(Field::kDst)),
        is_signed_(context.Record(Field::kSrc).dtype == DType::kS8),
        include_pad_(pool.count_include_pad),
        one_tap_(pool.arithmetic == PoolArithmetic::kRawSum),
        average_(context, pool),
        requantize_(context.isa, average_.form),
        requantize_remainder_(context.isa, average_.RemainderForm()),
        epilogue_(context.epilogue),
        has_remainder_(average_.RemainderForm().rounding != average_.form.rounding),
        kernels_(KernelsFor(context.isa)),
        fast_(average_.arithmetic == PoolArithmetic::kScaleOffset &&
              kernels_.average_pool != nullptr),
        loops_(ElementwiseFor(context.isa)) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](const PoolBlock& b) {
      const PoolWindow window = shape_.Window(src_.bytes, b);
      const auto inside = static_cast<int32_t>(b.rows.count() * b.columns.count());
      const auto taps = include_pad_ ? static_cast<int32_t>(shape_.PaddedTaps(b.y0, b.x0)) : inside;
      uint8_t* dst = dst_ + b.m * shape_.dst_pitch + b.c;
      RunWindow(window, inside, taps, b.c, b.count, dst);
      if (epilogue_.run != nullptr) epilogue_.run(epilogue_.state, dst, 1, b.count);
    });
  }

 private:
  // Channels [c, c + count).
  void RunWindow(const PoolWindow& window, int32_t inside, int32_t taps, int64_t c, int64_t count,
                 uint8_t* dst) const noexcept {
    if (average_.arithmetic == PoolArithmetic::kDequantized)
      return Dequantized(window, taps, count, dst);
    if (fast_ && inside <= kMostAveraged) return Averaged(window, inside, taps, count, dst);
    alignas(64) int32_t sum[kPoolBlock + kRequantSlack];
    kernels_.sum_pool(window, count, is_signed_, sum);
    if (average_.arithmetic == PoolArithmetic::kRequantize ||
        average_.arithmetic == PoolArithmetic::kRawSum) {
      return Requantized(sum, inside, c, count, dst);
    }
    Divided(sum, inside, taps, count, dst);
  }

  void Averaged(const PoolWindow& window, int32_t inside, int32_t taps, int64_t count,
                uint8_t* dst) const noexcept {
    const Average& a = average_;
    const PoolAverage average{.pads = (taps - inside) * a.zero_x,
                              .factor = a.scale / static_cast<float>(one_tap_ ? 1 : taps),
                              .offset = a.offset,
                              .lo = a.lo,
                              .hi = a.hi};
    kernels_.average_pool(window, count, is_signed_, average, dst);
  }

  void Divided(const int32_t* sum, int32_t inside, int32_t taps, int64_t count,
               uint8_t* dst) const noexcept {
    const Average& a = average_;
    const AverageArgs args{.sum = sum,
                           .y = dst,
                           .pads = (taps - inside) * a.zero_x,
                           .inside = inside,
                           .taps = one_tap_ ? 1 : taps,
                           .scale = a.scale,
                           .offset = a.offset,
                           .zero_x = a.zero_x,
                           .zero_y = a.zero_y,
                           .lo = a.lo,
                           .hi = a.hi};
    switch (a.arithmetic) {
      case PoolArithmetic::kInteger:
        return loops_.average_integer(args, 0, count);
      case PoolArithmetic::kScaleSumAway:
        return loops_.average_scale_away(args, 0, count);
      case PoolArithmetic::kScaleOffset:
        return loops_.average(args, 0, count);
      case PoolArithmetic::kMeanScaleOffset:
        for (int64_t i = 0; i < count; ++i) {
          dst[i] = static_cast<uint8_t>(numerics::AverageMeanScaleOffset(
              sum[i] + args.pads, args.taps, a.zero_x, a.scale, a.offset, a.shift_y, a.lo, a.hi));
        }
        return;
      case PoolArithmetic::kDequantized:  // RunWindow does these three otherwise
      case PoolArithmetic::kRequantize:
      case PoolArithmetic::kRawSum:
        return;
    }
  }

  // Channels c .. c + count - 1; all windows are whole.
  void Requantized(int32_t* sum, int32_t taps, int64_t c, int64_t count,
                   uint8_t* dst) const noexcept {
    if (average_.arithmetic == PoolArithmetic::kRequantize) {
      for (int64_t i = 0; i < count; ++i) sum[i] -= taps * average_.zero_x;
    }
    // kPoolBlock is a multiple of 16: only the last block of channels has a remainder.
    const int64_t full = has_remainder_ ? std::min(count, shape_.channels / 16 * 16 - c) : count;
    requantize_(sum, full, dst);
    if (full < count) requantize_remainder_(sum + full, count - full, dst + full);
  }

  // Each tap dequantized and added in window order: the order is part of the result.
  void Dequantized(const PoolWindow& w, int32_t taps, int64_t count, uint8_t* dst) const noexcept {
    float total[kPoolBlock] = {};
    for (int64_t y = 0; y < w.rows; ++y) {
      for (int64_t x = 0; x < w.columns; ++x) {
        const uint8_t* tap = w.base + y * w.row_step + x * w.column_step;
        loops_.add_real({.x = {tap, src_.flip, src_.zero}, .y = total, .scale = scale_x_}, 0,
                        count);
      }
    }
    const Average& a = average_;
    loops_.average_real({.total = total,
                         .y = dst,
                         .taps = taps,
                         .scale_y = a.scale_y,
                         .zero_y = a.zero_y,
                         .shift_y = a.shift_y,
                         .lo = a.lo,
                         .hi = a.hi},
                        0, count);
  }

  PoolShape shape_;
  ByteOperand src_;
  float scale_x_;
  uint8_t* dst_;
  bool is_signed_, include_pad_, one_tap_;
  Average average_;
  UniformRequant requantize_, requantize_remainder_;
  EpilogueArgs epilogue_;
  bool has_remainder_;
  const KernelTable& kernels_;
  bool fast_;  // sums and averages in registers
  const ElementwiseTable& loops_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePool& c) {
  return std::make_unique<AveragePoolStep>(context, c);
}

}  // namespace rshift
