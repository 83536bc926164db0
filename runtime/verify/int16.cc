// Commands on 16-bit integers: types, shapes, and that every number stays in 64 bits.
#include "quantize/numerics/int16.h"

#include <algorithm>
#include <cstdlib>

#include "quantize/numerics/normalize.h"
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

// src and dst, and that one of `fields` is what these commands are for.
void CheckIntegers(const CommandCheck& check, std::initializer_list<Field> fields,
                   const ClampQ& clamp) {
  for (const Field f : fields) CheckInteger(check, f);
  check.Check(std::any_of(fields.begin(), fields.end(),
                          [&](Field f) { return check.Tensor(f).dtype == DType::kS16; }),
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected s16 among the operands");
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

// Records of accumulators within 2^38 and of multipliers of 24 bits.
template <typename C>
void CheckWideRecords(const CommandCheck& check, const C& c, int64_t channels, int64_t products) {
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  check.CheckBlob(Field::kWeights, CheckedProduct(check, {channels, products}));
  const uint8_t* records = RequantRecords(check, channels);
  check.constants.ReadTo(check.Tensor(Field::kWeights).offset +
                         check.Tensor(Field::kWeights).bytes());
  const auto* weights = reinterpret_cast<const int8_t*>(check.Data(Field::kWeights));
  for (int64_t i = 0; i < channels; ++i) {
    const auto [bias, multiplier, rshift] = RequantRecord(records, i);
    constexpr int32_t kZeros = (1 << numerics::kInt16MultiplierZeros) - 1;
    check.Check(multiplier >= 0 && (multiplier & kZeros) == 0, "requant of channel ", i,
                ": multiplier is ", multiplier, ", expected 24 bits and 7 zeros behind them");
    check.Check((multiplier == 0 && rshift == 0) || (rshift >= numerics::kInt16MultiplierZeros &&
                                                     rshift <= numerics::kMostInt16Rshift),
                "requant of channel ", i, ": rshift is ", rshift, ", expected 7..69");
    int64_t magnitudes = 0;
    for (int64_t k = 0; k < products; ++k) magnitudes += std::abs(weights[i * products + k]);
    const int64_t most = std::abs(int64_t{bias}) + numerics::kInt16Magnitude * magnitudes;
    check.Check(most <= numerics::kInt16AccumulatorLimit, "channel ", i,
                ": the accumulator may reach ", most, ", expected at most 2^38");
  }
}

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::RequantizeS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  CheckWords(check, Rounding::kHalfUp, c.words, "factor");
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
  CheckWideRecords(check, c, shape.oc_per_group, shape.ic_per_group);
}

void CheckCommand(const CommandCheck& check, const isa::AddS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
}

void CheckCommand(const CommandCheck& check, const isa::MulS16& c) {
  CheckRepeated(check);
  CheckIntegers(check, {Field::kSrc, Field::kSrc2, Field::kDst}, c.clamp);
  CheckWords(check, Rounding::kHalfUp, c.words, "product");
}

void CheckCommand(const CommandCheck& check, const isa::TableS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  constexpr int64_t kInterpolated = (numerics::kTableSteps + 1) * 4, kWhole = 65536 * 2;
  const auto bytes = static_cast<int64_t>(check.Tensor(Field::kTable).bytes());
  if (bytes == kWhole) return check.CheckBlob(Field::kTable, kWhole);
  check.CheckBlob(Field::kTable, kInterpolated);
  const auto* entries = reinterpret_cast<const int32_t*>(check.Data(Field::kTable));
  for (int32_t i = 0; i <= numerics::kTableSteps; ++i) {
    check.Check(std::abs(int64_t{entries[i]}) <= numerics::kLargestTableEntry,
                check.Describe(Field::kTable), ": entry ", i, " is ", entries[i],
                ", expected less than 2^24");
  }
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
  check.Check(c.words.multiplier < 1 << 24 && c.words.rshift <= numerics::kMostAverageRshift,
              "factor is ", c.words.multiplier, " >> ", c.words.rshift,
              ", expected less than 2^24 and a shift of 0..41");
}

void CheckCommand(const CommandCheck& check, const isa::NormalizeS16& c) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckIntegers(check, {Field::kSrc, Field::kDst}, c.clamp);
  check.CheckType(Field::kSrc, {DType::kS16});
  const TensorRecord& x = check.Tensor(Field::kSrc);
  check.Check(NumElements(x.shape) > 0, check.Describe(Field::kSrc), ": is empty");
  int64_t n = 1;
  for (size_t d = check.Axis(c.axis); d < x.shape.size(); ++d)
    n = CheckedProduct(check, {n, x.shape[d]});
  check.Check(n <= numerics::kMostInt16Normalized, "normalizes over ", n,
              " elements, expected at most ", numerics::kMostInt16Normalized);
  check.Check(c.variance_shift % 2 == 0, "rshift is ", c.variance_shift,
              ", expected an even number");
  const int64_t most = n * numerics::kInt16Magnitude;  // squared below 2^58
  check.Check(c.epsilon <= numerics::kLargestVariance / 2 &&
                  most * most <= (numerics::kLargestVariance / 2) >> c.variance_shift,
              "the variance may reach ", most * most, " * 2^", c.variance_shift, " + ", c.epsilon,
              ", expected each below 2^61");
  CheckNormalizeNumbers(check, n);
}

}  // namespace rshift::verify
