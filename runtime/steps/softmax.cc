// Softmax and LogSoftmax of bytes over the last dimension, by a table over the difference to the
// row's greatest.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "quantize/numerics/log_softmax.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/softmax_row.h"
#include "runtime/kernels/lut.h"
#include "runtime/kernels/normalize.h"
#include "runtime/kernels/softmax_rows.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// Rows of more elements take a table of bytes for the row: an element has one of 256 differences.
constexpr int64_t kBlock = 1024;

class SoftmaxStep : public Step {
 public:
  SoftmaxStep(const StepContext& context, const isa::Softmax& softmax)
      : src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        flip_(context.Record(Field::kSrc).dtype == DType::kS8 ? 0x80 : 0),
        dst_signed_(context.Record(Field::kDst).dtype == DType::kS8),
        arithmetic_(softmax.arithmetic),
        scale_x_(context.Record(Field::kSrc).scale),
        scale_y_(context.Record(Field::kDst).scale),
        zero_y_(context.Record(Field::kDst).zero_point),
        lo_(softmax.clamp.lo),
        hi_(softmax.clamp.hi),
        lut_(LutFor(context.isa)),
        quotients_(SoftmaxQuotientsFor(context.isa)) {
    std::memcpy(words_.data(), context.In(Field::kTable), sizeof(words_));
    std::reverse_copy(words_.begin(), words_.end(), descending_.begin());
    if (arithmetic_ == SoftmaxArithmetic::kQuotient) {
      inverse_scale_ = numerics::AccumulatorMultiplier(1.0 / static_cast<double>(scale_y_));
      run_rows_ = SoftmaxRowsFor(context.isa);
      if (run_rows_ != nullptr)
        rows_args_ = MakeSoftmaxRows(words_, flip_, inverse_scale_, {zero_y_, lo_, hi_});
    }
    if (arithmetic_ == SoftmaxArithmetic::kLogQuotient)
      log_scale_ = numerics::MakeLogSoftmaxScale(context.Record(Field::kSrc).scale, scale_y_);
    const Shape& shape = context.Record(Field::kSrc).shape;
    columns_ = shape.back();
    rows_ = columns_ == 0 ? 0 : NumElements(shape) / columns_;
    std::memcpy(table_.data(), context.In(Field::kTable), sizeof(table_));
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    if (run_rows_ != nullptr) {
      const int64_t first = part.begin * columns_;
      run_rows_(rows_args_, src_ + first, part.end - part.begin, columns_, dst_ + first);
      return;
    }
    for (int64_t row = part.begin; row < part.end; ++row) {
      const uint8_t* x = src_ + row * columns_;
      uint8_t* y = dst_ + row * columns_;
      uint8_t greatest = 0;  // as unsigned bytes
      const uint8_t flip = flip_;
#pragma omp simd reduction(max : greatest)
      for (int64_t i = 0; i < columns_; ++i) greatest = std::max<uint8_t>(greatest, x[i] ^ flip);
      switch (arithmetic_) {
        case SoftmaxArithmetic::kFixedPoint:
          FixedRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kFloatTable:
          TableRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kFloatQuotient:
          FloatQuotientRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kQuotient:
          QuotientRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kLogQuotient:
          LogRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kLogFloatTable:
          LogTableRow(x, greatest, y);
          break;
      }
    }
  }

 private:
  size_t Difference(uint8_t greatest, uint8_t x) const {
    return static_cast<size_t>(greatest - (x ^ flip_));
  }

