// kReduceF32 of s32, s64 and bool. Sums and products wrap around modulo 2 to the type's bits, so
// their order does not matter; a mean is the sum divided towards zero, as ONNX Runtime divides it.
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "runtime/f32/reduce_plan.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

template <typename T>
T Wrapped(uint64_t v) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(v));
}

template <typename T>
T First(ReduceOp mode) {
  switch (mode) {
    case ReduceOp::kMax:
      return std::numeric_limits<T>::min();
    case ReduceOp::kMin:
      return std::numeric_limits<T>::max();
    case ReduceOp::kProd:
      return 1;
    case ReduceOp::kMean:
    case ReduceOp::kSum:
    case ReduceOp::kL1:
    case ReduceOp::kSumSquare:
      return 0;
    case ReduceOp::kL2:
    case ReduceOp::kLogSumExp:
    case ReduceOp::kLogSum:
      break;
  }
  Fail(ErrorCode::kInternal, "reduction ", static_cast<int>(mode), " has no form of integers");
}

template <typename T>
T Joined(ReduceOp mode, T so_far, T x) {
  const auto a = static_cast<uint64_t>(so_far), b = static_cast<uint64_t>(x);
  switch (mode) {
    case ReduceOp::kMax:
      return std::max(so_far, x);
    case ReduceOp::kMin:
      return std::min(so_far, x);
    case ReduceOp::kProd:
      return Wrapped<T>(a * b);
    case ReduceOp::kL1:
      return Wrapped<T>(x < 0 ? a - b : a + b);
    case ReduceOp::kSumSquare:
      return Wrapped<T>(a + b * b);
    case ReduceOp::kMean:
    case ReduceOp::kSum:
      return Wrapped<T>(a + b);
    case ReduceOp::kL2:
    case ReduceOp::kLogSumExp:
    case ReduceOp::kLogSum:
      break;
  }
  Fail(ErrorCode::kInternal, "reduction ", static_cast<int>(mode), " has no form of integers");
}

template <typename T>
void ReduceRange(const ReducePlan& plan, ReduceOp mode, const Range& range, const T* in, T* out) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    T value = First<T>(mode);
    for (int64_t row = 0; row < plan.reduced.total; ++row) {
      const T* x = in + plan.kept.Offset(i) + plan.reduced.Offset(row);
      for (int64_t k = 0; k < plan.run; ++k) value = Joined(mode, value, x[k * plan.run_stride]);
    }
    if (mode == ReduceOp::kMean && plan.count > 0) value /= static_cast<T>(plan.count);
    out[i] = value;
  }
}

template <typename T>
std::unique_ptr<Step> StepOf(const StepContext& context, ReduceOp mode) {
  const ReducePlan plan = MakeReducePlan(context);
  const T* in = context.In<T>(Field::kSrc);
  T* out = context.Out<T>(Field::kDst);
  return StepFrom([=](const Team& team) {
    ReduceRange(plan, mode, ThreadRange(plan.kept.total, 16, team), in, out);
  });
}

}  // namespace

std::unique_ptr<Step> MakeIntegerReduction(const StepContext& context, ReduceOp mode) {
  switch (context.Record(Field::kSrc).dtype) {
    case DType::kS32:
      return StepOf<int32_t>(context, mode);
    case DType::kS64:
      return StepOf<int64_t>(context, mode);
    case DType::kBool:
      return StepOf<uint8_t>(context, mode);
    default:
      Fail(ErrorCode::kInternal, "reductions of ", Name(context.Record(Field::kSrc).dtype));
  }
}

}  // namespace rshift::f32
