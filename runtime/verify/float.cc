// F32 commands that need no library. The steps check element types in detail when they are made;
// here it is shapes, so that nothing is read or written outside a tensor.
#include <cstring>

#include "isa/functions.h"
#include "runtime/verify/command_check.h"

namespace rshift::verify {
namespace {

int64_t Elements(const CommandCheck& check, Field f) { return NumElements(check.Tensor(f).shape); }

void CheckFloats(const CommandCheck& check, std::initializer_list<Field> fields) {
  for (const Field f : fields) {
    if (check.Has(f)) check.CheckType(f, {DType::kF32});
  }
}

void CheckElements(const CommandCheck& check, Field f, int64_t expected) {
  if (!check.Has(f)) return;
  check.Check(Elements(check, f) == expected, check.Describe(f), ": expected ", expected,
              " elements");
}

// Numpy broadcasting of all of `fields` gives dst's shape.
void CheckBroadcast(const CommandCheck& check, std::initializer_list<Field> fields) {
  const Shape& dst = check.Tensor(Field::kDst).shape;
  for (const Field f : fields) {
    const Shape& src = check.Tensor(f).shape;
    bool ok = src.size() <= dst.size();
    for (size_t d = 0; ok && d < src.size(); ++d) {
      ok = src[d] == 1 || src[d] == dst[dst.size() - src.size() + d];
    }
    check.Check(ok, check.Describe(f), " cannot be broadcast to ", check.Describe(Field::kDst));
  }
}

// Product of the dimensions from `axis` on.
int64_t Inner(const Shape& shape, int64_t axis) {
  return NumElements(Shape(shape.begin() + axis, shape.end()));
}

void CheckBinary(const CommandCheck& check) {
  check.CheckSameType(Field::kSrc, Field::kSrc2);
  if (kResultIsBool[check.Get(Field::kMode)]) {
    check.CheckType(Field::kDst, {DType::kBool});
  } else {
    check.CheckSameType(Field::kDst, Field::kSrc);
  }
  CheckBroadcast(check, {Field::kSrc, Field::kSrc2});
}

void CheckReduce(const CommandCheck& check) {
  CheckFloats(check, {Field::kDst, Field::kSrc});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const auto rank = static_cast<int64_t>(src.size());
  std::vector<bool> reduced(src.size());
  const std::vector<int64_t> axes = check.List(Field::kList, -1);
  check.Check(axes.size() <= src.size(), check.Describe(Field::kList), ": expected at most ", rank,
              " axes");
  for (const int64_t axis : axes) {
    check.Check(axis >= -rank && axis < rank, check.Describe(Field::kList), ": axis ", axis,
                " is out of range for ", rank, " dimensions");
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  int64_t kept = 1;
  for (size_t d = 0; d < src.size(); ++d) kept *= reduced[d] ? 1 : src[d];
  CheckElements(check, Field::kDst, kept);
}

void CheckArgMax(const CommandCheck& check) {
  check.CheckType(Field::kDst, {DType::kS64});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const auto axis = static_cast<size_t>(check.Axis(src.size()));
  check.Check(src[axis] >= 1, check.Describe(Field::kSrc), ": axis ", axis, " is empty");
  CheckElements(check, Field::kDst, Elements(check, Field::kSrc) / src[axis]);
}

void CheckInstanceNorm(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckFloats(check, {Field::kDst, Field::kSrc, Field::kSrc2, Field::kSrc3});
  const TensorRecord& src = check.Tensor(Field::kSrc);
  check.Check(src.shape.size() >= 3, check.Describe(Field::kSrc),
              ": expected at least 3 dimensions");
  const int64_t channels = src.layout == Layout::kNhwc ? src.shape.back() : src.shape[1];
  CheckElements(check, Field::kSrc2, channels);
  CheckElements(check, Field::kSrc3, channels);
}

void CheckLayerNorm(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  CheckFloats(check, {Field::kDst, Field::kSrc, Field::kSrc2, Field::kSrc3});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const int64_t size = Inner(src, check.Axis(src.size()));
  CheckElements(check, Field::kSrc2, size);
  CheckElements(check, Field::kSrc3, size);
}

// Source coordinates are finite numbers: no size is above 2^40.
void CheckScales(const CommandCheck& check, size_t count) {
  constexpr float kLeast = 0x1p-40f, kMost = 0x1p40f;
  for (size_t d = 0; d < count; ++d) {
    float scale = 0;
    std::memcpy(&scale, check.Data(Field::kList) + d * sizeof scale, sizeof scale);
    check.Check(scale >= kLeast && scale <= kMost, check.Describe(Field::kList), ": scale ", d,
                " is ", scale, ", expected a positive number from 2^-40 to 2^40");
  }
}

void CheckResize(const CommandCheck& check) {
  CheckFloats(check, {Field::kDst, Field::kSrc, Field::kList});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  check.Check(src.size() == check.Tensor(Field::kDst).shape.size(), check.Describe(Field::kSrc),
              " and ", check.Describe(Field::kDst), ": expected equal ranks");
  CheckElements(check, Field::kList, static_cast<int64_t>(src.size()));
  CheckScales(check, src.size());
  check.Check(Elements(check, Field::kSrc) > 0 || Elements(check, Field::kDst) == 0,
              check.Describe(Field::kSrc), ": nothing to interpolate");
}

}  // namespace

void CheckFloat(const CommandCheck& check) {
  switch (check.command.opcode) {
    case Opcode::kBinaryF32:
      return CheckBinary(check);
    case Opcode::kWhere:
      check.CheckType(Field::kSrc, {DType::kBool});
      check.CheckSameType(Field::kDst, Field::kSrc2);
      check.CheckSameType(Field::kDst, Field::kSrc3);
      return CheckBroadcast(check, {Field::kSrc, Field::kSrc2, Field::kSrc3});
    case Opcode::kPReluF32:
      check.CheckSameShape(Field::kDst, Field::kSrc);
      CheckFloats(check, {Field::kDst, Field::kSrc, Field::kSrc2});
      return CheckBroadcast(check, {Field::kSrc2});
    case Opcode::kUnaryF32:
      check.CheckSameType(Field::kDst, Field::kSrc);
      return check.CheckSameShape(Field::kDst, Field::kSrc);
    case Opcode::kCast:
      return check.CheckSameShape(Field::kDst, Field::kSrc);
    case Opcode::kReduceF32:
      return CheckReduce(check);
    case Opcode::kArgMax:
      return CheckArgMax(check);
    case Opcode::kInstanceNormF32:
      return CheckInstanceNorm(check);
    case Opcode::kLayerNormF32:
      return CheckLayerNorm(check);
    case Opcode::kResizeF32:
      return CheckResize(check);
    case Opcode::kSoftmaxF32:
    case Opcode::kLrnF32:
      check.Axis(check.Tensor(Field::kSrc).shape.size());
      [[fallthrough]];
    default:
      CheckFloats(check, {Field::kDst, Field::kSrc});
      check.CheckSameShape(Field::kDst, Field::kSrc);
  }
}

}  // namespace rshift::verify
