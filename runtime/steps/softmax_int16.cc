// Softmax of s16, row by row. quantize/numerics/softmax_int16.h, quotient_softmax.h and
// log_softmax.h have the arithmetic.
#include "quantize/numerics/softmax_int16.h"

#include <algorithm>

#include "quantize/numerics/log_softmax.h"
#include "quantize/numerics/quotient_softmax.h"
#include "runtime/kernels/int16_finish.h"
#include "runtime/kernels/kernels.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class SoftmaxS16Step : public Step {
 public:
  SoftmaxS16Step(const StepContext& context, const isa::SoftmaxS16& c)
      : words_(c.words),
        src_(context.In<int16_t>(Field::kSrc)),
        dst_(context.Out<int16_t>(Field::kDst)),
        exponentials_(context.In<int16_t>(Field::kTable)),
        reciprocals_(exponentials_ + numerics::kSoftmaxInt16Entries) {
    const Shape& shape = context.Record(Field::kSrc).shape;
    columns_ = shape.back();
    rows_ = columns_ == 0 ? 0 : NumElements(shape) / columns_;
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row)
      RunRow(src_ + row * columns_, dst_ + row * columns_);
  }

 private:
  // dst holds the exponentials before it holds the results, and may be src.
  void RunRow(const int16_t* x, int16_t* y) const noexcept {
    const int32_t max = *std::max_element(x, x + columns_);
    int32_t sum = 0;
    for (int64_t i = 0; i < columns_; ++i) {
      const int32_t e = numerics::SoftmaxInt16Exp(x[i], max, words_, exponentials_);
      sum += e;
      y[i] = static_cast<int16_t>(e);
    }
    const numerics::SoftmaxInt16Inverse inverse = numerics::InvertSoftmaxInt16(sum, reciprocals_);
    for (int64_t i = 0; i < columns_; ++i)
      y[i] = static_cast<int16_t>(numerics::SoftmaxInt16Quotient(y[i], inverse));
  }

  const RequantWords words_;
  const int16_t* src_;
  int16_t* dst_;
  const int16_t* exponentials_;
  const int16_t* reciprocals_;
  int64_t columns_ = 0, rows_ = 0;
};

// NUMERICS.md section 29.7. Entries are computed for the sum, and again for the results beyond the
// first kHeld of a row: dst may be of bytes.
class QuotientSoftmaxS16Step : public Step {
 public:
  QuotientSoftmaxS16Step(const StepContext& context, const isa::QuotientSoftmaxS16& c)
      : words_(c.words),
        log_(c.log),
        step_(c.log ? numerics::MakeLogSoftmaxScale(context.Record(Field::kSrc).scale,
                                                    context.Record(Field::kDst).scale)
                          .step
                    : 0),
        bounds_(BoundsOf(context, c.clamp)),
        finish_(Int16FinishFor(context.isa)),
        src_(context.In<int16_t>(Field::kSrc)),
        tables_(context.In<int32_t>(Field::kTable)),
        dst_(context) {
    const Shape& shape = context.Record(Field::kSrc).shape;
    columns_ = shape.back();
    rows_ = columns_ == 0 ? 0 : NumElements(shape) / columns_;
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row) RunRow(row * columns_);
  }

 private:
  void RunRow(int64_t at) const noexcept {
    const int16_t* x = src_ + at;
    const int32_t max = *std::max_element(x, x + columns_);
    alignas(64) int64_t entries[kHeld];
    uint64_t sum = 0;
    for (int64_t first = 0; first < columns_; first += kHeld) {
      const int64_t count = std::min(kHeld, columns_ - first);
      Entries(x + first, count, max, entries);
      for (int64_t i = 0; i < count; ++i) sum += static_cast<uint64_t>(entries[i]);
    }
    if (log_) {
      const numerics::LogSoftmaxScale scale{step_, words_};
      const int64_t start = numerics::LogSoftmaxStart(sum, scale, bounds_.zero);
      return WriteRow(at, [&](int64_t i) {
        return numerics::LogSoftmaxNumber(max - x[i], start, scale, bounds_.lo, bounds_.hi);
      });
    }
    const numerics::SoftmaxQuotientRow row = numerics::QuotientRow(sum, words_);
    // numerics::SoftmaxQuotient, as of channels of one factor.
    alignas(64) int64_t factors[kS16Channels], rshifts[kS16Channels];
    std::fill_n(factors, std::min(kS16Channels, columns_ + 8), int64_t{row.factor});
    std::fill_n(rshifts, std::min(kS16Channels, columns_ + 8), int64_t{row.rshift});
    const S16Channels channels{.bias = kNoBias, .multiplier = factors, .rshift = rshifts};
    for (int64_t first = 0; first < columns_; first += kS16Channels) {
      const int64_t count = std::min(kS16Channels, columns_ - first), held = first % kHeld;
      if (columns_ > kHeld && held == 0)
        Entries(x + first, std::min(kHeld, columns_ - first), max, entries);
      alignas(64) int32_t y[kS16Channels];
      finish_.requantize(entries + held, count, channels, bounds_, y);
      dst_.Write(y, at + first, count);
    }
  }

  static constexpr int64_t kHeld = 16 * kS16Channels;
  alignas(64) static constexpr int64_t kNoBias[kS16Channels] = {};

  void Entries(const int16_t* x, int64_t n, int32_t max, int64_t* entries) const noexcept {
    for (int64_t i = 0; i < n; ++i) entries[i] = numerics::SoftmaxProductEntry(tables_, max - x[i]);
  }

  // number(i): of column i.
  template <typename Number>
  void WriteRow(int64_t at, const Number& number) const noexcept {
    for (int64_t first = 0; first < columns_; first += kS16Block) {
      const int64_t count = std::min(kS16Block, columns_ - first);
      alignas(64) int32_t y[kS16Block];
      for (int64_t i = 0; i < count; ++i) y[i] = number(first + i);
      dst_.Write(y, at + first, count);
    }
  }

  const RequantWords words_;
  const bool log_;
  const int64_t step_;
  const S16Bounds bounds_;
  const Int16FinishTable& finish_;
  const int16_t* src_;
  const int32_t* tables_;
  NarrowedOutput dst_;
  int64_t columns_ = 0, rows_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::QuotientSoftmaxS16& c) {
  return std::make_unique<QuotientSoftmaxS16Step>(context, c);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::SoftmaxS16& c) {
  return std::make_unique<SoftmaxS16Step>(context, c);
}

}  // namespace rshift
