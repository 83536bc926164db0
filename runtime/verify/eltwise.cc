// Quantize, Dequantize, Requantize, additions and activations.
#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "codegen/container/broadcast.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"

namespace rshift::verify {
namespace {

// Largest |x - zero point| of a byte tensor.
int64_t Magnitude(const TensorRecord& tensor) {
  const int64_t lo = tensor.dtype == DType::kS8 ? -128 : 0;
  return std::max(tensor.zero_point - lo, lo + 255 - tensor.zero_point);
}

// Operands of dst's shape, one of which may be a smaller constant.
void CheckShapes(const CommandCheck& check) {
  const Shape& dst = check.Tensor(Field::kDst).shape;
  const auto is_small = [&](Field f) {
    const TensorRecord& tensor = check.Tensor(f);
    return tensor.region == Region::kConst && tensor.shape != dst &&
           BroadcastsTo(tensor.shape, dst);
  };
  if (!is_small(Field::kSrc)) check.CheckSameShape(Field::kDst, Field::kSrc);
  if (is_small(Field::kSrc) || !is_small(Field::kSrc2))
    check.CheckSameShape(Field::kDst, Field::kSrc2);
}

// What all commands on two tensors of bytes have in common.
template <typename C>
void CheckPair(const CommandCheck& check, const C& c) {
  CheckShapes(check);
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) {
    check.CheckByte(f);
    if constexpr (std::is_same_v<C, isa::AddFloat>) check.CheckScaled(f);
  }
  check.CheckClamp(c.clamp);
}

template <typename C>
void CheckActivation(const CommandCheck& check, const C& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckBytes(c.clamp);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp});
}

constexpr int64_t kBinaryTableBytes = 65536;

// Bytes, or a bool: of entries 0 and 1 alone.
void CheckTableResult(const CommandCheck& check, int64_t entries) {
  if (check.Tensor(Field::kDst).dtype != DType::kBool) return check.CheckByte(Field::kDst);
  const uint8_t* table = check.Data(Field::kTable);
  const uint8_t most = *std::max_element(table, table + entries);
  check.Check(most <= 1, check.Describe(Field::kTable), ": an entry is ", int{most},
              ", expected 0 or 1 for ", check.Describe(Field::kDst));
}

// Bytes, or s16.
void CheckNumbers(const CommandCheck& check, Field f) {
  const TensorRecord& tensor = check.Tensor(f);
  if (tensor.dtype != DType::kS16) return check.CheckScaled(f);
  check.Check(tensor.quantized, check.Describe(f), ": expected a scale");
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::Quantize&) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckType(Field::kSrc, {DType::kF32});
  CheckNumbers(check, Field::kDst);
}

void CheckCommand(const CommandCheck& check, const isa::Dequantize&) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckNumbers(check, Field::kSrc);
  check.CheckType(Field::kDst, {DType::kF32});
}

void CheckCommand(const CommandCheck& check, const isa::Requantize& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckBytes(c.clamp);
  CheckRounding(check, c.rounding,
                {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kHalfAway, Rounding::kTwoStepUp});
}

// Half up: the sum with its rounding term must fit int32. Half away from zero is in 64 bits, where
// any sum fits (quantize/numerics/add_forms.h).
void CheckCommand(const CommandCheck& check, const isa::Add& c) {
  CheckPair(check, c);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp, Rounding::kHalfAway});
  if (c.rounding == Rounding::kHalfAway) return;
  check.Check(c.rshift <= 30, "rshift is ", c.rshift, ", expected 0..30");
  const int64_t rounding = c.rshift == 0 ? 0 : int64_t{1} << (c.rshift - 1);
  const int64_t sum = Magnitude(check.Tensor(Field::kSrc)) * std::abs(int64_t{c.multiplier}) +
                      Magnitude(check.Tensor(Field::kSrc2)) * std::abs(int64_t{c.multiplier2}) +
                      rounding;
  check.Check(sum < int64_t{1} << 31, "the sum may reach ", sum, ", expected less than 2^31");
}

