#include "runtime/verify/requant.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "quantize/numerics/post_ops.h"
#include "quantize/numerics/requantize.h"

namespace rshift::verify {
namespace {

constexpr int64_t kMostPostOps = 32;

void CheckPostOp(const CommandCheck& check, int64_t index, const float* op) {
  const std::string what = Cat("post-operation ", index);
  const bool known =
      op[0] >= 0 && op[0] < static_cast<float>(kPostOpKindCount) && op[0] == std::floor(op[0]);
  check.Check(known, what, ": kind is ", op[0], ", expected an integer below ", kPostOpKindCount);
  for (int i = 1; i < 4; ++i) {
    // A clip may be open at either end.
    const bool bound = static_cast<int>(op[0]) == static_cast<int>(PostOpKind::kClip) && i < 3 &&
                       !std::isnan(op[i]);
    check.Check(bound || std::isfinite(op[i]), what, ": number ", i, " is ", op[i],
                ", expected a finite one");
  }
}

// True when one of them adds src2.
bool CheckPostOps(const CommandCheck& check) {
  check.CheckType(Field::kList, {DType::kF32});
  const Shape& shape = check.Tensor(Field::kList).shape;
  const int64_t channels =
      NumElements(check.Tensor(Field::kRequant).shape) / int64_t{sizeof(ChannelRequant)};
  const int64_t padded = (channels + 3) / 4 * 4;
  check.Check(shape.size() == 1 && shape[0] >= 4 && shape[0] % 4 == 0 &&
                  shape[0] / 4 <= kMostPostOps * (1 + padded / 2),
              check.Describe(Field::kList), ": expected four numbers for each of 1..", kMostPostOps,
              " post-operations");
  std::vector<float> list(static_cast<size_t>(shape[0]));
  std::memcpy(list.data(), check.Data(Field::kList), list.size() * sizeof(float));
  bool sums = false;
  const auto count = static_cast<int64_t>(list.size());
  int64_t index = 0;
  for (int64_t at = 0; at < count; ++index) {
    const float* op = list.data() + at;
    CheckPostOp(check, index, op);
    sums |= op[0] == static_cast<float>(PostOpKind::kSum);
    const int64_t lists = ChannelLists(static_cast<PostOpKind>(static_cast<int>(op[0])));
    at += 4;
    check.Check(count - at >= lists * padded, "post-operation ", index, ": ", count - at,
                " numbers follow, expected ", lists, " for each of ", channels, " channels");
    for (const int64_t end = at + lists * padded; at < end; ++at) {
      check.Check(std::isfinite(list[static_cast<size_t>(at)]), "post-operation ", index,
                  ": the number of a channel is ", list[static_cast<size_t>(at)],
                  ", expected a finite one");
    }
  }
  check.Check(index <= kMostPostOps, check.Describe(Field::kList), ": ", index,
              " post-operations, expected at most ", kMostPostOps);
  return sums;
}

void CheckAddend(const CommandCheck& check, bool sums) {
  check.Check(check.Has(Field::kSrc2) == sums,
              sums ? "a post-operation adds src2, which is absent"
                   : "src2 is there, but no post-operation adds it");
  if (!sums) return;
  check.CheckByte(Field::kSrc2);
  check.CheckSameShape(Field::kSrc2, Field::kDst);
  // Found by the distance from the start of dst (kernels/finish.h).
  check.Check(check.Tensor(Field::kDst).pitch == 0, check.Describe(Field::kDst),
              " has a pitch, which ", check.Describe(Field::kSrc2), " has not");
}

void CheckFactor(const CommandCheck& check, Rounding rounding, const RequantWords& words,
                 const WordsName& what) {
  const auto [multiplier, rshift] = words;
  check.Check(multiplier == 0 || multiplier >= 1 << 30, what, ": multiplier is ", multiplier,
              ", expected 0 or 2^30..2^31-1");
  const bool up = rounding == Rounding::kTwoStepUp;
  const bool remainder =
      up && rshift >= numerics::kScalarRemainder && rshift <= numerics::kScalarRemainder + 62;
  check.Check((rshift >= 0 && rshift <= 62) || remainder, what, ": rshift is ", rshift,
              up ? ", expected 0..62 or 64..126" : ", expected 0..62");
}

void CheckScale(const CommandCheck& check, double scale, const WordsName& what) {
  check.Check(std::isfinite(scale) && !std::signbit(scale), what, ": scale is ", scale,
              ", expected a finite number, at least 0");
}

}  // namespace

void CheckRounding(const CommandCheck& check, Rounding rounding,
                   std::initializer_list<Rounding> allowed) {
  if (std::find(allowed.begin(), allowed.end(), rounding) != allowed.end()) return;
  std::string expected;
  for (const Rounding r : allowed) {
    expected += Cat(expected.empty() ? "" : ", ", static_cast<int>(r));
  }
  check.Check(false, "rounding is ", static_cast<int>(rounding), ", expected ", expected);
}

std::ostream& operator<<(std::ostream& out, const WordsName& name) {
  out << name.text;
  if (name.index >= 0) out << name.index;
  return out;
}

void CheckWords(const CommandCheck& check, Rounding rounding, const RequantWords& words,
                const WordsName& what, bool bias_f) {
  const auto [multiplier, rshift] = words;
  switch (numerics::WordsOf(rounding)) {
    case RoundingWords::kFactor:
      return CheckFactor(check, rounding, words, what);
    case RoundingWords::kDouble:
      return CheckScale(check, numerics::WordsToDouble(multiplier, rshift), what);
    case RoundingWords::kScale:
    case RoundingWords::kScaleAndBias:
      CheckScale(check, numerics::WordToFloat(multiplier), what);
  }
  if (!bias_f) {
    check.Check(rshift == 0, what, ": rshift is ", rshift, ", expected 0 under rounding ",
                static_cast<int>(rounding));
    return;
  }
  const float bias = numerics::WordToFloat(rshift);
  check.Check(std::isfinite(bias), what, ": bias_f is ", bias, ", expected a finite number");
}

void CheckEpilogue(const CommandCheck& check, Rounding rounding, const HalfEpilogue& half) {
  const bool has_list = check.Has(Field::kList);
  check.Check(!has_list || rounding == Rounding::kFloatZeroEven,
              "there are post-operations under rounding ", static_cast<int>(rounding),
              ", expected them under ", static_cast<int>(Rounding::kFloatZeroEven), " only");
  CheckAddend(check, has_list && CheckPostOps(check));
  if (rounding != Rounding::kHalfFloat)
    return CheckUnused(check, {Field::kFlags, Field::kMode, Field::kScaleF, Field::kOffsetF});
  if (check.Tensor(Field::kDst).dtype == DType::kF16) {  // no AscendQuant behind it
    check.Check(!half.sqrt_quant, "flags have sqrt_quant, expected it with a scale only");
    return CheckUnused(check, {Field::kMode, Field::kScaleF, Field::kOffsetF});
  }
  check.Check(std::isfinite(half.quant_scale) && half.quant_scale > 0, "scale is ",
              half.quant_scale, ", expected a positive finite number");
  CheckFinite(check, Field::kOffsetF, half.quant_offset);
}

void CheckUnused(const CommandCheck& check, std::initializer_list<Field> fields) {
  for (const Field f : fields) {
    const int64_t value = check.command.Get(f);
    check.Check(value == 0, Name(f), " is ", value, ", expected 0 where nothing uses it");
  }
}

void CheckFinite(const CommandCheck& check, Field field, float value) {
  check.Check(std::isfinite(value), Name(field), " is ", value, ", expected a finite number");
}

}  // namespace rshift::verify
