#include "runtime/steps/requant_arrays.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "quantize/numerics/accumulator.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/numerics/requantize.h"
#include "runtime/kernels/weight_sums.h"

namespace rshift {
namespace {

struct Arrays {
  int32_t *bias, *bias_flipped, *multiplier, *rshift, *zero_w;
  float *scale, *bias_f;
  int32_t *high_half, *high_shift;
  float* ratio;
};
constexpr int kArrays = 10;
// Those of accumulators below 0, where there are records for them.
struct NegativeArrays {
  int32_t *multiplier, *rshift, *high_half, *high_shift;
  float* ratio;
};
constexpr int kNegativeArrays = 5;
constexpr int32_t kMostRshift = 62;

Arrays Divide(uint8_t* memory, int64_t stride) {
  const auto at = [&](int index) { return memory + stride * index * 4; };
  const auto ints = [&](int index) { return reinterpret_cast<int32_t*>(at(index)); };
  const auto floats = [&](int index) { return reinterpret_cast<float*>(at(index)); };
  return {ints(0),   ints(1),   ints(2), ints(3), ints(4),
          floats(5), floats(6), ints(7), ints(8), floats(9)};
}

NegativeArrays DivideNegative(uint8_t* memory, int64_t stride) {
  const auto at = [&](int index) { return memory + stride * (kArrays + index) * 4; };
  const auto ints = [&](int index) { return reinterpret_cast<int32_t*>(at(index)); };
  return {ints(0), ints(1), ints(2), ints(3), reinterpret_cast<float*>(at(4))};
}

bool HasNegativeRecords(const StepContext& context, const RequantLayout& layout) {
  const int64_t bytes = NumElements(context.Record(Field::kRequant).shape);
  return bytes == 2 * layout.channels * static_cast<int64_t>(sizeof(ChannelRequant));
}

void FillIntegers(const RequantLayout& layout, const Arrays& arrays, Rounding rounding,
                  RequantArgs* args) {
  args->max_rshift = std::max(args->max_rshift, args->min_rshift);  // all multipliers may be 0
  for (int64_t entry = 0; entry < layout.entries && rounding != Rounding::kDoubleAway; ++entry) {
    if (arrays.multiplier[entry] == 0)
      arrays.rshift[entry] = args->max_rshift;  // padding, or a constant channel: any shift gives 0
  }
  args->multiplier = arrays.multiplier;
  args->rshift = arrays.rshift;
}

// Numbers of channels, to the entries of the arrays.
std::vector<float> NumbersOfEntries(const float* numbers, const RequantLayout& layout) {
  std::vector<float> result(static_cast<size_t>((layout.entries + 15) / 16 * 16));
  for (int64_t c = 0; c < layout.channels; ++c) {
    result[static_cast<size_t>(layout.Entry(c))] = numbers[c];
  }
  return result;
}

void FillPostOps(const StepContext& context, const RequantLayout& layout,
                 PostOpArgs* post_op_args) {
  if (context.Has(Field::kList)) {
    const float* op = context.In<float>(Field::kList);
    const float* end = op + NumElements(context.Record(Field::kList).shape);
    while (op < end) {
      PostOp made{static_cast<PostOpKind>(static_cast<int>(op[0])), op[1], op[2], op[3]};
      op += 4;
      for (int list = 0; list < ChannelLists(made.kind); ++list) {
        (list == 0 ? made.alphas : made.betas) = NumbersOfEntries(op, layout);
        op += (layout.channels + 3) / 4 * 4;
      }
      post_op_args->post_ops.push_back(std::move(made));
    }
  }
  post_op_args->dst = context.Out<uint8_t>(Field::kDst);
  if (context.Has(Field::kSrc2)) {
    post_op_args->addend = context.In<uint8_t>(Field::kSrc2);
    post_op_args->addend_signed = context.Record(Field::kSrc2).dtype == DType::kS8;
  }
}

// What follows the relu is monotonic: it is a bound of the result, that of h = 0.
void FoldRelu(RequantArgs* args) {
  if (!args->half.relu) return;
  args->lo =
      numerics::RoundToByteBy(args->half.mode, args->half.quant_offset, 0, args->lo, args->hi);
  args->half.relu = false;
}

void SetHalf(const StepContext& context, PostOpArgs* post_op_args, RequantArgs* args) {
  if (context.Record(Field::kDst).dtype != DType::kF16) return FoldRelu(args);
  post_op_args->half = context.Out<uint16_t>(Field::kDst);
  args->post_ops = true;
  args->finish = FinishToHalf();
}

// Every record to its entry of the arrays; returns the largest |bias|.
int64_t FillChannels(const StepContext& context, const RequantLayout& layout, const Arrays& arrays,
                     bool integer, RequantArgs* args) {
  const auto* records = context.In<uint8_t>(Field::kRequant);
  const int32_t* zeros = context.Has(Field::kZeroW) ? context.In<int32_t>(Field::kZeroW) : nullptr;
  const bool flipped = (context.Record(Field::kSrc).dtype == DType::kS8) == kFlippedSigned;
  const std::vector<uint32_t>& weight_sums = context.WeightSums();
  int64_t most_bias = 0;
  for (int64_t c = 0; c < layout.channels; ++c) {
    ChannelRequant record;
    std::memcpy(&record, records + c * static_cast<int64_t>(sizeof(record)), sizeof(record));
    const int64_t entry = layout.Entry(c);
    arrays.bias[entry] = record.bias;
    most_bias = std::max(most_bias, std::abs(int64_t{record.bias}));
    // Modulo 2^32, as the vector units add.
    const uint32_t shift = flipped ? 128u * weight_sums[static_cast<size_t>(c)] : 0u;
    const auto bias = static_cast<uint32_t>(record.bias);
    arrays.bias_flipped[entry] = static_cast<int32_t>(kFlippedSigned ? bias - shift : bias + shift);
    if (zeros != nullptr) arrays.zero_w[entry] = zeros[c];
    if (!integer) {
      arrays.scale[entry] = numerics::WordToFloat(record.multiplier);
      arrays.bias_f[entry] = numerics::WordToFloat(record.rshift);  // 0.0f where there is none
      continue;
    }
    arrays.multiplier[entry] = record.multiplier;
    arrays.rshift[entry] = record.rshift;
    if (record.multiplier == 0) continue;
    args->min_rshift = std::min<int32_t>(args->min_rshift, record.rshift);
    args->max_rshift = std::max<int32_t>(args->max_rshift, record.rshift);
  }
  args->zero_w = zeros != nullptr ? arrays.zero_w : nullptr;
  return most_bias;
}

}  // namespace

void PrecomputeHighHalves(int64_t entries, int64_t most_acc, int32_t* high_half,
                          int32_t* high_shift, RequantArgs* args) {
  const bool half_up = args->rounding == Rounding::kHalfUp;
  if (!half_up && args->rounding != Rounding::kTwoStep && args->rounding != Rounding::kTwoStepUp)
    return;
  int32_t least = kMostRshift, most = 0;
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int32_t rshift = args->rshift[entry] % numerics::kScalarRemainder;
    least = std::min(least, rshift);
    most = std::max(most, rshift);
  }
  const bool once = half_up && least >= 33 && most <= 54;
  if (!once && (least < 31 || most > 52 || most_acc >= 1 << 29)) return;
  const int32_t below = once ? 32 : 30;  // bits of the product under the upper half
  const int32_t zero = args->zero_y - (args->hi > 127 ? 128 : 0);
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int32_t rshift = args->rshift[entry] % numerics::kScalarRemainder, shift = rshift - below;
    // Half a unit, of the second step too: the first one's comes from bit 30, the lowest one kept.
    const int32_t half = half_up ? 1 << (shift - 1) : (rshift > 31 ? 1 << (shift - 1) : 0) + 1;
    high_shift[entry] = shift;
    high_half[entry] = half + zero * (1 << shift);
  }
  args->acc_factor = once ? 1 : 4;
  args->high_half = high_half;
  args->high_shift = high_shift;
}

