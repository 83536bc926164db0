// From a command to its step: decoded once, its maker found by the type of its struct.
#include <atomic>

#include "isa/ops/visit.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/portable.h"
#include "runtime/step.h"
#include "runtime/steps/broadcast_op.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

std::atomic<StepMaker> float_library{nullptr};

template <typename C>
concept MayFuseWithPrevious = requires(const C& c) {
  c.fuse_with_previous;
};

}  // namespace

void RegisterFloatSteps(StepMaker make) { float_library.store(make, std::memory_order_release); }

std::unique_ptr<Step> MakeStep(const StepContext& context) {
  std::unique_ptr<Step> step;
  isa::Visit(*context.command, [&]<typename C>(const C& c) {
    if constexpr (C::kClass == OpClass::kFloatLibrary) {
      if (context.portable) {
        step = f32::MakePortableStep(context, c);
        return;
      }
      const StepMaker make = float_library.load(std::memory_order_acquire);
      if (make != nullptr) step = make(context);
    } else if constexpr (C::kClass == OpClass::kFloat) {
      step = f32::MakeStep(context, c);
    } else if constexpr (MayFuseWithPrevious<C>) {
      step = MakeByteOpStep(context, WithBroadcast(context, MakeByteOp(context, c)));
    } else {
      step = MakeStep(context, c);
    }
  });
  return step;
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context) {
  std::unique_ptr<ByteOp> op;
  isa::Visit(*context.command, [&]<typename C>(const C& c) {
    if constexpr (MayFuseWithPrevious<C>) op = WithBroadcast(context, MakeByteOp(context, c));
  });
  return op;
}

}  // namespace rshift
