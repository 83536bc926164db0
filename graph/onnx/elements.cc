#include "graph/onnx/elements.h"

namespace rshift {
namespace {

// Offsets stride * i along one dimension of a tensor of `rank`.
Expr Offsets(OnnxNode& node, int64_t count, size_t rank, int64_t axis, int64_t stride) {
  return Iota(node, count, rank, axis) * static_cast<double>(stride);
}

}  // namespace

Expr Wrapped(const Expr& indices, int64_t size) {
  const OnnxNode& node = indices.node();
  node.Check(indices.type() == DType::kS64 || indices.type() == DType::kS32, "indices have type ",
             Name(indices.type()), ", expected int64 or int32");
  if (indices.is_constant()) {
    for (int64_t i : IntElements(indices.value())) {
      node.Check(i >= -size && i < size, "index ", i, " is outside [-", size, ", ", size, ")");
    }
  }
  // Of computed ones a Gather finds those outside while the program runs.
  if (size > 0 && size <= kFoldedElements && !indices.is_constant())
    return Gathered(Iota(indices.node(), size, 1, 0), indices, 0);
  const Expr wide = CastTo(indices, DType::kS64);
  const Expr zero = Number(indices.node(), 0.0, DType::kS64);
  return Select(Less(wide, zero), wide + static_cast<double>(size), wide);
}

Expr PlacesAlong(const Expr& indices, const Shape& data, int64_t axis) {
  OnnxNode& node = indices.node();
  const Shape strides = Strides(data), shape = indices.shape();
  Expr places = Wrapped(indices, data[axis]) * static_cast<double>(strides[axis]);
  for (size_t d = 0; d < data.size(); ++d) {
    const auto axis_d = static_cast<int64_t>(d);
    node.Check(axis_d == axis || shape[d] <= data[d], "indices have the shape ", ToString(shape),
               ", which exceeds the data's ", ToString(data));
    if (axis_d == axis || shape[d] == 1) continue;
    places = places + Offsets(node, shape[d], data.size(), axis_d, strides[d]);
  }
  return places;
}

Expr PlacesOfSlices(const Expr& indices, const Shape& data, int64_t batch) {
  OnnxNode& node = indices.node();
  const Shape shape = indices.shape(), strides = Strides(data);
  const int64_t count = shape.back();
  node.Check(count >= 1 && batch + count <= static_cast<int64_t>(data.size()), "indices ",
             ToString(shape), " with ", batch, " batch dimensions address ", count,
             " dimensions of data ", ToString(data));
  const Shape tuples(shape.begin(), shape.end() - 1);
  Expr places = Number(node, 0.0, DType::kS64);
  for (int64_t i = 0; i < count; ++i) {
    const Expr own = Wrapped(At(indices, -1, i), data[batch + i]);
    places = Reshaped(own, tuples) * static_cast<double>(strides[batch + i]) + places;
  }
  for (int64_t d = 0; d < batch; ++d) {
    node.Check(tuples.size() > static_cast<size_t>(d) && tuples[d] == data[d],
               "the batch dimensions of indices ", ToString(shape), " and data ", ToString(data),
               " differ");
    places = places + Offsets(node, data[d], tuples.size(), d, strides[d]);
  }
  return places;
}

Expr Flat(const Expr& x) { return Reshaped(x, {NumElements(x.shape())}); }

std::vector<double> Doubles(const Value& constant) {
  if (constant.dtype == DType::kF32) {
    const auto floats = FloatElements(constant);
    return {floats.begin(), floats.end()};
  }
  const auto ints = IntElements(constant);
  return {ints.begin(), ints.end()};
}

double NumberIn(OnnxNode& node, int i, const char* role, double fallback) {
  if (!node.HasInput(i)) return fallback;
  const Expr x = In(node, i);
  node.CheckSupported(x.is_constant(), role, " ", Quoted(x.value().name),
                      " is computed from the model's input, expected a constant");
  node.Check(NumElements(x.shape()) == 1, role, " has the shape ", ToString(x.shape()),
             ", expected one number");
  return Doubles(x.value())[0];
}

}  // namespace rshift