void PrecomputeRatios(int64_t entries, int64_t most_sum, float* ratio, RequantArgs* args) {
  if (args->rounding != Rounding::kHalfUp) return;
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int32_t multiplier = args->multiplier[entry];
    if (multiplier == 0) {
      ratio[entry] = 0;
      continue;
    }
    const int32_t odd = multiplier >> std::countr_zero(static_cast<uint32_t>(multiplier));
    if (odd < 1 << 10 || odd >= 1 << 24) return;
    ratio[entry] =
        static_cast<float>(multiplier) / static_cast<float>(uint64_t{1} << args->rshift[entry]);
    const int64_t most_acc = std::abs(int64_t{args->bias[entry]}) + most_sum;
    if (static_cast<double>(most_acc) * static_cast<double>(ratio[entry]) >= 32768 - 512) return;
    if (most_acc >= 1 << 24 && ratio[entry] < 0x1p-14f) return;
  }
  args->ratio = ratio;
}

RequantArrays MakeColumnArrays(const RequantForm& form, const RequantWords& words, int32_t zero_y,
                               int64_t columns, int64_t most_acc) {
  RequantArrays result;
  const int64_t entries = (columns + 15) / 16 * 16;  // 64-byte lines
  result.memory = AlignedBuffer(static_cast<size_t>(entries) * kArrays * sizeof(int32_t));
  const Arrays arrays = Divide(result.memory.data(), entries);
  RequantArgs& args = result.args;
  if (numerics::KeepsWords(form.rounding)) {
    std::fill_n(arrays.multiplier, columns, words.multiplier);
    std::fill_n(arrays.rshift, entries, words.rshift);
    args.min_rshift = args.max_rshift = words.rshift;
    args.multiplier = arrays.multiplier;
    args.rshift = arrays.rshift;
  } else {
    std::fill_n(arrays.scale, columns, numerics::WordToFloat(words.multiplier));
    args.scale = arrays.scale;
    args.bias_f = arrays.bias_f;
  }
  args.rounding = form.rounding;
  args.bias = arrays.bias;
  args.bias_flipped = arrays.bias_flipped;
  args.zero_y = zero_y;
  args.lo = form.clamp.lo;
  args.hi = form.clamp.hi;
  args.finish = FinishFor(args.rounding, false);
  PrecomputeHighHalves(entries, most_acc, arrays.high_half, arrays.high_shift, &args);
  PrecomputeRatios(entries, most_acc, arrays.ratio, &args);
  return result;
}