// Its scales are those of its tensors.
void CheckCommand(const CommandCheck& check, const isa::AddFloat& c) { CheckPair(check, c); }

// Operands rescaled by factors of at most 1 (rshift >= 31) add up in int32.
void CheckCommand(const CommandCheck& check, const isa::AddShifted& c) {
  CheckPair(check, c);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kTwoStepUp});
  check.Check(c.blocks == AddBlocks::kNone || c.rounding == Rounding::kTwoStep, "mode is ",
              static_cast<int>(c.blocks), " under rounding ", static_cast<int>(c.rounding),
              ", expected it under ", static_cast<int>(Rounding::kTwoStep), " only");
  CheckWords(check, c.rounding, c.words, "first operand");
  CheckWords(check, c.rounding, c.words2, "second operand");
  CheckWords(check, c.rounding, c.words3, "sum");
  const auto at_most_one = [&](Field f, int32_t rshift) {
    check.Check(rshift >= 31, Name(f), " is ", rshift, ", expected at least 31");
  };
  at_most_one(Field::kRshift, c.words.rshift);
  at_most_one(Field::kRshift2, c.words2.rshift);
}

void CheckCommand(const CommandCheck& check, const isa::AddFma& c) {
  CheckPair(check, c);
  CheckFinite(check, Field::kScaleF, c.ratio_a);
  CheckFinite(check, Field::kAlphaF, c.ratio_b);
  CheckFinite(check, Field::kOffsetF, c.fixed);
}

void CheckCommand(const CommandCheck& check, const isa::AddScaled& c) {
  CheckPair(check, c);
  CheckFinite(check, Field::kBetaF, c.zero_a);
  CheckFinite(check, Field::kAlphaF, c.ratio);
  CheckFinite(check, Field::kScaleF, c.scale);
  CheckFinite(check, Field::kOffsetF, c.shift);
}

void CheckCommand(const CommandCheck& check, const isa::Mul& c) {
  CheckPair(check, c);
  CheckRounding(check, c.rounding, kRoundingsOfWords);
  CheckWords(check, c.rounding, c.words, "product");
  if (c.rounding != Rounding::kFloatZeroEven) CheckUnused(check, {Field::kFlags});
}

void CheckCommand(const CommandCheck& check, const isa::Extremum& c) {
  CheckPair(check, c);
  check.CheckSameType(Field::kSrc, Field::kSrc2);
  check.CheckSameType(Field::kSrc, Field::kDst);
}

// A product of |v| <= 255 and any s32 fits 64 bits: every table will do.
void CheckCommand(const CommandCheck& check, const isa::Div& c) {
  CheckPair(check, c);
  check.CheckBlob(Field::kTable, 1024);
}

void CheckCommand(const CommandCheck& check, const isa::BinaryTable&) {
  CheckShapes(check);
  check.CheckByte(Field::kSrc);
  check.CheckByte(Field::kSrc2);
  check.CheckBlob(Field::kTable, kBinaryTableBytes);
  CheckTableResult(check, kBinaryTableBytes);
}

void CheckCommand(const CommandCheck& check, const isa::LeakyRelu& c) { CheckActivation(check, c); }

void CheckCommand(const CommandCheck& check, const isa::PRelu& c) {
  CheckActivation(check, c);
  check.CheckType(Field::kSrc2, {DType::kS8, DType::kBytes});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const int64_t slopes = NumElements(check.Tensor(Field::kSrc2).shape);
  check.Check(slopes == 1 || (!src.empty() && slopes == src.back()), check.Describe(Field::kSrc2),
              ": expected 1 slope or one for each channel of ", check.Describe(Field::kSrc));
}

void CheckCommand(const CommandCheck& check, const isa::Table&) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckByte(Field::kSrc);
  check.CheckBlob(Field::kTable, 256);
  CheckTableResult(check, 256);
}

void CheckCommand(const CommandCheck& check, const isa::ChannelTables&) {
  check.CheckByte(Field::kSrc);
  check.CheckByte(Field::kDst);
  check.CheckTablesOfChannels(256);
}

}  // namespace rshift::verify
