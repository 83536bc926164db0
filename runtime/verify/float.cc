// F32 commands that need no library: shapes, so that nothing is read or written outside a tensor,
// and attributes. The steps check element types when they are made.
#include <algorithm>
#include <cstring>

#include "runtime/f32/row_kernels.h"
#include "runtime/verify/rules.h"
#include "runtime/verify/window.h"

namespace rshift::verify {
namespace {

int64_t Elements(const CommandCheck& check, Field f) { return NumElements(check.Tensor(f).shape); }

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

// Element by element, f32.
void CheckFloatMap(const CommandCheck& check) {
  check.CheckFloats({Field::kDst, Field::kSrc});
  check.CheckSameShape(Field::kDst, Field::kSrc);
}

void CheckNormalization(const CommandCheck& check) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckFloats({Field::kDst, Field::kSrc, Field::kSrc2, Field::kSrc3});
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

}  // namespace

void CheckCommand(const CommandCheck& check, const isa::BinaryF32& c) {
  check.CheckSameType(Field::kSrc, Field::kSrc2);
  if (kResultIsBool[static_cast<size_t>(c.op)]) {
    check.CheckType(Field::kDst, {DType::kBool});
  } else {
    check.CheckSameType(Field::kDst, Field::kSrc);
  }
  CheckBroadcast(check, {Field::kSrc, Field::kSrc2});
}

void CheckCommand(const CommandCheck& check, const isa::UnaryF32&) {
  check.CheckSameType(Field::kDst, Field::kSrc);
  check.CheckSameShape(Field::kDst, Field::kSrc);
}

void CheckCommand(const CommandCheck& check, const isa::ClipF32&) { CheckFloatMap(check); }

void CheckCommand(const CommandCheck& check, const isa::LeakyReluF32&) { CheckFloatMap(check); }

void CheckCommand(const CommandCheck& check, const isa::PReluF32&) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
  check.CheckFloats({Field::kDst, Field::kSrc, Field::kSrc2});
  CheckBroadcast(check, {Field::kSrc2});
}

void CheckCommand(const CommandCheck& check, const isa::SoftmaxF32& c) {
  check.Axis(c.axis);
  CheckFloatMap(check);
}

void CheckCommand(const CommandCheck& check, const isa::LayerNormF32& c) {
  CheckNormalization(check);
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const int64_t size =
      NumElements(Shape(src.begin() + static_cast<int64_t>(check.Axis(c.axis)), src.end()));
  check.CheckElements(Field::kSrc2, size);
  check.CheckElements(Field::kSrc3, size);
}

void CheckCommand(const CommandCheck& check, const isa::ReduceF32& c) {
  switch (kReduceOperands[static_cast<size_t>(c.op)]) {
    case ReduceOperands::kFloats:
      check.CheckType(Field::kSrc, {DType::kF32});
      break;
    case ReduceOperands::kNumbers:
      check.CheckType(Field::kSrc, {DType::kF32, DType::kS32, DType::kS64});
      break;
    case ReduceOperands::kAny:
      check.CheckType(Field::kSrc, {DType::kF32, DType::kS32, DType::kS64, DType::kBool});
      break;
  }
  check.CheckSameType(Field::kDst, Field::kSrc);
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
  check.CheckElements(Field::kDst, kept);
}

void CheckCommand(const CommandCheck& check, const isa::ArgMax& c) {
  check.CheckType(Field::kDst, {DType::kS64});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const size_t axis = check.Axis(c.axis);
  check.Check(src[axis] >= 1, check.Describe(Field::kSrc), ": axis ", axis, " is empty");
  check.CheckElements(Field::kDst, Elements(check, Field::kSrc) / src[axis]);
}

void CheckCommand(const CommandCheck& check, const isa::Where&) {
  check.CheckType(Field::kSrc, {DType::kBool});
  check.CheckSameType(Field::kDst, Field::kSrc2);
  check.CheckSameType(Field::kDst, Field::kSrc3);
  CheckBroadcast(check, {Field::kSrc, Field::kSrc2, Field::kSrc3});
}