DynamicArrays MakeDynamicArrays(const StepContext& context, const RequantLayout& layout) {
  DynamicArrays result;
  const int64_t stride = (layout.entries + 15) / 16 * 16;  // 64-byte lines
  result.memory = AlignedBuffer(static_cast<size_t>(stride) * kArrays * sizeof(int32_t));
  const Arrays arrays = Divide(result.memory.data(), stride);
  RequantArgs& args = result.args;
  FillChannels(context, layout, arrays, false, &args);
  const std::vector<uint32_t>& sums = context.WeightSums();
  for (int64_t c = 0; c < layout.channels; ++c) {
    const int64_t entry = layout.Entry(c);
    const auto zeros = static_cast<uint32_t>(layout.products * arrays.zero_w[entry]);
    arrays.multiplier[entry] = static_cast<int32_t>(sums[static_cast<size_t>(c)] - zeros);
  }
  result.sums = arrays.multiplier;
  args.scale = arrays.scale;
  args.bias_f = arrays.bias_f;
  args.bias_flipped = arrays.bias_flipped;
  args.rounding = Rounding::kFloatZeroEven;
  args.post_ops = true;
  result.post_op_args = std::make_unique<PostOpArgs>();
  args.post_op_args = result.post_op_args.get();
  result.post_op_args->dst = context.Out<uint8_t>(Field::kDst);
  if (context.Record(Field::kDst).dtype == DType::kS32) {
    result.post_op_args->sums = context.Out<int32_t>(Field::kDst);
    args.finish = FinishToSums();
  } else {
    result.post_op_args->result = context.Out<float>(Field::kDst);
    args.finish = FinishToScaledSums();
  }
  return result;
}

