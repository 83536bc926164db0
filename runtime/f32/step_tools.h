// What the makers of F32 steps share: a Step from a callable, and checks whose messages name
// program, operator and tensor.
#ifndef RSHIFT_RUNTIME_F32_STEP_TOOLS_H_
#define RSHIFT_RUNTIME_F32_STEP_TOOLS_H_

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "isa/attributes.h"
#include "runtime/step.h"

namespace rshift::f32 {

template <typename F>
class CallableStep final : public Step {
 public:
  explicit CallableStep(F run) : run_(std::move(run)) {}
  void Run(const Team& team) noexcept override { run_(team); }

 private:
  F run_;
};

// `run(const Team&)` must not throw and must not allocate.
template <typename F>
std::unique_ptr<Step> StepFrom(F run) {
  return std::make_unique<CallableStep<F>>(std::move(run));
}

// For an empty tensor, which may have one huge dimension: its rows are not counted, though each is
// empty.
inline std::unique_ptr<Step> NothingToDo() {
  return StepFrom([](const Team&) {});
}

// "net.rshift: softmax_f32 'probs'": where to look; 'probs' is the tensor written.
std::string Where(const StepContext& context);

// Throws kUnsupported unless the tensor's element type is among `types`.
void RequireType(const StepContext& context, Field field, std::initializer_list<DType> types);
// Throws kCorrupt.
void RequireShape(bool ok, const StepContext& context, Field field, const char* expected);

// condition ? a : b without a branch: as bits, since the compiler does not vectorize a choice
// between floats (it might hide a floating-point exception).
inline float Select(bool condition, float a, float b) {
  const uint32_t mask = -static_cast<uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(a) & mask) |
                              (std::bit_cast<uint32_t>(b) & ~mask));
}

// min(max(x, lo), hi). A NaN stays one.
inline float Clamped(const Clamp& clamp, float x) {
  const float raised = Select(clamp.lo > x, clamp.lo, x);
  return Select(clamp.hi < raised, clamp.hi, raised);
}

// [outer, axis, inner]: a shape as seen from one of its axes.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;
};
AxisView ViewAlong(const Shape& shape, int64_t axis);

// `bytes`, where the program's limits allow its steps that many; else throws kUnsupported. For
// layouts and scratch that no prediction (runtime/limits.h) has, as only a library or the packed
// form of the weights knows what they take.
size_t WithinBufferLimits(const StepContext& context, size_t bytes);

}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_STEP_TOOLS_H_
