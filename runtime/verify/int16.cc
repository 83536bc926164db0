// Commands on 16-bit integers: types, shapes, and that every number stays in 64 bits.
#include "quantize/numerics/int16.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "quantize/numerics/compare.h"
#include "quantize/numerics/int16_pairs.h"
#include "quantize/numerics/normalize.h"
#include "quantize/numerics/quotient_softmax.h"
#include "quantize/numerics/softmax_int16.h"
#include "runtime/verify/packed_product.h"
#include "runtime/verify/requant.h"
#include "runtime/verify/rules.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

// s16, s8 or u8. The file's reader has seen to it that the zero point of s16 is 0.
void CheckInteger(const CommandCheck& check, Field f) {
  if (check.Tensor(f).dtype == DType::kS16) return;
  check.CheckByte(f);
}

// That one of `fields` is what these commands are for.
void CheckAnyInt16(const CommandCheck& check, std::initializer_list<Field> fields) {
  for (const Field f : fields) CheckInteger(check, f);
  check.Check(std::any_of(fields.begin(), fields.end(),
                          [&](Field f) { return check.Tensor(f).dtype == DType::kS16; }),
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected s16 among the operands");
}

void CheckIntegers(const CommandCheck& check, std::initializer_list<Field> fields,
                   const ClampQ& clamp) {
  CheckAnyInt16(check, fields);
  check.CheckClamp(clamp);
}

// Of dst's shape; src2 may be a constant of dst's last dimensions.
void CheckRepeated(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  const TensorRecord& b = check.Tensor(Field::kSrc2);
  const Shape& y = check.Tensor(Field::kDst).shape;
  if (b.shape == y) return;
  bool repeats = b.region == Region::kConst && b.shape.size() == y.size();
  size_t d = 0;
  while (repeats && d < y.size() && b.shape[d] == 1) ++d;
  for (; repeats && d < y.size(); ++d) repeats = b.shape[d] == y[d];
  check.Check(repeats, check.Describe(Field::kSrc2), ": expected the shape of ",
              check.Describe(Field::kDst), ", or a constant of its last dimensions");
}

// The words of a record under the command's rounding.
void CheckWideWords(const CommandCheck& check, Rounding rounding, const RequantWords& words,
                    int64_t channel) {
  if (rounding != Rounding::kHalfUp)
    return CheckWords(check, rounding, words, {"requant of channel ", channel});
  constexpr int32_t kZeros = (1 << numerics::kInt16MultiplierZeros) - 1;
  check.Check(words.multiplier >= 0 && (words.multiplier & kZeros) == 0, "requant of channel ",
              channel, ": multiplier is ", words.multiplier,
              ", expected 24 bits and 7 zeros behind them");
  check.Check((words.multiplier == 0 && words.rshift == 0) ||
                  (words.rshift >= numerics::kInt16MultiplierZeros &&
                   words.rshift <= numerics::kMostInt16Rshift),
              "requant of channel ", channel, ": rshift is ", words.rshift, ", expected 7..69");
}

// The largest |number| of a tensor, its zero point not taken off.
int64_t Magnitude(DType type) {
  return type == DType::kS16 ? numerics::kInt16Magnitude : type == DType::kS8 ? 128 : 255;
}

const int8_t* WideWeights(const CommandCheck& check, int64_t channels, int64_t products) {
  check.CheckBlob(Field::kWeights, CheckedProduct(check, {channels, products}));
  const TensorRecord& weights = check.Tensor(Field::kWeights);
  check.constants.ReadTo(weights.offset + weights.bytes());
  return reinterpret_cast<const int8_t*>(check.Data(Field::kWeights));
}

// A channel's |bias| and products with numbers up to `magnitude`.
void CheckReach(const CommandCheck& check, int64_t channel, int64_t bias,
                std::span<const int8_t> weights, int64_t magnitude, int64_t limit) {
  int64_t magnitudes = 0;
  for (const int8_t w : weights) magnitudes += std::abs(w);
  const int64_t most = std::abs(bias) + magnitude * magnitudes;
  check.Check(most <= limit, "channel ", channel, ": the accumulator may reach ", most,
              ", expected at most ", limit);
}

// Records of accumulators within 2^38, or 32 bits where the rounding or a source of bytes wants
// them so.
template <typename C>
void CheckWideRecords(const CommandCheck& check, const C& c, int64_t channels, int64_t products) {
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  const DType src = check.Tensor(Field::kSrc).dtype;
  if (src != DType::kS16) {
    CheckRounding(check, c.rounding, {Rounding::kHalfUp});
  } else {
    CheckRounding(
        check, c.rounding,
        {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kTwoStepUp, Rounding::kDoubleAway});
  }
  const bool narrow =
      src != DType::kS16 || c.rounding == Rounding::kTwoStep || c.rounding == Rounding::kTwoStepUp;
  const int64_t limit = narrow ? INT32_MAX : numerics::kInt16AccumulatorLimit;
  const int8_t* weights = WideWeights(check, channels, products);
  const uint8_t* records = RequantRecords(check, channels);
  for (int64_t i = 0; i < channels; ++i) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, i);
    CheckWideWords(check, c.rounding, {multiplier, rshift}, i);
    CheckReach(check, i, bias, {weights + i * products, static_cast<size_t>(products)},
               Magnitude(src), limit);
  }
}

