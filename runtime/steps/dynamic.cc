// Quantization whose scale and zero point are found while the program runs. The least and the
// greatest element and sums of integers do not depend on the order: same bytes on any threads.
//
//   sum (x - Zx)(w - zero_w) = sum x (w - zero_w) - Zx sum (w - zero_w)
//
// The last term is the bias of the channel, made anew each time; all of it modulo 2^32 (kernels.h).
#include "quantize/numerics/dynamic.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>

#include "runtime/f32/row_kernels.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/steps/conv_step.h"
#include "runtime/steps/depthwise_step.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Each thread its part; the last one that is done combines them.
class DynamicRangeStep : public Step {
 public:
  explicit DynamicRangeStep(const StepContext& context)
      : extremes_(f32::RowKernelsFor(context.isa).extremes),
        x_(context.In<float>(Field::kSrc)),
        count_(NumElements(context.Record(Field::kSrc).shape)),
        record_(context.Out<float>(Field::kDst)),
        least_(static_cast<size_t>(context.threads)),
        greatest_(static_cast<size_t>(context.threads)) {}

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(count_, kCacheLine, team);
    const auto index = static_cast<size_t>(team.index), count = static_cast<size_t>(team.count);
    least_[index] = kInfinity, greatest_[index] = -kInfinity;
    if (part.begin < part.end)
      extremes_(x_ + part.begin, part.end - part.begin, &least_[index], &greatest_[index]);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 != team.count) return;
    done_.store(0, std::memory_order_relaxed);
    float least = kInfinity, greatest = -kInfinity;
    for (size_t i = 0; i < count; ++i) {  // a NaN stays
      if (!(least_[i] >= least)) least = least_[i];
      if (!(greatest_[i] <= greatest)) greatest = greatest_[i];
      if (std::isnan(least)) break;
    }
    const auto [scale, zero] = numerics::DynamicParamsOf(least, greatest);
    record_[0] = scale, record_[1] = zero;
  }

 private:
  void (*extremes_)(const float* x, int64_t n, float* lowest, float* highest) noexcept;
  const float* x_;
  int64_t count_;
  float* record_;
  std::vector<float> least_, greatest_;  // by thread
  std::atomic<int> done_{0};
};

class DynamicQuantizeStep : public Step {
 public:
  explicit DynamicQuantizeStep(const StepContext& context)
      : loop_(ElementwiseFor(context.isa).quantize[static_cast<size_t>(RealRounding::kEven)]),
        args_{.x = context.In<float>(Field::kSrc),
              .y = context.Out<uint8_t>(Field::kDst),
              .lo = 0,
              .hi = 255},
        record_(context.In<float>(Field::kSrc2)),
        count_(NumElements(context.Record(Field::kDst).shape)) {}

  void Run(const Team& team) noexcept override {
    QuantizeArgs args = args_;
    args.scale = record_[0];
    args.zero = numerics::DynamicZero(record_[1], false);
    const Range part = ThreadRange(count_, kCacheLine, team);
    if (part.begin < part.end) loop_(args, part.begin, part.end);
  }

 private:
  ElementwiseTable::Loop<QuantizeArgs> loop_;
  QuantizeArgs args_;
  const float* record_;
  int64_t count_;
};

// What a thread makes of the record before its share: the biases and scales of the channels and the
// row of zero points.
class DynamicWords {
 public:
  DynamicWords(const StepContext& context, const RequantLayout& layout)
      : arrays_(MakeDynamicArrays(context, layout)),
        record_(context.In<float>(Field::kSrc2)),
        is_signed_(context.Record(Field::kSrc).dtype == DType::kS8),
        entries_((layout.entries + 15) / 16 * 16),
        row_(static_cast<size_t>(context.Record(Field::kSrc).shape.back()) + kBufferSlack),
        memory_(static_cast<size_t>(entries_) * 3 * sizeof(int32_t) + row_, context.threads) {}

  // They point into this object.
  RequantArrays TakeArrays() const { return {{}, nullptr, nullptr, arrays_.args}; }
  size_t bytes() const { return arrays_.memory.size() + memory_.bytes(); }

  template <typename Args>
  Args Prepare(Args args, const Team& team) noexcept {
    auto* bias = static_cast<int32_t*>(memory_.For(team));
    int32_t* bias_flipped = bias + entries_;
    auto* scale = reinterpret_cast<float*>(bias_flipped + entries_);
    auto* zero_row = reinterpret_cast<uint8_t*>(scale + entries_);
    const int32_t zero = numerics::DynamicZero(record_[1], is_signed_);
    const RequantArgs& own = arrays_.args;
    for (int64_t i = 0; i < entries_; ++i) {
      const uint32_t shift =
          0 - static_cast<uint32_t>(zero) * static_cast<uint32_t>(arrays_.sums[i]);
      bias[i] = static_cast<int32_t>(shift);
      bias_flipped[i] = static_cast<int32_t>(shift + static_cast<uint32_t>(own.bias_flipped[i]));
      scale[i] = record_[0] * own.scale[i];
    }
    std::memset(zero_row, static_cast<uint8_t>(zero), row_);
    args.requant.bias = bias;
    args.requant.bias_flipped = bias_flipped;
    args.requant.scale = scale;
    args.zero_row = zero_row;
    return args;
  }

 private:
  DynamicArrays arrays_;
  const float* record_;
  bool is_signed_;
  int64_t entries_;
  size_t row_;
  ThreadScratch memory_;
};

// `Base`: ConvStep or DepthwiseStep, whose second argument is `args`.
template <typename Base>
class DynamicStep : public Base {
 public:
  // `words`: made by the base, which knows the layout.
  template <typename Args>
  DynamicStep(const StepContext& context, const Args& args,
              std::unique_ptr<DynamicWords> words = nullptr)
      : Base(context, args,
             [&](const RequantLayout& layout) {
               words = std::make_unique<DynamicWords>(context, layout);
               return words->TakeArrays();
             }),
        words_(std::move(words)) {}

  void Run(const Team& team) noexcept override {
    Base::RunShare(words_->Prepare(Base::args(), team), team);
  }
  size_t memory_bytes() const override { return Base::memory_bytes() + words_->bytes(); }

 private:
  std::unique_ptr<DynamicWords> words_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicRange&) {
  return std::make_unique<DynamicRangeStep>(context);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicQuantize&) {
  return std::make_unique<DynamicQuantizeStep>(context);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicConv& c) {
  const int64_t ic = context.Record(Field::kSrc).shape[3];
  if (IsDepthwise(c.groups, ic, context.Record(Field::kDst).shape[3]))
    return std::make_unique<DynamicStep<DepthwiseStep>>(context, c.window);
  return std::make_unique<DynamicStep<ConvStep>>(context, ConvArgsOf(context, c));
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicMatMul&) {
  return std::make_unique<DynamicStep<ConvStep>>(context, MatMulArgsOf(context));
}

}  // namespace rshift
