#include <array>
#include <atomic>
#include <mutex>

#include "runtime/f32/f32_steps.h"
#include "runtime/step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

using Makers = std::array<std::atomic<MakeStep>, 256>;

Makers& AllMakers() {
  static Makers makers{};
  return makers;
}

// Explicit calls, not static initialisers: a linker drops those of a static library.
void RegisterBuiltIns() {
  RegisterQuantizeSteps();
  RegisterConvSteps();
  RegisterAddSteps();
  RegisterAddShiftedSteps();
  RegisterMulSteps();
  RegisterMaxPoolSteps();
  RegisterAveragePoolSteps();
  RegisterSoftmaxSteps();
  RegisterActivationSteps();
  RegisterMoveSteps();
  RegisterTransposeSteps();
  RegisterGatherSteps();
  RegisterF32Steps();
}

}  // namespace

void RegisterStep(Opcode opcode, MakeStep make) {
  AllMakers()[static_cast<uint8_t>(opcode)].store(make, std::memory_order_release);
}

MakeStep FindStep(Opcode opcode) {
  static std::once_flag once;
  std::call_once(once, RegisterBuiltIns);
  return AllMakers()[static_cast<uint8_t>(opcode)].load(std::memory_order_acquire);
}

}  // namespace rshift