// Sums that are not requantized fit the 32 bits of dst.
void CheckWideSums(const CommandCheck& check, const isa::MatMulS16& c, int64_t channels,
                   int64_t products) {
  check.CheckType(Field::kSrc, {DType::kS16});
  CheckRounding(check, c.rounding, {Rounding::kHalfUp});
  check.Check(c.clamp.lo == 0 && c.clamp.hi == 0, "clamp is ", c.clamp.lo, "..", c.clamp.hi,
              ", expected none of s32");
  const int8_t* weights = WideWeights(check, channels, products);
  const uint8_t* records = RequantRecords(check, channels);
  for (int64_t i = 0; i < channels; ++i) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, i);
    check.Check(bias == 0 && multiplier == 0 && rshift == 0, "requant of channel ", i,
                " is not zero, as of sums in s32");
    CheckReach(check, i, 0, {weights + i * products, static_cast<size_t>(products)},
               numerics::kInt16Magnitude, INT32_MAX);
  }
}

// Entries of one table or several.
void CheckInterpolated(const CommandCheck& check) {
  const auto* entries = reinterpret_cast<const int32_t*>(check.Data(Field::kTable));
  const size_t count = check.Tensor(Field::kTable).bytes() / 4;
  for (size_t i = 0; i < count; ++i) {
    check.Check(std::abs(int64_t{entries[i]}) <= numerics::kLargestTableEntry,
                check.Describe(Field::kTable), ": entry ", i, " is ", entries[i],
                ", expected less than 2^24");
  }
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::RequantizeS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp, Rounding::kTwoStep});
  CheckWords(check, c.rounding, c.words, "factor");
}

void CheckCommand(const CommandCheck& check, const isa::ConvS16& c) {
  CheckConvWindow(check, c.window);
  CheckGroups(check, c.groups);
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  CheckWideRecords(check, c, oc,
                   CheckedProduct(check, {c.window.kernel_h, c.window.kernel_w, ic / c.groups}));
}

void CheckCommand(const CommandCheck& check, const isa::MatMulS16& c) {
  const PackedShape shape = CheckRowProduct(check);
  if (check.Tensor(Field::kDst).dtype == DType::kS32)
    return CheckWideSums(check, c, shape.oc_per_group, shape.ic_per_group);
  CheckWideRecords(check, c, shape.oc_per_group, shape.ic_per_group);
}

void CheckCommand(const CommandCheck& check, const isa::AddS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
}

void CheckCommand(const CommandCheck& check, const isa::MulS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp, Rounding::kTwoStep});
  CheckWords(check, c.rounding, c.words, "product");
}

void CheckCommand(const CommandCheck& check, const isa::DivS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
  check.Check(c.words.rshift <= numerics::kMostQuotientRshift, "rshift is ", c.words.rshift,
              ", expected at most ", numerics::kMostQuotientRshift);
}

void CheckCommand(const CommandCheck& check, const isa::CompareS16& c) {
  CheckRepeated(check);
  check.CheckType(Field::kDst, {DType::kBool});
  CheckAnyInt16(check, {Field::kSrc, Field::kSrc2});
  check.Check(numerics::IsComparison(c.op), "mode is ", static_cast<int>(c.op),
              ", expected a comparison: ", static_cast<int>(BinaryOp::kEqual), " to ",
              static_cast<int>(BinaryOp::kGreaterOrEqual));
}

static_assert(isa::kMostInt16PairRshift == numerics::kMostModRshift);
static_assert(isa::kMostInt16Log == numerics::kMostPowLog);

void CheckCommand(const CommandCheck& check, const isa::ModS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
}

