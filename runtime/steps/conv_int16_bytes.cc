// Convolutions and matrix products of bytes with 16-bit results: those of 8 bits (conv_step.h) with
// another end. The weights are packed at load.
#include <cstring>
#include <vector>

#include "quantize/numerics/int16.h"
#include "runtime/kernels/int16_finish.h"
#include "runtime/kernels/weight_sums.h"
#include "runtime/steps/conv_int16.h"
#include "runtime/steps/conv_step.h"
#include "runtime/steps/int16.h"

namespace rshift {
namespace {

// [OC][tap][IC/groups] -> the layout of the 8-bit kernels.
AlignedBuffer Packed(const ConvArgs& args, const int8_t* weights) {
  const Window& w = args.window;
  const int64_t taps = w.kernel_h * w.kernel_w, ic = args.ic_per_group, products = taps * ic;
  std::vector<int8_t> ordered(static_cast<size_t>(args.oc * products));
  for (int64_t first = 0; first < args.oc * products; first += products) {
    for (int64_t k = 0; k < products; ++k)
      ordered[static_cast<size_t>(first + k % ic * taps + k / ic)] = weights[first + k];
  }
  const std::vector<int8_t> packed = PackConvolution(
      {args.groups, args.oc_per_group, ic, w.kernel_h, w.kernel_w, w.dilation_w}, ordered);
  AlignedBuffer buffer(packed.size() + kBufferSlack);
  std::memcpy(buffer.data(), packed.data(), packed.size());
  return buffer;
}

ConvArgs WithWeights(ConvArgs args, const AlignedBuffer& packed) {
  args.weights = reinterpret_cast<const int8_t*>(packed.data());
  return args;
}

RequantArrays ArraysOf(const StepContext& context, const ClampQ& clamp,
                       const RequantLayout& layout) {
  RequantArrays result;
  const int64_t stride = (layout.entries + 15) / 16 * 16;  // 64-byte lines
  result.memory = AlignedBuffer(static_cast<size_t>(stride * 4) * sizeof(int32_t));
  auto* memory = reinterpret_cast<int32_t*>(result.memory.data());
  int32_t *bias = memory, *bias_flipped = memory + stride, *multiplier = memory + 2 * stride,
          *rshift = memory + 3 * stride;
  const auto* records = context.In<uint8_t>(Field::kRequant);
  const auto* weights = context.In<int8_t>(Field::kWeights);
  const bool flipped = (context.Record(Field::kSrc).dtype == DType::kS8) == kFlippedSigned;
  constexpr int32_t kZeros = numerics::kInt16MultiplierZeros;
  for (int64_t c = 0; c < layout.channels; ++c) {
    ChannelRequant record;
    std::memcpy(&record, records + c * static_cast<int64_t>(sizeof(record)), sizeof(record));
    const int64_t entry = layout.Entry(c);
    bias[entry] = record.bias;
    // Modulo 2^32, as the vector units add.
    uint32_t sum = 0;
    for (int64_t k = 0; flipped && k < layout.products; ++k)
      sum += static_cast<uint32_t>(weights[c * layout.products + k]);
    const auto own = static_cast<uint32_t>(record.bias);
    bias_flipped[entry] =
        static_cast<int32_t>(kFlippedSigned ? own - 128u * sum : own + 128u * sum);
    multiplier[entry] = record.multiplier >> kZeros;
    rshift[entry] = record.multiplier == 0 ? 0 : record.rshift - kZeros;
  }
  RequantArgs& args = result.args;
  args.bias = bias;
  args.bias_flipped = bias_flipped;
  args.multiplier = multiplier;
  args.rshift = rshift;
  args.zero_y = context.Record(Field::kDst).zero_point;
  args.lo = clamp.lo;
  args.hi = clamp.hi;
  args.post_ops = true;
  args.finish = FinishToInt16(context.isa);
  result.post_op_args = std::make_unique<PostOpArgs>();
  result.post_op_args->dst = context.Out<uint8_t>(Field::kDst);
  result.post_op_args->numbers = context.Out<int16_t>(Field::kDst);
  args.post_op_args = result.post_op_args.get();
  return result;
}

class BytesToInt16Step : public Step {
 public:
  BytesToInt16Step(const StepContext& context, const ConvArgs& args, const ClampQ& clamp)
      : weights_(Packed(args, context.In<int8_t>(Field::kWeights))),
        conv_(context, WithWeights(args, weights_),
              [&](const RequantLayout& layout) { return ArraysOf(context, clamp, layout); }) {}

  void Run(const Team& team) noexcept override { conv_.Run(team); }
  size_t memory_bytes() const override { return weights_.size() + conv_.memory_bytes(); }

 private:
  AlignedBuffer weights_;
  ConvStep conv_;
};

}  // namespace

std::unique_ptr<Step> MakeBytesToInt16(const StepContext& context, const isa::ConvS16& c) {
  return std::make_unique<BytesToInt16Step>(context, ConvArgsOf(context, c), c.clamp);
}
std::unique_ptr<Step> MakeBytesToInt16(const StepContext& context, const isa::MatMulS16& c) {
  return std::make_unique<BytesToInt16Step>(context, MatMulArgsOf(context), c.clamp);
}

}  // namespace rshift
