// Addition of two quantized tensors of equal shape: by integers (symmetric) or by fixed-order float
// (asymmetric).
#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr int64_t kGrain = 64;  // elements: threads write different cache lines

// Args: AddArgs or AddFloatArgs.
template <typename Args>
class AddStep : public Step {
 public:
  using Loop = void (*)(const Args&, int64_t, int64_t) noexcept;
  AddStep(const Args& args, Loop loop, int64_t count) : args_(args), loop_(loop), count_(count) {}

  void Run(const Team& team) noexcept override {
    const Range part = Part(count_, kGrain, team);
    loop_(args_, part.begin, part.end);
  }

 private:
  Args args_;
  Loop loop_;
  int64_t count_;
};

bool IsSigned(const StepContext& context, Field f) { return context.Record(f).dtype == DType::kS8; }

template <typename Args>
void SetOperands(const StepContext& context, Args* args) {
  args->a = context.In(Field::kSrc);
  args->b = context.In(Field::kSrc2);
  args->y = context.Out<uint8_t>(Field::kDst);
  args->lo = static_cast<int32_t>(context.command->Get(Field::kClampLoQ));
  args->hi = static_cast<int32_t>(context.command->Get(Field::kClampHiQ));
}

std::unique_ptr<Step> MakeAdd(const StepContext& context) {
  AddArgs args;
  SetOperands(context, &args);
  args.multiplier_a = static_cast<int32_t>(context.command->Get(Field::kMultiplier));
  args.multiplier_b = static_cast<int32_t>(context.command->Get(Field::kMultiplier2));
  args.rshift = static_cast<int32_t>(context.command->Get(Field::kRshift));
  const auto loop = ElementwiseFor(context.isa)
                        .add[IsSigned(context, Field::kSrc)][IsSigned(context, Field::kSrc2)];
  return std::make_unique<AddStep<AddArgs>>(args, loop,
                                            NumElements(context.Record(Field::kDst).shape));
}

std::unique_ptr<Step> MakeAddFloat(const StepContext& context) {
  const TensorRecord& a = context.Record(Field::kSrc);
  const TensorRecord& b = context.Record(Field::kSrc2);
  const TensorRecord& y = context.Record(Field::kDst);
  AddFloatArgs args{.scale_a = a.scale,
                    .scale_b = b.scale,
                    .scale_y = y.scale,
                    .zero_a = a.zero_point,
                    .zero_b = b.zero_point,
                    .zero_y = y.zero_point};
  SetOperands(context, &args);
  const auto loop = ElementwiseFor(context.isa)
                        .add_float[IsSigned(context, Field::kSrc)][IsSigned(context, Field::kSrc2)];
  return std::make_unique<AddStep<AddFloatArgs>>(args, loop, NumElements(y.shape));
}

}  // namespace

void RegisterAddSteps() {
  RegisterStep(Opcode::kAdd, MakeAdd);
  RegisterStep(Opcode::kAddFloat, MakeAddFloat);
}

}  // namespace rshift