void CheckCommand(const CommandCheck& check, const isa::Cast&) {
  check.CheckSameShape(Field::kDst, Field::kSrc);
}

void CheckCommand(const CommandCheck& check, const isa::ResizeF32&) {
  check.CheckFloats({Field::kDst, Field::kSrc, Field::kList});
  const Shape& src = check.Tensor(Field::kSrc).shape;
  check.Check(src.size() == check.Tensor(Field::kDst).shape.size(), check.Describe(Field::kSrc),
              " and ", check.Describe(Field::kDst), ": expected equal ranks");
  check.CheckElements(Field::kList, static_cast<int64_t>(src.size()));
  CheckScales(check, src.size());
  check.Check(Elements(check, Field::kSrc) > 0 || Elements(check, Field::kDst) == 0,
              check.Describe(Field::kSrc), ": nothing to interpolate");
}

void CheckCommand(const CommandCheck& check, const isa::LrnF32& c) {
  check.Axis(c.axis);
  CheckFloatMap(check);
}

void CheckCommand(const CommandCheck& check, const isa::FakeQuantizeF32& c) {
  const int64_t size = check.Tensor(Field::kSrc).shape[check.Axis(c.axis)];
  CheckFloatMap(check);
  check.CheckFloats({Field::kSrc2});
  // Read for every element, while dst may already hold the bytes of src.
  check.Check(check.Tensor(Field::kSrc2).region == Region::kConst, check.Describe(Field::kSrc2),
              ": expected a constant of the file");
  const Shape& ranges = check.Tensor(Field::kSrc2).shape;
  check.Check(ranges.size() == 2 && ranges[1] == 4 && (ranges[0] == 1 || ranges[0] == size),
              check.Describe(Field::kSrc2), ": expected the shape [1,4] or [", size, ",4]");
}

void CheckCommand(const CommandCheck& check, const isa::InstanceNormF32&) {
  CheckNormalization(check);
  const TensorRecord& src = check.Tensor(Field::kSrc);
  check.Check(src.shape.size() >= 3, check.Describe(Field::kSrc),
              ": expected at least 3 dimensions");
  const int64_t channels = src.layout == Layout::kNhwc ? src.shape.back() : src.shape[1];
  check.CheckElements(Field::kSrc2, channels);
  check.CheckElements(Field::kSrc3, channels);
}

void CheckCommand(const CommandCheck& check, const isa::ConvPlanarF32& c) {
  check.CheckFloats({Field::kDst, Field::kSrc, Field::kWeights, Field::kSrc3});
  CheckConvWindow(check, c.window, 2);
  const Window& w = c.window;
  const int64_t ic = check.Tensor(Field::kSrc).shape[1], oc = check.Tensor(Field::kDst).shape[1];
  check.CheckShape(Field::kWeights, {oc, ic / c.groups, w.kernel_h, w.kernel_w});
  check.CheckElements(Field::kSrc3, oc);
  if (c.groups == ic && c.groups == oc) {
    check.Check((w.kernel_h - 1) * w.dilation_h < f32::kMaxPlaneReach &&
                    (w.kernel_w - 1) * w.dilation_w < f32::kMaxPlaneReach &&
                    std::max(w.stride_h, w.stride_w) <= f32::kMaxPlaneStride,
                "expected a window of at most ", f32::kMaxPlaneReach, " x ", f32::kMaxPlaneReach,
                " and strides up to ", f32::kMaxPlaneStride);
  } else {
    const Shape &src = check.Tensor(Field::kSrc).shape, &dst = check.Tensor(Field::kDst).shape;
    check.Check(
        c.groups == 1 && w.kernel_h == 1 && w.kernel_w == 1 && w.stride_h == 1 && w.stride_w == 1 &&
            src[2] == dst[2] && src[3] == dst[3],
        "expected one filter for each channel, or one group and windows of one pixel without "
        "strides or pads");
  }
}

}  // namespace rshift::verify
