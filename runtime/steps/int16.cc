// Element-wise commands, averages and normalizations of 16-bit integers: blocks of numbers, widened
// to 32 bits. quantize/numerics/int16.h has the arithmetic.
#include "runtime/steps/int16.h"

#include <algorithm>

#include "quantize/numerics/compare.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/int16_pairs.h"
#include "quantize/numerics/normalize.h"
#include "runtime/steps/pool_shape.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// `op(block)` on each block of dst's elements: block.v holds src without its zero point and takes
// the results.
struct S16BlockOf {
  int64_t at = 0, n = 0;
  int32_t* v = nullptr;
};

template <typename Op>
class S16BlockStep : public Step {
 public:
  S16BlockStep(const StepContext& context, const Op& op)
      : op_(op),
        src_(context, Field::kSrc),
        dst_(context),
        total_(NumElements(context.Record(Field::kDst).shape)) {}

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(total_, kCacheLine, team);
    alignas(64) int32_t v[kS16Block];
    for (int64_t at = part.begin; at < part.end; at += kS16Block) {
      const int64_t n = std::min(kS16Block, part.end - at);
      src_.Read(at, n, v);
      op_(S16BlockOf{at, n, v});
      dst_.Write(v, at, n);
    }
  }

 private:
  Op op_;
  WidenedInput src_;
  NarrowedOutput dst_;
  int64_t total_;
};

template <typename Op>
std::unique_ptr<Step> MakeS16BlockStep(const StepContext& context, const Op& op) {
  return std::make_unique<S16BlockStep<Op>>(context, op);
}

// The second operand: all elements, or a constant that repeats.
class SecondOperand {
 public:
  explicit SecondOperand(const StepContext& context)
      : input_(context, Field::kSrc2), count_(NumElements(context.Record(Field::kSrc2).shape)) {}
  void Read(int64_t at, int64_t n, int32_t* v) const noexcept {
    for (int64_t done = 0; done < n;) {
      const int64_t first = (at + done) % count_, run = std::min(n - done, count_ - first);
      input_.Read(first, run, v + done);
      done += run;
    }
  }

 private:
  WidenedInput input_;
  int64_t count_;
};

class AveragePoolS16Step : public Step {
 public:
  AveragePoolS16Step(const StepContext& context, const isa::AveragePoolS16& c)
      : shape_(context, c.window),
        c_(c),
        bounds_(BoundsOf(context, c.clamp)),
        src_(context.In<int16_t>(Field::kSrc)),
        dst_(context) {}

  void Run(const Team& team) noexcept override {
    shape_.ForEach(team, [this](const PoolBlock& b) {
      int64_t sums[kPoolBlock];
      std::fill_n(sums, b.count, 0);
      for (int64_t y = b.rows.begin; y < b.rows.end; ++y) {
        for (int64_t x = b.columns.begin; x < b.columns.end; ++x) {
          const int16_t* tap =
              src_ + b.c +
              shape_.Offset(b.image, b.y0 + y * shape_.dilation_h, b.x0 + x * shape_.dilation_w);
          for (int64_t c = 0; c < b.count; ++c) sums[c] += tap[c];
        }
      }
      const int64_t taps =
          c_.count_include_pad ? shape_.PaddedTaps(b.y0, b.x0) : b.rows.count() * b.columns.count();
      int32_t v[kPoolBlock];
      for (int64_t c = 0; c < b.count; ++c) {
        v[c] = numerics::AverageInt16By(c_.rounding, sums[c], taps, c_.words, bounds_.zero,
                                        bounds_.lo, bounds_.hi);
      }
      dst_.Write(v, b.m * shape_.channels + b.c, b.count);
    });
  }

 private:
  PoolShape shape_;
  const isa::AveragePoolS16 c_;
  S16Bounds bounds_;
  const int16_t* src_;
  NarrowedOutput dst_;
};

// Rows of 16-bit integers, or the channels of images, normalized. normalize.h has the arithmetic.
class NormalizeS16Step : public Step {
 public:
  NormalizeS16Step(const StepContext& context, const isa::NormalizeS16& c, int64_t n)
      : c_(c),
        n_(n),
        src_(context.In<int16_t>(Field::kSrc)),
        loops_(Int16LoopsFor(context.isa)),
        dst_(context) {
    numbers_.n = n;
    numbers_.halvings = numerics::NormalizeHalvings(n);
    numbers_.factors = context.In<int32_t>(Field::kSrc2);
    numbers_.offsets = context.In<int64_t>(Field::kList);
    numbers_.rshift = c.rshift;
    numbers_.lo = c.clamp.lo;
    numbers_.hi = c.clamp.hi;
  }

 protected:
  int64_t Center(int64_t sum) const noexcept { return c_.center ? sum : 0; }
  numerics::InverseDeviation By(int64_t sum, int64_t squares) const noexcept {
    return numerics::InvertInt16(n_, Center(sum), squares, c_.epsilon, c_.variance_shift);
  }

  const isa::NormalizeS16 c_;
  int64_t n_;
  const int16_t* src_;
  S16Normalize numbers_;
  const Int16Table& loops_;
  NarrowedOutput dst_;
};

