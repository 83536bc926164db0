// Products of two activations: the second factor packed as weights are, one matrix after the other,
// then the convolution kernel of the session's instruction set.
//
//   sum (a - Za)(b - Zb) = sum a (w - zero_w) - Za sum (w - zero_w),  w and zero_w: b and Zb as s8
//
// The last term is the bias of the column; all of it modulo 2^32 (kernels.h).
#include <algorithm>

#include "codegen/packing/packing.h"
#include "quantize/numerics/accumulator.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/pack_columns.h"
#include "runtime/kernels/weight_sums.h"
#include "runtime/steps/batch_offsets.h"
#include "runtime/steps/conv_share.h"
#include "runtime/steps/requant_arrays.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class BatchedMatMulStep : public Step {
 public:
  BatchedMatMulStep(const StepContext& context, const isa::BatchedMatMul& c)
      : kernels_(KernelsFor(context.isa)),
        sum_(WeightSumFor(context.isa)),
        src_(context.In<uint8_t>(Field::kSrc)),
        src2_(context.In<uint8_t>(Field::kSrc2)),
        dst_(context.Out<uint8_t>(Field::kDst)),
        zero_row_(MakeZeroRow(context.Record(Field::kSrc))),
        scratch_(0, 1) {
    const TensorRecord &a = context.Record(Field::kSrc), &b = context.Record(Field::kSrc2);
    SetShapes(a.shape, b.shape, context.Record(Field::kDst).shape);
    const bool b_signed = b.dtype == DType::kS8;
    zero_a_ = a.zero_point;
    zero_w_ = b_signed ? b.zero_point : b.zero_point - 128;
    flip_ = b_signed ? 0 : 0x80;
    SetArgs(a.dtype == DType::kS8);
    flipped_ = args_.src_signed == kFlippedSigned;
    const int64_t most =
        numerics::LargestProductSum(k_, numerics::LargestMagnitude(args_.src_signed, zero_a_),
                                    numerics::LargestMagnitude(b_signed, b.zero_point));
    requant_ = MakeColumnArrays({c.rounding, c.clamp, {}}, c.words,
                                context.Record(Field::kDst).zero_point, args_.n, most);
    args_.requant = requant_.args;
    zero_ws_ = AlignedBuffer(static_cast<size_t>(args_.n) * sizeof(int32_t));
    auto* zeros = reinterpret_cast<int32_t*>(zero_ws_.data());
    std::fill_n(zeros, n_, zero_w_);
    if (zero_w_ != 0) args_.requant.zero_w = zeros;
    kernel_scratch_ = kernels_.conv_scratch == nullptr ? 0 : kernels_.conv_scratch(args_);
    kernel_scratch_ = static_cast<size_t>(RoundUp(static_cast<int64_t>(kernel_scratch_), 64));
    const auto packed = static_cast<size_t>(args_.k * args_.n);
    scratch_ = {kernel_scratch_ + packed + static_cast<size_t>(args_.n) * 2 * sizeof(int32_t) +
                    kBufferSlack,
                context.threads};
  }

  void Run(const Team& team) noexcept override {
    ConvArgs args = args_;
    Memory memory(scratch_.For(team), kernel_scratch_, args);
    args.weights = memory.packed;
    args.requant.bias = memory.bias;
    args.requant.bias_flipped = memory.bias_flipped;
    const bool by_columns = m_ < kFewRows * team.count && batches_ < team.count;
    const Range rows = by_columns ? Range{0, batches_ * m_} : ThreadRange(batches_ * m_, 1, team);
    const Range panels =
        by_columns ? ThreadRange(args.panels_per_group, 1, team) : Range{0, args.panels_per_group};
    if (panels.begin == panels.end) return;
    int64_t packed_from = -1;
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t batch = row / m_, first = row - batch * m_;
      const int64_t end = std::min(m_, first + rows.end - row);
      const int64_t from = offsets_b_.Of(batch);
      if (from != packed_from) Pack(src2_ + from, panels, memory);
      packed_from = from;
      args.src = src_ + offsets_a_.Of(batch);
      args.dst = dst_ + batch * m_ * n_;
      kernels_.conv(args, {first, end, panels.begin, panels.end}, memory.kernel);
      row += end - first;
    }
  }

  size_t memory_bytes() const override {
    return zero_row_.size() + zero_ws_.size() + requant_.memory.size() + scratch_.bytes();
  }

 private:
  // A thread's own.
  struct Memory {
    Memory(void* scratch, size_t kernel_bytes, const ConvArgs& args) : kernel(scratch) {
      auto* at = static_cast<uint8_t*>(scratch) + kernel_bytes;
      bias = reinterpret_cast<int32_t*>(at);
      bias_flipped = bias + args.n;
      packed = reinterpret_cast<int8_t*>(bias_flipped + args.n);
    }
    void* kernel;
    int32_t *bias, *bias_flipped;
    int8_t* packed;
  };

  void SetShapes(const Shape& a, const Shape& b, const Shape& dst) {
    m_ = a[a.size() - 2], k_ = a.back(), n_ = b.back();
    batches_ = NumElements(Shape(dst.begin(), dst.end() - 2));
    // One matrix for all rows: the leading dimensions are rows too.
    if (NumElements(b) == k_ * n_ && NumElements(a) == batches_ * m_ * k_) {
      m_ *= batches_, batches_ = 1;
      return;
    }
    const Shape batches(dst.begin(), dst.end() - 2);
    offsets_a_ = {batches, a};
    offsets_b_ = {batches, b};
  }

  void SetArgs(bool src_signed) {
    args_.zero_row = zero_row_.data();
    args_.src_signed = src_signed;
    args_.ih = args_.oh = m_;
    args_.ic = args_.ic_per_group = args_.src_pitch = k_;
    args_.oc = args_.oc_per_group = args_.dst_pitch = n_;
    args_.ic4 = args_.k = RoundUp(k_, kDotProducts);
    args_.n = RoundUp(n_, kLineChannels);
    args_.panels_per_group = (args_.n + kPanelChannels - 1) / kPanelChannels;
    args_.pointwise = true;
  }

  // Panels of the matrix at `b`, with their biases.
  void Pack(const uint8_t* b, const Range& panels, const Memory& memory) const noexcept {
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t first = panel * kPanelChannels, real = std::min(kPanelChannels, n_ - first);
      const int64_t width = std::min(kPanelChannels, args_.n - first);
      int8_t* weights = memory.packed + first * args_.k;
      PackColumns(b + first, n_, k_, real, flip_, weights);
      uint32_t sums[kPanelChannels] = {};
      if (zero_a_ != 0 || flipped_) sum_(weights, args_.k / kDotProducts, width, sums);
      for (int64_t c = 0; c < width; ++c) {
        // A column that does not exist has no products.
        const uint32_t zeros = c < real ? static_cast<uint32_t>(k_ * zero_w_) : 0;
        const uint32_t bias = 0 - static_cast<uint32_t>(zero_a_) * (sums[c] - zeros);
        const uint32_t shift = flipped_ ? 128 * sums[c] : 0;
        memory.bias[first + c] = static_cast<int32_t>(bias);
        memory.bias_flipped[first + c] =
            static_cast<int32_t>(kFlippedSigned ? bias - shift : bias + shift);
      }
    }
  }

  const KernelTable& kernels_;
  WeightSumFn sum_;
  const uint8_t *src_, *src2_;
  uint8_t* dst_;
  int64_t batches_ = 1, m_ = 0, k_ = 0, n_ = 0;
  BatchOffsets offsets_a_, offsets_b_;
  int32_t zero_a_ = 0, zero_w_ = 0;
  uint8_t flip_ = 0;
  bool flipped_ = false;  // kernels take src XOR 0x80
  ConvArgs args_;
  AlignedBuffer zero_row_, zero_ws_;
  RequantArrays requant_;
  size_t kernel_scratch_ = 0;
  ThreadScratch scratch_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::BatchedMatMul& c) {
  return std::make_unique<BatchedMatMulStep>(context, c);
}

}  // namespace rshift