// Entries as the formula's: logarithms from 0 to 1, powers from 1 to 2.
void CheckCommand(const CommandCheck& check, const isa::PowS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
  check.CheckBlob(Field::kTable, numerics::kPowEntries * int64_t{sizeof(int32_t)});
  const auto* entries = reinterpret_cast<const int32_t*>(check.Data(Field::kTable));
  for (int32_t i = 0; i < numerics::kPowEntries; ++i) {
    const bool log = i <= numerics::kPowLogSteps;
    const int32_t least = log ? 0 : 1 << numerics::kPowExpFraction;
    const int32_t most = log ? 1 << numerics::kPowFraction : INT32_MAX >> 1;
    check.Check(entries[i] >= least && entries[i] <= most, check.Describe(Field::kTable),
                ": entry ", i, " is ", entries[i], ", expected ", least, " to ", most);
  }
}

// Operands are divided, so that their sum fits 32 bits.
void CheckCommand(const CommandCheck& check, const isa::AddShiftedS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
  CheckWords(check, Rounding::kTwoStep, c.words, "first operand");
  CheckWords(check, Rounding::kTwoStep, c.words2, "second operand");
  CheckWords(check, Rounding::kTwoStep, c.words3, "sum");
  for (const int32_t rshift : {c.words.rshift, c.words2.rshift})
    check.Check(rshift >= 31, "rshift of an operand is ", rshift, ", expected at least 31");
}

void CheckCommand(const CommandCheck& check, const isa::TableS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  constexpr int64_t kWhole = 65536 * 2, kEntry = sizeof(int32_t);
  const auto bytes = static_cast<int64_t>(check.Tensor(Field::kTable).bytes());
  if (bytes == kWhole) return check.CheckBlob(Field::kTable, kWhole);
  const int64_t count = bytes / kEntry;
  check.Check(bytes % kEntry == 0 && numerics::TableStepBits(count) >= 0,
              check.Describe(Field::kTable), ": has ", bytes,
              " bytes, expected 2^n + 1 numbers of 4 bytes, n 9 to 13, or ", kWhole, " bytes");
  check.CheckBlob(Field::kTable, bytes);
  CheckInterpolated(check);
}

void CheckCommand(const CommandCheck& check, const isa::ChannelTablesS16& c) {
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  check.CheckTablesOfChannels((numerics::kTableSteps + 1) * int64_t{sizeof(int32_t)});
  CheckInterpolated(check);
}