class RowNormalizeS16Step : public NormalizeS16Step {
 public:
  RowNormalizeS16Step(const StepContext& context, const isa::NormalizeS16& c, int64_t rows,
                      int64_t n)
      : NormalizeS16Step(context, c, n), rows_(rows) {}

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row) RunRow(row);
  }

 private:
  void RunRow(int64_t row) const noexcept {
    const int16_t* x = src_ + row * n_;
    const S16Sums sums = loops_.row_sums(x, n_);
    S16Normalize numbers = numbers_;
    numbers.center = Center(sums.sum);
    numbers.by = By(sums.sum, sums.squares);
    const bool halved = numbers.halvings > 0;
    int64_t centers[kS16Block], shifts[kS16Block];
    int32_t inverses[kS16Block];
    if (halved) {
      std::fill_n(centers, kS16Block, numbers.center);
      std::fill_n(shifts, kS16Block, int64_t{numbers.by.shift});
      std::fill_n(inverses, kS16Block, numbers.by.inverse);
      numbers.centers = centers;
      numbers.shifts = shifts;
      numbers.inverses = inverses;
    }
    for (int64_t at = 0; at < n_; at += kS16Block) {
      const int64_t count = std::min(kS16Block, n_ - at);
      numbers.factors = numbers_.factors + at;
      numbers.offsets = numbers_.offsets + at;
      alignas(64) int32_t v[kS16Block];
      (halved ? loops_.normalize_channels : loops_.normalize)(x + at, count, numbers, v);
      dst_.Write(v, row * n_ + at, count);
    }
  }

  int64_t rows_;
};

