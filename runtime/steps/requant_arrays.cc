#include "runtime/steps/requant_arrays.h"

#include <algorithm>
#include <cstring>

namespace rshift {

RequantArrays MakeRequantArrays(const StepContext& context, const RequantLayout& layout,
                                const std::vector<int64_t>& weight_sums) {
  constexpr int kArrays = 5;
  RequantArrays result;
  const int64_t stride = (layout.entries + 15) / 16 * 16;  // 64-byte lines
  result.memory = AlignedBuffer(static_cast<size_t>(stride) * kArrays * sizeof(int32_t));
  auto* bias = reinterpret_cast<int32_t*>(result.memory.data());
  int32_t* bias_unsigned = bias + stride;
  int32_t* multiplier = bias_unsigned + stride;
  int32_t* rshift = multiplier + stride;
  int32_t* zero_w = rshift + stride;
  const auto* records = context.In<uint8_t>(Field::kRequant);
  const int32_t* zeros = context.Has(Field::kZeroW) ? context.In<int32_t>(Field::kZeroW) : nullptr;
  const bool is_signed = context.Record(Field::kSrc).dtype == DType::kS8;

  RequantArgs& args = result.args;
  args.min_rshift = 62;
  for (int64_t c = 0; c < layout.channels; ++c) {
    RequantRecord record;
    std::memcpy(&record, records + c * static_cast<int64_t>(sizeof(record)), sizeof(record));
    const int64_t entry = layout.Entry(c);
    bias[entry] = record.bias;
    // Modulo 2^32, as the vector units add.
    const uint32_t shifted =
        is_signed ? 128u * static_cast<uint32_t>(weight_sums[static_cast<size_t>(c)]) : 0u;
    bias_unsigned[entry] = static_cast<int32_t>(static_cast<uint32_t>(record.bias) - shifted);
    multiplier[entry] = record.multiplier;
    rshift[entry] = record.rshift;
    if (zeros != nullptr) zero_w[entry] = zeros[c];
    args.min_rshift = std::min<int32_t>(args.min_rshift, record.rshift);
    args.max_rshift = std::max<int32_t>(args.max_rshift, record.rshift);
  }
  if (layout.channels == 0) args.min_rshift = 0;
  for (int64_t entry = 0; entry < layout.entries; ++entry) {
    if (multiplier[entry] == 0)
      rshift[entry] = args.max_rshift;  // padding, or a constant channel: any shift gives 0
  }
  args.bias = bias;
  args.bias_unsigned = bias_unsigned;
  args.multiplier = multiplier;
  args.rshift = rshift;
  args.zero_w = zeros != nullptr ? zero_w : nullptr;
  args.zero_y = context.Record(Field::kDst).zero_point;
  args.lo = static_cast<int32_t>(context.command->Get(Field::kClampLoQ));
  args.hi = static_cast<int32_t>(context.command->Get(Field::kClampHiQ));
  return result;
}

}  // namespace rshift
