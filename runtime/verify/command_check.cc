#include "runtime/verify/command_check.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "runtime/steps/lists.h"

namespace rshift::verify {
namespace {

struct IntegerRange {
  int32_t lo, hi;
};
IntegerRange RangeOf(DType type) {
  if (type == DType::kS16) return {-32768, 32767};
  return type == DType::kS8 ? IntegerRange{-128, 127} : IntegerRange{0, 255};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Description& description) {
  const TensorRecord& tensor = description.check.Tensor(description.field);
  return out << Name(description.field) << " '" << tensor.name << "' (" << Name(tensor.dtype) << " "
             << ToString(tensor.shape) << ")";
}

void CommandCheck::CheckType(Field f, std::initializer_list<DType> types) const {
  if (std::find(types.begin(), types.end(), Tensor(f).dtype) != types.end()) return;
  std::string expected;
  for (const DType type : types) expected += Cat(expected.empty() ? "" : " or ", Name(type));
  Check(false, Describe(f), ": expected ", expected);
}

void CommandCheck::CheckSameType(Field a, Field b) const {
  Check(Tensor(a).dtype == Tensor(b).dtype, Describe(a), " and ", Describe(b),
        ": expected equal element types");
}

void CommandCheck::CheckShape(Field f, const Shape& expected) const {
  if (Tensor(f).shape != expected) {
    Check(false, Describe(f), ": expected shape ", ToString(expected));
  }
}

void CommandCheck::CheckSameShape(Field a, Field b) const {
  Check(Tensor(a).shape == Tensor(b).shape, Describe(a), " and ", Describe(b),
        ": expected equal shapes");
}

void CommandCheck::CheckImage(Field f) const {
  const Shape& shape = Tensor(f).shape;
  const bool positive = std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d >= 1; });
  Check(shape.size() == 4 && positive, Describe(f), ": expected [N, H, W, C], each at least 1");
}

void CommandCheck::CheckByte(Field f) const {
  CheckType(f, {DType::kS8, DType::kU8});
  const IntegerRange range = RangeOf(Tensor(f).dtype);
  const int32_t zero = Tensor(f).zero_point;
  Check(zero >= range.lo && zero <= range.hi, Describe(f), ": zero point is ", zero, ", expected ",
        range.lo, "..", range.hi);
}

void CommandCheck::CheckScaled(Field f) const {
  CheckByte(f);
  CheckHasScale(f);
}

void CommandCheck::CheckHasScale(Field f) const {
  const float scale = Tensor(f).scale;
  Check(Tensor(f).quantized && scale > 0.0f && std::isfinite(scale), Describe(f), ": scale is ",
        scale, ", expected a positive finite number");
}

void CommandCheck::CheckBlob(Field f, int64_t bytes) const {
  CheckType(f, {DType::kBytes, DType::kS8, DType::kU8});
  Check(static_cast<int64_t>(Tensor(f).bytes()) == bytes, Describe(f), ": expected ", bytes,
        " bytes");
}

void CommandCheck::CheckTablesOfChannels(int64_t table_bytes) const {
  CheckSameShape(Field::kDst, Field::kSrc);
  const Shape& src = Tensor(Field::kSrc).shape;
  CheckType(Field::kSrc2, {DType::kU8, DType::kBytes});
  const int64_t channels = NumElements(Tensor(Field::kSrc2).shape);
  Check(!src.empty() && channels == src.back(), Describe(Field::kSrc2),
        ": expected the number of a table for each channel of ", Describe(Field::kSrc));
  const auto tables = static_cast<int64_t>(Tensor(Field::kTable).bytes()) / table_bytes;
  CheckBlob(Field::kTable, table_bytes * tables);
  const uint8_t* numbers = Data(Field::kSrc2);
  for (int64_t c = 0; c < channels; ++c) {
    Check(numbers[c] < tables, Describe(Field::kSrc2), ": channel ", c, " has table ",
          int{numbers[c]}, ", there are ", tables);
  }
}

void CommandCheck::CheckClamp(const ClampQ& clamp) const {
  const IntegerRange range = RangeOf(Tensor(Field::kDst).dtype);
  Check(clamp.lo >= range.lo && clamp.hi <= range.hi && clamp.lo <= clamp.hi, "clamp is ", clamp.lo,
        "..", clamp.hi, ", expected within ", range.lo, "..", range.hi);
}

void CommandCheck::CheckBytes(const ClampQ& clamp) const {
  CheckByte(Field::kSrc);
  CheckByte(Field::kDst);
  CheckClamp(clamp);
}

void CommandCheck::CheckFloats(std::initializer_list<Field> fields) const {
  for (const Field f : fields) {
    if (Has(f)) CheckType(f, {DType::kF32});
  }
}

void CommandCheck::CheckElements(Field f, int64_t expected) const {
  if (!Has(f)) return;
  Check(NumElements(Tensor(f).shape) == expected, Describe(f), ": expected ", expected,
        " elements");
}

std::vector<int64_t> CommandCheck::List(Field f, int64_t entries) const {
  CheckType(f, {DType::kS64, DType::kS32});
  const Shape& shape = Tensor(f).shape;
  Check(shape.size() == 1 && (entries < 0 || shape[0] == entries), Describe(f),
        ": expected a list of ", entries, " entries");
  return ReadList(Data(f), Tensor(f));
}

size_t CommandCheck::Axis(int64_t axis) const {
  const auto rank = static_cast<int64_t>(Tensor(Field::kSrc).shape.size());
  Check(axis < rank, "axis is ", axis, ", expected less than ", rank);
  return static_cast<size_t>(axis);
}

int64_t CheckedProduct(const CommandCheck& check, std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    const std::optional<int64_t> next = CheckedMul<int64_t>(product, factor);
    check.Check(next.has_value(), "a size of ", product, " * ", factor, " overflows");
    product = *next;
  }
  return product;
}

}  // namespace rshift::verify