// Images [N, pixels, C], in groups of channels that threads do not share.
class ChannelNormalizeS16Step : public NormalizeS16Step {
 public:
  ChannelNormalizeS16Step(const StepContext& context, const isa::NormalizeS16& c, int64_t images,
                          int64_t pixels, int64_t channels)
      : NormalizeS16Step(context, c, pixels),
        images_(images),
        channels_(channels),
        groups_((channels + kGroup - 1) / kGroup) {}

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(images_ * groups_, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t first = item % groups_ * kGroup;
      RunGroup(item / groups_ * n_ * channels_ + first, first, std::min(kGroup, channels_ - first));
    }
  }

 private:
  static constexpr int64_t kGroup = 64;

  void RunGroup(int64_t at, int64_t first, int64_t count) const noexcept {
    alignas(64) int64_t sums[kGroup] = {}, squares[kGroup] = {}, shifts[kGroup];
    alignas(64) int32_t inverses[kGroup];
    for (int64_t p = 0; p < n_; ++p)
      loops_.channel_sums(src_ + at + p * channels_, count, sums, squares);
    for (int64_t c = 0; c < count; ++c) {
      const numerics::InverseDeviation by = By(sums[c], squares[c]);
      sums[c] = Center(sums[c]);
      inverses[c] = by.inverse;
      shifts[c] = by.shift;
    }
    S16Normalize numbers = numbers_;
    numbers.centers = sums;
    numbers.inverses = inverses;
    numbers.shifts = shifts;
    numbers.factors += first;
    numbers.offsets += first;
    for (int64_t p = 0; p < n_; ++p) {
      const int64_t pixel = at + p * channels_;
      alignas(64) int32_t v[kGroup];
      loops_.normalize_channels(src_ + pixel, count, numbers, v);
      dst_.Write(v, pixel, count);
    }
  }

  int64_t images_, channels_, groups_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::RequantizeS16& c) {
  if (c.rounding == Rounding::kTwoStep) {
    return MakeS16BlockStep(
        context, [words = c.words, y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
          for (int64_t i = 0; i < b.n; ++i)
            b.v[i] = numerics::RescaleTwoStepInt16(b.v[i], words, y.zero, y.lo, y.hi);
        });
  }
  return MakeS16BlockStep(context, [loop = Int16LoopsFor(context.isa).rescale, words = c.words,
                                    bounds = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    loop(b.v, b.n, words, bounds, b.v);
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AddS16& c) {
  return MakeS16BlockStep(
      context, [loop = Int16LoopsFor(context.isa).sum, c, second = SecondOperand(context),
                bounds = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
        alignas(64) int32_t other[kS16Block];
        second.Read(b.at, b.n, other);
        loop(b.v, other, b.n, c.multiplier, c.multiplier2, c.rshift, bounds, b.v);
      });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AddShiftedS16& c) {
  const numerics::ShiftedSumWords words{c.words, c.words2, c.words3, c.left_shift, c.subtract};
  return MakeS16BlockStep(context, [words, second = SecondOperand(context),
                                    y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    alignas(64) int32_t other[kS16Block];
    second.Read(b.at, b.n, other);
    for (int64_t i = 0; i < b.n; ++i)
      b.v[i] = numerics::ShiftedSumInt16(b.v[i], other[i], words, y.zero, y.lo, y.hi);
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MulS16& c) {
  if (c.rounding == Rounding::kTwoStep) {
    return MakeS16BlockStep(context, [words = c.words, second = SecondOperand(context),
                                      y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
      alignas(64) int32_t other[kS16Block];
      second.Read(b.at, b.n, other);
      for (int64_t i = 0; i < b.n; ++i)
        b.v[i] = numerics::ProductTwoStepInt16(b.v[i], other[i], words, y.zero, y.lo, y.hi);
    });
  }
  return MakeS16BlockStep(context, [loop = Int16LoopsFor(context.isa).product, words = c.words,
                                    second = SecondOperand(context),
                                    bounds = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    alignas(64) int32_t other[kS16Block];
    second.Read(b.at, b.n, other);
    loop(b.v, other, b.n, words, bounds, b.v);
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DivS16& c) {
  return MakeS16BlockStep(context, [words = c.words, second = SecondOperand(context),
                                    y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    alignas(64) int32_t other[kS16Block];
    second.Read(b.at, b.n, other);
    for (int64_t i = 0; i < b.n; ++i)
      b.v[i] = numerics::QuotientInt16(b.v[i], other[i], words, y.zero, y.lo, y.hi);
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::CompareS16& c) {
  return MakeS16BlockStep(context, [c, second = SecondOperand(context)](const S16BlockOf& b) {
    alignas(64) int32_t other[kS16Block];
    second.Read(b.at, b.n, other);
    for (int64_t i = 0; i < b.n; ++i)
      b.v[i] = numerics::Compare(c.op, b.v[i] * c.factor, other[i] * c.factor2) ? 1 : 0;
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ModS16& c) {
  return MakeS16BlockStep(context, [c, second = SecondOperand(context),
                                    y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    alignas(64) int32_t other[kS16Block];
    second.Read(b.at, b.n, other);
    for (int64_t i = 0; i < b.n; ++i)
      b.v[i] =
          numerics::ModInt16(b.v[i], other[i], c.factor, c.factor2, c.words, y.zero, y.lo, y.hi);
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::PowS16& c) {
  const numerics::PowWords words{c.words.multiplier, c.words.rshift, c.log_src, c.log_dst};
  return MakeS16BlockStep(
      context, [words, table = context.In<int32_t>(Field::kTable), second = SecondOperand(context),
                y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
        alignas(64) int32_t other[kS16Block];
        second.Read(b.at, b.n, other);
        for (int64_t i = 0; i < b.n; ++i)
          b.v[i] = numerics::PowInt16(table, b.v[i], other[i], words, y.zero, y.lo, y.hi);
      });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ExtremumS16& c) {
  return MakeS16BlockStep(context, [min = c.min, second = SecondOperand(context),
                                    y = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    alignas(64) int32_t other[kS16Block];
    second.Read(b.at, b.n, other);
    for (int64_t i = 0; i < b.n; ++i) {
      const int32_t v = min ? std::min(b.v[i], other[i]) : std::max(b.v[i], other[i]);
      b.v[i] = std::min(std::max(v, y.lo), y.hi);
    }
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::TableS16& c) {
  const S16Bounds bounds = BoundsOf(context, c.clamp);
  const auto bytes = static_cast<int64_t>(context.Record(Field::kTable).bytes());
  const int32_t step_bits = numerics::TableStepBits(bytes / int64_t{sizeof(int32_t)});
  if (step_bits < 0) {
    return MakeS16BlockStep(
        context, [table = context.In<int16_t>(Field::kTable), bounds](const S16BlockOf& b) {
          for (int64_t i = 0; i < b.n; ++i)
            b.v[i] = numerics::Clamp(table[b.v[i] + 32768] + bounds.zero, bounds.lo, bounds.hi);
        });
  }
  return MakeS16BlockStep(
      context,
      [loop = Int16LoopsFor(context.isa).interpolate, table = context.In<int32_t>(Field::kTable),
       step_bits, bounds](const S16BlockOf& b) { loop(table, step_bits, b.v, b.n, bounds, b.v); });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ChannelTablesS16& c) {
  return MakeS16BlockStep(context, [loop = Int16LoopsFor(context.isa).interpolate_channels,
                                    tables = context.In<int32_t>(Field::kTable),
                                    table_of = context.In<uint8_t>(Field::kSrc2),
                                    channels = context.Record(Field::kSrc).shape.back(),
                                    bounds = BoundsOf(context, c.clamp)](const S16BlockOf& b) {
    for (int64_t done = 0; done < b.n;) {
      const int64_t first = (b.at + done) % channels;
      const int64_t run = std::min(b.n - done, channels - first);
      loop(tables, table_of + first, b.v + done, run, bounds, b.v + done);
      done += run;
    }
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolS16& c) {
  return std::make_unique<AveragePoolS16Step>(context, c);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::NormalizeS16& c) {
  const Shape& shape = context.Record(Field::kSrc).shape;
  const auto axis = shape.begin() + c.axis;
  const int64_t outer = NumElements(Shape(shape.begin(), axis));
  if (!c.channels) {
    return std::make_unique<RowNormalizeS16Step>(context, c, outer,
                                                 NumElements(Shape(axis, shape.end())));
  }
  return std::make_unique<ChannelNormalizeS16Step>(
      context, c, outer, NumElements(Shape(axis, shape.end() - 1)), shape.back());
}

}  // namespace rshift
