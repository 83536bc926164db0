// Formulas that move elements.
#include <algorithm>

#include "graph/onnx/expr.h"

namespace rshift {

Expr Reshaped(const Expr& x, const Shape& shape) {
  x.node().Check(NumElements(x.shape()) == NumElements(shape), Quoted(x.value().name),
                 " has the shape ", ToString(x.shape()), ", which does not fit ", ToString(shape));
  return {x.node(), x.node().Reshaped(x.id(), shape)};
}

Expr Unsqueezed(const Expr& x, int64_t axis) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + x.node().Axis(axis, x.rank() + 1), 1);
  return Reshaped(x, shape);
}

Expr Transposed(const Expr& x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  Shape shape;
  for (int64_t p : perm) shape.push_back(x.dim(p));
  return x.Emit(Transpose{perm}, {x.id()}, x.type(), shape);
}

Expr Swapped(const Expr& x) {
  std::vector<int64_t> perm(x.rank());
  for (size_t d = 0; d < perm.size(); ++d) perm[d] = static_cast<int64_t>(d);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transposed(x, perm);
}

Expr Part(const Expr& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  axis = x.Axis(axis);
  if (start == 0 && end == x.dim(axis) && step == 1) return x;
  const int64_t size = x.dim(axis);
  const bool inside = step > 0 ? start >= 0 && start <= end && end <= size
                               : start < size && end >= -1 && start >= end;
  x.node().Check(inside, "reads elements ", start, " to ", end, " of dimension ", axis, " of ",
                 Quoted(x.value().name), " ", ToString(x.shape()));
  Slice op{std::vector<int64_t>(x.rank(), 0), std::vector<int64_t>(x.rank(), 1)};
  op.starts[axis] = start;
  op.steps[axis] = step;
  Shape shape = x.shape();
  shape[axis] = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  return x.Emit(op, {x.id()}, x.type(), shape);
}

Expr Flipped(const Expr& x, int64_t axis) {
  const int64_t size = x.dim(x.Axis(axis));
  return size < 2 ? x : Part(x, axis, size - 1, -1, -1);
}

Expr At(const Expr& x, int64_t axis, int64_t index) { return Part(x, axis, index, index + 1); }

Expr Joined(const std::vector<Expr>& parts, int64_t axis) {
  const Expr& first = parts.front();
  if (parts.size() == 1) return first;
  axis = first.Axis(axis);
  Shape shape = first.shape();
  shape[axis] = 0;
  std::vector<ValueId> ids;
  for (const Expr& part : parts) {
    Shape beside = part.shape();
    shape[axis] += part.dim(axis);
    beside[axis] = shape[axis];
    first.node().Check(beside == shape && part.type() == first.type(), "joins ",
                       ToString(first.shape()), " and ", ToString(part.shape()),
                       " along dimension ", axis, ", which do not fit");
    ids.push_back(part.id());
  }
  return first.Emit(Concat{axis}, ids, first.type(), shape);
}

Expr Stacked(const std::vector<Expr>& parts, int64_t axis) {
  std::vector<Expr> stacked;
  stacked.reserve(parts.size());
  for (const Expr& part : parts) stacked.push_back(Unsqueezed(part, axis));
  return Joined(stacked, axis);
}

Expr Expanded(const Expr& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return x.Emit(Expand{}, {x.id()}, x.type(), shape);
}

Expr Padded(const Expr& x, int64_t axis, int64_t before, int64_t after, double value) {
  if (before == 0 && after == 0) return x;
  axis = x.Axis(axis);
  Pad op{PadMode::kConstant, std::vector<int64_t>(x.rank(), 0), std::vector<int64_t>(x.rank(), 0),
         static_cast<float>(value)};
  op.before[axis] = before;
  op.after[axis] = after;
  Shape shape = x.shape();
  shape[axis] += before + after;
  return x.Emit(op, {x.id()}, x.type(), shape);
}

Expr Gathered(const Expr& x, const Expr& indices, int64_t axis) {
  axis = x.Axis(axis);
  const Shape data = x.shape(), list = indices.shape();
  Shape shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), list.begin(), list.end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  return x.Emit(Gather{axis}, {x.id(), indices.id()}, x.type(), shape);
}

}  // namespace rshift