  void FixedRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    int32_t sum = 0;
    for (int64_t i = 0; i < columns_; ++i)
      sum += numerics::ToAccumulation(words_[Difference(greatest, x[i])]);
    const numerics::RowReciprocal row = numerics::Reciprocal(sum);
    for (int64_t i = 0; i < columns_; ++i) {
      y[i] = static_cast<uint8_t>(
          numerics::SoftmaxFixedPoint(words_[Difference(greatest, x[i])], row, zero_y_, lo_, hi_));
    }
  }

  // In element order, never in parallel: the order is part of the result.
  float Sum(const uint8_t* x, uint8_t greatest) const noexcept {
    float sum = 0;
    for (int64_t i = 0; i < columns_; ++i) sum += table_[Difference(greatest, x[i])];
    return sum;
  }

  void TableRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    const float inverse = numerics::SoftmaxInverse(Sum(x, greatest), scale_y_);
    for (int64_t i = 0; i < columns_; ++i) {
      y[i] = static_cast<uint8_t>(numerics::SoftmaxFloatTable(
          table_[Difference(greatest, x[i])], inverse, dst_signed_, zero_y_, lo_, hi_));
    }
  }

  void QuotientRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    if (columns_ <= kBlock) return ShortQuotientRow(x, greatest, y);
    const numerics::SoftmaxQuotientRow row =
        numerics::QuotientRow(SumEntries(x, greatest, columns_, nullptr), inverse_scale_);
    alignas(64) uint8_t table[256];               // by byte; no other byte of the row is looked up
    const int32_t half = flip_ == 0 ? 256 : 128;  // s8: the bytes of values from 128 on come first
    const auto fill = [&](int32_t from, int32_t to, int32_t place) {
      if (from < to)
        quotients_(ByValue(greatest) + from, to - from, row, {zero_y_, lo_, hi_},
                   table + from + place);
    };
    fill(0, std::min(greatest + 1, half), 256 - half);
    fill(half, greatest + 1, -half);
    lut_(table, x, y, {.rows = 1, .count = columns_});
  }

  // Its entries are kept between the two passes.
  void ShortQuotientRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    alignas(64) int32_t entries[kBlock];
    const uint64_t sum = SumEntries(x, greatest, columns_, entries);
    quotients_(entries, columns_, numerics::QuotientRow(sum, inverse_scale_), {zero_y_, lo_, hi_},
               y);
  }

  // Entry of a value v = x ^ flip of a row with that greatest one.
  const int32_t* ByValue(uint8_t greatest) const noexcept {
    return descending_.data() + 255 - greatest;
  }

  // Four at a time: an addition waits for the one before it. entries: null or what is summed.
  uint64_t SumEntries(const uint8_t* x, uint8_t greatest, int64_t count,
                      int32_t* entries) const noexcept {
    const int32_t* by_value = ByValue(greatest);
    const uint8_t flip = flip_;
    uint64_t sums[4] = {};
    const auto add = [&](int64_t i, size_t to) {
      const int32_t entry = by_value[x[i] ^ flip];
      sums[to] += static_cast<uint32_t>(entry);
      if (entries != nullptr) entries[i] = entry;
    };
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (int64_t j = 0; j < 4; ++j) add(i + j, static_cast<size_t>(j));
    }
    for (; i < count; ++i) add(i, 0);
    return sums[0] + sums[1] + sums[2] + sums[3];
  }

  void LogRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    const int64_t start =
        numerics::LogSoftmaxStart(SumEntries(x, greatest, columns_, nullptr), log_scale_, zero_y_);
    const auto byte = [&](size_t difference) {
      return static_cast<uint8_t>(numerics::LogSoftmaxNumber(static_cast<int32_t>(difference),
                                                             start, log_scale_, lo_, hi_));
    };
    if (columns_ <= 256) {
      for (int64_t i = 0; i < columns_; ++i) y[i] = byte(Difference(greatest, x[i]));
      return;
    }
    alignas(64) uint8_t table[256];  // by byte; those above the greatest are not looked up
    for (size_t d = 0; d <= greatest; ++d) table[(greatest - d) ^ flip_] = byte(d);
    lut_(table, x, y, {.rows = 1, .count = columns_});
  }

  void LogTableRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    const int32_t lift = flip_ == 0 ? 0 : 128;  // from x ^ flip to the integer
    const numerics::LogSoftmaxRowTerms row =
        numerics::LogSoftmaxFloatRow(Sum(x, greatest), greatest - lift, scale_x_, scale_y_);
    for (int64_t i = 0; i < columns_; ++i) {
      y[i] = static_cast<uint8_t>(
          numerics::LogSoftmaxFloatTable((x[i] ^ flip_) - lift, row, zero_y_, lo_, hi_));
    }
  }

  void FloatQuotientRow(const uint8_t* x, uint8_t greatest, uint8_t* y) const noexcept {
    const float sum = Sum(x, greatest), units = numerics::SoftmaxUnits(scale_y_);
    for (int64_t i = 0; i < columns_; ++i) {
      y[i] = static_cast<uint8_t>(numerics::SoftmaxFloatQuotient(table_[Difference(greatest, x[i])],
                                                                 units, sum, zero_y_, lo_, hi_));
    }
  }

  const uint8_t* src_;
  uint8_t* dst_;
  uint8_t flip_;
  bool dst_signed_;
  SoftmaxArithmetic arithmetic_;
  float scale_x_, scale_y_;
  int32_t zero_y_, lo_, hi_;
  LutFn lut_;
  SoftmaxQuotientsFn quotients_;
  RequantWords inverse_scale_;  // kQuotient
  numerics::LogSoftmaxScale log_scale_;
  SoftmaxRowsFn run_rows_ = nullptr;  // kQuotient
  SoftmaxRowsArgs rows_args_;
  int64_t rows_ = 0, columns_ = 0;
  std::array<int32_t, 256> words_, descending_;
  std::array<float, 256> table_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Softmax& c) {
  return std::make_unique<SoftmaxStep>(context, c);
}

}  // namespace rshift
