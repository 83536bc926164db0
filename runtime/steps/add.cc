// Additions of two quantized tensors of equal shape.
#include "quantize/numerics/add_forms.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr int64_t kGrain = 64;  // elements: threads write different cache lines

// Args: AddArgs, AddFloatArgs, AddFmaArgs or the loops' below.
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

template <typename Args>
void SetZeros(const StepContext& context, Args* args) {
  args->zero_a = context.Record(Field::kSrc).zero_point;
  args->zero_b = context.Record(Field::kSrc2).zero_point;
  args->zero_y = context.Record(Field::kDst).zero_point;
}

template <typename Args>
std::unique_ptr<Step> Make(const StepContext& context, const Args& args,
                           typename AddStep<Args>::Loop loop) {
  return std::make_unique<AddStep<Args>>(args, loop,
                                         NumElements(context.Record(Field::kDst).shape));
}

int32_t Get(const StepContext& context, Field f) {
  return static_cast<int32_t>(context.command->Get(f));
}

Rounding RoundingOf(const StepContext& context) {
  return static_cast<Rounding>(context.command->Get(Field::kRounding));
}

template <typename A, typename B>
void AddAway(const AddArgs& args, int64_t begin, int64_t end) noexcept {
  const AddArgs p = args;
  const A* a = static_cast<const A*>(p.a);
  const B* b = static_cast<const B*>(p.b);
  for (int64_t i = begin; i < end; ++i) {
    p.y[i] = static_cast<uint8_t>(numerics::AddCommonShiftAway(a[i] - p.zero_a, b[i] - p.zero_b,
                                                               p.multiplier_a, p.multiplier_b,
                                                               p.rshift, p.zero_y, p.lo, p.hi));
  }
}

std::unique_ptr<Step> MakeAdd(const StepContext& context) {
  AddArgs args;
  SetOperands(context, &args);
  SetZeros(context, &args);
  args.multiplier_a = static_cast<int32_t>(context.command->Get(Field::kMultiplier));
  args.multiplier_b = static_cast<int32_t>(context.command->Get(Field::kMultiplier2));
  args.rshift = static_cast<int32_t>(context.command->Get(Field::kRshift));
  const bool a = IsSigned(context, Field::kSrc), b = IsSigned(context, Field::kSrc2);
  if (RoundingOf(context) == Rounding::kHalfUp)
    return Make(context, args, ElementwiseFor(context.isa).add[a][b]);
  if (a) return Make(context, args, b ? AddAway<int8_t, int8_t> : AddAway<int8_t, uint8_t>);
  return Make(context, args, b ? AddAway<uint8_t, int8_t> : AddAway<uint8_t, uint8_t>);
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
  return Make(context, args,
              ElementwiseFor(context.isa)
                  .add_float[IsSigned(context, Field::kSrc)][IsSigned(context, Field::kSrc2)]);
}

std::unique_ptr<Step> MakeAddFma(const StepContext& context) {
  const Command& command = *context.command;
  const auto flip = [&](Field f) { return static_cast<uint8_t>(IsSigned(context, f) ? 0x80 : 0); };
  const AddFmaArgs args{.a = context.In<uint8_t>(Field::kSrc),
                        .b = context.In<uint8_t>(Field::kSrc2),
                        .y = context.Out<uint8_t>(Field::kDst),
                        .ratio_a = command.GetFloat(Field::kScaleF),
                        .ratio_b = command.GetFloat(Field::kAlphaF),
                        .fixed = command.GetFloat(Field::kOffsetF),
                        .flip_a = flip(Field::kSrc),
                        .flip_b = flip(Field::kSrc2),
                        .shift_y = numerics::UnsignedShift(IsSigned(context, Field::kDst)),
                        .lo = Get(context, Field::kClampLoQ),
                        .hi = Get(context, Field::kClampHiQ)};
  return Make(context, args, ElementwiseFor(context.isa).add_fma);
}

}  // namespace

void RegisterAddSteps() {
  RegisterStep(Opcode::kAdd, MakeAdd);
  RegisterStep(Opcode::kAddFloat, MakeAddFloat);
  RegisterStep(Opcode::kAddFma, MakeAddFma);
}

}  // namespace rshift
