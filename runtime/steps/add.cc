// Addition of two quantized tensors of equal shape: by integers (symmetric) or by fixed-order float (asymmetric).
#include "quantize/numerics/add.h"

#include <array>

#include "runtime/step.h"
#include "runtime/steps/byte_map.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

template <typename A, typename B>
class AddStep : public Step {
 public:
  explicit AddStep(const StepContext& context)
      : a_(context.In<A>(Field::kSrc)), b_(context.In<B>(Field::kSrc2)),
        y_(context.Out<uint8_t>(Field::kDst)),
        count_(NumElements(context.Record(Field::kDst).shape)), command_(*context.command) {}

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    const A* a = a_;
    const B* b = b_;
    uint8_t* y = y_;
    const auto multiplier_a = static_cast<int32_t>(command_.Get(Field::kMultiplier));
    const auto multiplier_b = static_cast<int32_t>(command_.Get(Field::kMultiplier2));
    const auto rshift = static_cast<int32_t>(command_.Get(Field::kRshift));
    const auto lo = static_cast<int32_t>(command_.Get(Field::kClampLoQ));
    const auto hi = static_cast<int32_t>(command_.Get(Field::kClampHiQ));
    for (int64_t i = part.begin; i < part.end; ++i) {
      y[i] = static_cast<uint8_t>(
          numerics::AddSymmetric(a[i], b[i], multiplier_a, multiplier_b, rshift, lo, hi));
    }
  }

 private:
  const A* a_;
  const B* b_;
  uint8_t* y_;
  int64_t count_;
  Command command_;
};

template <typename A, typename B>
class AddFloatStep : public Step {
 public:
  explicit AddFloatStep(const StepContext& context)
      : a_(context.In<A>(Field::kSrc)), b_(context.In<B>(Field::kSrc2)),
        y_(context.Out<uint8_t>(Field::kDst)), record_a_(context.Record(Field::kSrc)),
        record_b_(context.Record(Field::kSrc2)), record_y_(context.Record(Field::kDst)),
        count_(NumElements(record_y_.shape)),
        lo_(static_cast<int32_t>(context.command->Get(Field::kClampLoQ))),
        hi_(static_cast<int32_t>(context.command->Get(Field::kClampHiQ))) {}

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, 64, team);
    const A* a = a_;
    const B* b = b_;
    uint8_t* y = y_;
    const float scale_a = record_a_.scale, scale_b = record_b_.scale, scale_y = record_y_.scale;
    const int32_t zero_a = record_a_.zero_point, zero_b = record_b_.zero_point;
    const int32_t zero_y = record_y_.zero_point, lo = lo_, hi = hi_;
    for (int64_t i = part.begin; i < part.end; ++i) {
      y[i] = static_cast<uint8_t>(numerics::AddFloat(a[i], scale_a, zero_a, b[i], scale_b, zero_b,
                                                     scale_y, zero_y, lo, hi));
    }
  }

 private:
  const A* a_;
  const B* b_;
  uint8_t* y_;
  TensorRecord record_a_, record_b_, record_y_;
  int64_t count_;
  int32_t lo_, hi_;
};

template <template <typename, typename> typename S>
std::unique_ptr<Step> Make(const StepContext& context) {
  const bool a = context.Record(Field::kSrc).dtype == DType::kS8;
  const bool b = context.Record(Field::kSrc2).dtype == DType::kS8;
  if (a && b) return std::make_unique<S<int8_t, int8_t>>(context);
  if (a) return std::make_unique<S<int8_t, uint8_t>>(context);
  if (b) return std::make_unique<S<uint8_t, int8_t>>(context);
  return std::make_unique<S<uint8_t, uint8_t>>(context);
}

}  // namespace

void RegisterAddSteps() {
  RegisterStep(Opcode::kAdd, Make<AddStep>);
  RegisterStep(Opcode::kAddFloat, Make<AddFloatStep>);
}

}  // namespace rshift
