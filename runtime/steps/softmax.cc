// Softmax of bytes over the last dimension, by a table over the difference to the row's greatest.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "quantize/numerics/softmax_row.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class SoftmaxStep : public Step {
 public:
  SoftmaxStep(const StepContext& context, const isa::Softmax& softmax)
      : src_(context.In<uint8_t>(Field::kSrc)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        flip_(context.Record(Field::kSrc).dtype == DType::kS8 ? 0x80 : 0),
        dst_signed_(context.Record(Field::kDst).dtype == DType::kS8),
        arithmetic_(softmax.arithmetic),
        scale_y_(context.Record(Field::kDst).scale),
        zero_y_(context.Record(Field::kDst).zero_point),
        lo_(softmax.clamp.lo),
        hi_(softmax.clamp.hi) {
    const Shape& shape = context.Record(Field::kSrc).shape;
    columns_ = shape.back();
    rows_ = columns_ == 0 ? 0 : NumElements(shape) / columns_;
    std::memcpy(words_.data(), context.In(Field::kTable), sizeof(words_));
    std::memcpy(table_.data(), context.In(Field::kTable), sizeof(table_));
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    for (int64_t row = part.begin; row < part.end; ++row) {
      const uint8_t* x = src_ + row * columns_;
      uint8_t* y = dst_ + row * columns_;
      uint8_t greatest = 0;  // as unsigned bytes
      for (int64_t i = 0; i < columns_; ++i) greatest = std::max<uint8_t>(greatest, x[i] ^ flip_);
      switch (arithmetic_) {
        case SoftmaxArithmetic::kFixedPoint:
          FixedRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kFloatTable:
          TableRow(x, greatest, y);
          break;
        case SoftmaxArithmetic::kFloatQuotient:
          QuotientRow(x, greatest, y);
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
  float scale_y_;
  int32_t zero_y_, lo_, hi_;
  int64_t rows_ = 0, columns_ = 0;
  std::array<int32_t, 256> words_;
  std::array<float, 256> table_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Softmax& c) {
  return std::make_unique<SoftmaxStep>(context, c);
}

}  // namespace rshift