namespace {

// Which units have requantizers for both signs, by ratios or by precomputed halves; others, and
// those for other words, call RequantArgs::finish.
bool HasSignedRequantizers(Isa isa) {
  return isa == Isa::kAvx2 || isa == Isa::kAvxVnni || isa == Isa::kAvx512Vnni;
}

// The second half of the records. No |accumulator| is above `most_acc`, no sum of products above
// `most_sum`.
void FillNegative(const StepContext& context, const RequantLayout& layout, int64_t most_acc,
                  int64_t most_sum, const Arrays& positive, const NegativeArrays& arrays,
                  RequantArrays* result) {
  RequantArgs& args = result->args;
  std::fill_n(arrays.rshift, layout.entries, args.max_rshift);
  const auto* records = context.In<uint8_t>(Field::kRequant);
  for (int64_t c = 0; c < layout.channels; ++c) {
    ChannelRequant record;
    std::memcpy(&record, records + (layout.channels + c) * static_cast<int64_t>(sizeof(record)),
                sizeof(record));
    if (record.multiplier == 0) continue;  // any shift gives 0
    arrays.multiplier[layout.Entry(c)] = record.multiplier;
    arrays.rshift[layout.Entry(c)] = record.rshift;
  }
  result->negative = std::make_unique<RequantArgs>(args);
  RequantArgs& negative = *result->negative;
  negative.multiplier = arrays.multiplier;
  negative.rshift = arrays.rshift;
  PrecomputeHighHalves(layout.entries, most_acc, positive.high_half, positive.high_shift, &args);
  PrecomputeHighHalves(layout.entries, most_acc, arrays.high_half, arrays.high_shift, &negative);
  if (args.acc_factor != 1 || negative.acc_factor != 1) args.acc_factor = negative.acc_factor = 0;
  PrecomputeRatios(layout.entries, most_sum, positive.ratio, &args);
  PrecomputeRatios(layout.entries, most_sum, arrays.ratio, &negative);
  if (args.ratio == nullptr || negative.ratio == nullptr) args.ratio = negative.ratio = nullptr;
  args.negative = &negative;
  args.finish = FinishBySign();
  args.post_ops =
      !HasSignedRequantizers(context.isa) || (args.ratio == nullptr && args.acc_factor == 0);
}

}  // namespace

RequantArrays MakeRequantArrays(const StepContext& context, const RequantForm& form,
                                const RequantLayout& layout) {
  RequantArrays result;
  const int64_t stride = (layout.entries + 15) / 16 * 16;  // 64-byte lines
  const bool signs = HasNegativeRecords(context, layout);
  const int arrays_count = kArrays + (signs ? kNegativeArrays : 0);
  result.memory = AlignedBuffer(static_cast<size_t>(stride * arrays_count) * sizeof(int32_t));
  const Arrays arrays = Divide(result.memory.data(), stride);
  const Rounding rounding = form.rounding;
  const bool integer = numerics::KeepsWords(rounding);
  RequantArgs& args = result.args;
  args.min_rshift = kMostRshift;
  const int64_t most_bias = FillChannels(context, layout, arrays, integer, &args);
  if (integer) {
    FillIntegers(layout, arrays, rounding, &args);
  } else {
    args.scale = arrays.scale;
    args.bias_f = arrays.bias_f;
  }
  args.bias = arrays.bias;
  args.bias_flipped = arrays.bias_flipped;
  args.zero_y = context.Record(Field::kDst).zero_point;
  args.lo = form.clamp.lo;
  args.hi = form.clamp.hi;
  result.post_op_args = std::make_unique<PostOpArgs>();
  FillPostOps(context, layout, result.post_op_args.get());
  args.post_op_args = result.post_op_args.get();
  args.rounding = rounding;
  args.post_ops = !result.post_op_args->post_ops.empty();
  args.finish = FinishFor(rounding, args.post_ops, context.isa);
  if (context.Record(Field::kDst).dtype == DType::kF32) {
    result.post_op_args->result = context.Out<float>(Field::kDst);
    args.post_ops = true;
    args.finish = FinishToFloat(context.isa);
  }
  if (rounding == Rounding::kHalfFloat) {
    args.half = form.half;
    SetHalf(context, result.post_op_args.get(), &args);
  }
  const int64_t distances =
      layout.products *
      (args.zero_w != nullptr ? numerics::kLargestDistance : numerics::LargestDistance(0));
  const auto most_sum = numerics::LargestAccumulator<int64_t>(0, distances);
  const int64_t most_acc = numerics::LargestAccumulator(most_bias, distances);
  if (signs) {
    FillNegative(context, layout, most_acc, most_sum, arrays,
                 DivideNegative(result.memory.data(), stride), &result);
    return result;
  }
  PrecomputeHighHalves(layout.entries, most_acc, arrays.high_half, arrays.high_shift, &args);
  PrecomputeRatios(layout.entries, most_sum, arrays.ratio, &args);
  return result;
}

}  // namespace rshift