void CheckCommand(const CommandCheck& check, const isa::AveragePoolS16& c) {
  CheckPoolWindow(check, c.window);
  check.Check(check.Tensor(Field::kSrc).shape[3] == check.Tensor(Field::kDst).shape[3],
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected equal channels");
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  const int64_t taps = CheckedProduct(check, {c.window.kernel_h, c.window.kernel_w});
  check.Check(taps <= numerics::kMostInt16Taps, "a window has ", taps, " taps, expected at most ",
              numerics::kMostInt16Taps);
  CheckRounding(check, c.rounding, {Rounding::kHalfUp, Rounding::kHalfAway, Rounding::kTwoStep});
  if (c.rounding == Rounding::kTwoStep) {
    const Window& w = c.window;
    check.Check(taps <= numerics::kMostTwoStepTaps && w.pad_top == 0 && w.pad_left == 0 &&
                    w.pad_bottom == 0 && w.pad_right == 0,
                "a window has ", taps, " taps, expected at most ", numerics::kMostTwoStepTaps,
                " and no pads under rounding ", static_cast<int>(c.rounding));
    return;
  }
  check.Check(c.words.multiplier < 1 << 24 && c.words.rshift <= numerics::kMostAverageRshift,
              "factor is ", c.words.multiplier, " >> ", c.words.rshift,
              ", expected less than 2^24 and a shift of 0..41");
}

// Every sum of a row is at least 2 and fits 31 bits.
void CheckCommand(const CommandCheck& check, const isa::SoftmaxS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckType(Field::kSrc, {DType::kS16});
  check.CheckType(Field::kDst, {DType::kS16});
  CheckWords(check, Rounding::kTwoStep, c.words, "factor");
  const Shape& shape = check.Tensor(Field::kSrc).shape;
  check.Check(!shape.empty() && shape.back() <= numerics::kMostSoftmaxInt16,
              check.Describe(Field::kSrc), ": expected rows of at most ",
              numerics::kMostSoftmaxInt16, " elements");
  constexpr int32_t kEntries = numerics::kSoftmaxInt16Entries;
  check.CheckBlob(Field::kTable, 2 * kEntries * int64_t{sizeof(int16_t)});
  const auto* exponentials = reinterpret_cast<const int16_t*>(check.Data(Field::kTable));
  for (int32_t i = 0; i < kEntries; ++i) {
    const int32_t least = i < kEntries - 2 ? 0 : numerics::kLeastSoftmaxInt16One;
    check.Check(exponentials[i] >= least, check.Describe(Field::kTable), ": entry ", i, " is ",
                exponentials[i], ", expected at least ", least);
  }
}

void CheckCommand(const CommandCheck& check, const isa::ExtremumS16& c) {
  CheckRepeated(check);
  for (const Field f : {Field::kSrc, Field::kSrc2, Field::kDst}) check.CheckType(f, {DType::kS16});
  check.CheckClamp(c.clamp);
}

// The product of sum and multiplier stays within 2^61.
void CheckCommand(const CommandCheck& check, const isa::BatchedMatMulS16& c) {
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
  for (const Field f : {Field::kSrc, Field::kSrc2}) {
    check.CheckType(f, {DType::kS16});
    check.Check(NumElements(check.Tensor(f).shape) > 0, check.Describe(f), ": is empty");
  }
  CheckMatMulShapes(check);
  const int64_t k = check.Tensor(Field::kSrc).shape.back();
  check.Check(k <= numerics::kMostInt16Products, "sums of ", k, " products, expected at most ",
              numerics::kMostInt16Products);
  const int32_t zeros = numerics::ProductZeros(c.words);
  check.Check(k * (c.words.multiplier >> zeros) <= int64_t{1} << 31, "product: multiplier ",
              c.words.multiplier, " has more bits than sums of ", k, " products leave in 62");
  check.Check(c.words.rshift - zeros <= 62, "product: rshift is ", c.words.rshift,
              ", expected at most ", 62 + zeros);
}

// As of softmax by quotients: an entry of the greatest element is 2^30, no other one is larger.
// Logarithms have a step of both scales.
void CheckCommand(const CommandCheck& check, const isa::QuotientSoftmaxS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  if (c.log) check.CheckHasScale(Field::kSrc);
  if (c.log) check.CheckHasScale(Field::kDst);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  CheckWords(check, Rounding::kHalfUp, c.words, "factor");
  const Shape& shape = check.Tensor(Field::kSrc).shape;
  check.Check(!shape.empty() && shape.back() <= numerics::kMostSoftmax, check.Describe(Field::kSrc),
              ": expected rows of at most ", numerics::kMostSoftmax, " elements");
  constexpr int32_t kEntries = numerics::kSoftmaxProductEntries;
  check.CheckBlob(Field::kTable, 2 * kEntries * int64_t{sizeof(int32_t)});
  const auto* entries = reinterpret_cast<const int32_t*>(check.Data(Field::kTable));
  for (int32_t i = 0; i < 2 * kEntries; ++i) {
    const int32_t least = i % kEntries == 0 ? numerics::kSoftmaxOne : 0;
    check.Check(entries[i] >= least && entries[i] <= numerics::kSoftmaxOne,
                check.Describe(Field::kTable), ": entry ", i, " is ", entries[i], ", expected ",
                least, "..", numerics::kSoftmaxOne);
  }
}

void CheckCommand(const CommandCheck& check, const isa::NormalizeS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  const TensorRecord& x = check.Tensor(Field::kSrc);
  check.Check(NumElements(x.shape) > 0, check.Describe(Field::kSrc), ": is empty");
  const size_t axis = check.Axis(c.axis), end = x.shape.size() - (c.channels ? 1 : 0);
  check.Check(axis < end, "axis is ", c.axis, ", expected a dimension before the channels");
  int64_t n = 1;
  for (size_t d = axis; d < end; ++d) n = CheckedProduct(check, {n, x.shape[d]});
  check.Check(n <= numerics::kMostNormalized, "normalizes over ", n, " elements, expected at most ",
              numerics::kMostNormalized);
  check.Check(c.variance_shift % 2 == 0, "rshift is ", c.variance_shift,
              ", expected an even number");
  const int64_t variance = numerics::LargestNormalizedVariance(
      n, numerics::kInt16Magnitude, numerics::NormalizeHalvings(n));  // below 2^59
  check.Check(c.epsilon <= numerics::kLargestVariance / 2 &&
                  variance <= (numerics::kLargestVariance / 2) >> c.variance_shift,
              "the variance may reach ", variance, " * 2^", c.variance_shift, " + ", c.epsilon,
              ", expected each below 2^61");
  CheckNormalizeNumbers(check, c.channels ? x.shape.back() : n);
}

}  // namespace rshift::verify
