// Products of rows, rescaled factor by factor.
#include <algorithm>

#include "quantize/numerics/tflite.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class ProductStep : public Step {
 public:
  ProductStep(const StepContext& context, const isa::Product& c)
      : c_(c),
        zero_(context.Record(Field::kDst).zero_point),
        rows_(context.Record(Field::kSrc).shape[1]),
        inner_(context.Record(Field::kSrc).shape[3]),
        outer_(context.Record(Field::kSrc).shape[0]),
        src_(context, Field::kSrc),
        dst_(context) {}

  void Run(const Team& team) noexcept override {
    const int64_t blocks = (inner_ + kS16Block - 1) / kS16Block;
    const Range part = ThreadRange(outer_ * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t first = item % blocks * kS16Block;
      RunBlock(item / blocks, first, std::min(kS16Block, inner_ - first));
    }
  }

 private:
  void RunBlock(int64_t outer, int64_t first, int64_t n) const noexcept {
    alignas(64) int32_t product[kS16Block], factor[kS16Block];
    const int64_t at = outer * rows_ * inner_ + first;
    src_.Read(at, n, product);
    for (int64_t row = 1; row < rows_; ++row) {
      src_.Read(at + row * inner_, n, factor);
      for (int64_t i = 0; i < n; ++i)
        product[i] = numerics::ScaledProduct(product[i], factor[i], c_.words);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int32_t scaled = numerics::ScaledProduct(product[i], 1, c_.words);
      product[i] = numerics::Clamp(int64_t{scaled} + zero_, c_.clamp.lo, c_.clamp.hi);
    }
    dst_.Write(product, outer * inner_ + first, n);
  }

  const isa::Product c_;
  int32_t zero_;
  int64_t rows_, inner_, outer_;
  WidenedInput src_;
  NarrowedOutput dst_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Product& c) {
  return std::make_unique<ProductStep>(context, c);
}

}  // namespace rshift
