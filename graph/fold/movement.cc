#include <algorithm>

#include "base/element_type.h"
#include "base/error.h"
#include "graph/fold/fold.h"

namespace rshift {
namespace {

// Element i of the result is read at origin + sum of index * stride.
FoldResult CopyStrided(const Value& x, const Shape& out, const Shape& strides, int64_t origin = 0) {
  auto data = std::make_shared<ConstantData>();
  data->bytes.resize(NumElements(out) * SizeOf(x.dtype));
  VisitElementBits(x.dtype, [&](auto type) {
    using T = ElementOf<decltype(type)>;
    const T* from = reinterpret_cast<const T*>(x.constant->bytes.data()) + origin;
    T* to = reinterpret_cast<T*>(data->bytes.data());
    WalkStrided<1>(out, {strides},
                   [&](int64_t i, const std::array<int64_t, 1>& at) { to[i] = from[at[0]]; });
  });
  return data;
}

FoldResult Permuted(const Value& x, const Shape& shape, const std::vector<int64_t>& perm) {
  const Shape own = Strides(shape);
  Shape out, strides;
  for (int64_t p : perm) {
    out.push_back(shape[p]);
    strides.push_back(own[p]);
  }
  return CopyStrided(x, out, strides);
}

int64_t Product(Shape::const_iterator begin, Shape::const_iterator end) {
  return NumElements(Shape(begin, end));
}

// Where output index i of a padded dimension reads, or -1 for the fill value.
int64_t PaddedSource(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      return i < 0 ? 0 : size - 1;
    case PadMode::kReflect:
      break;
  }
  return i < 0 ? -i : 2 * (size - 1) - i;
}

std::vector<uint8_t> FillElement(const Value& x, float value) {
  Value scalar;
  scalar.dtype = DType::kF32;
  scalar.constant = MakeConstant(std::span<const float>(&value, 1));
  return FoldCast(scalar, x.dtype)->bytes;
}

// A large weight matrix, in tiles that stay in the cache.
FoldResult TransposeMatrix(const Value& x) {
  constexpr int64_t kTile = 32;
  const int64_t rows = x.shape[0], columns = x.shape[1];
  const auto from = x.constant->As<float>();
  std::vector<float> to(from.size());
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      for (int64_t c = c0; c < std::min(c0 + kTile, columns); ++c) {
        for (int64_t r = r0; r < std::min(r0 + kTile, rows); ++r)
          to[c * rows + r] = from[r * columns + c];
      }
    }
  }
  return MakeConstant<float>(to);
}

}  // namespace

FoldResult FoldTranspose(const Transpose& op, const Value& x, const Shape&) {
  if (x.dtype == DType::kF32 && op.perm == std::vector<int64_t>{1, 0}) return TransposeMatrix(x);
  return Permuted(x, x.shape, op.perm);
}

FoldResult FoldSlice(const Slice& op, const Value& x, const Shape& out) {
  Shape strides = Strides(x.shape);
  int64_t origin = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    origin += op.starts[d] * strides[d];
    strides[d] *= op.steps[d];
  }
  return CopyStrided(x, out, strides, origin);
}

FoldResult FoldExpand(const Value& x, const Shape& out) {
  if (x.dtype == DType::kF32 && NumElements(x.shape) == 1) {  // whole weights are made this way
    return MakeConstant<float>(std::vector<float>(NumElements(out), x.constant->As<float>()[0]));
  }
  return CopyStrided(x, out, BroadcastStrides(x.shape, out));
}

// Each dimension is a pair (repeat, own) with stride 0 along the repeats.
FoldResult FoldTile(const Value& x, const Shape& out) {
  const Shape own = Strides(x.shape);
  Shape pairs, strides;
  for (size_t d = 0; d < out.size(); ++d) {
    pairs.insert(pairs.end(), {x.shape[d] == 0 ? 0 : out[d] / x.shape[d], x.shape[d]});
    strides.insert(strides.end(), {0, own[d]});
  }
  return CopyStrided(x, pairs, strides);
}

FoldResult FoldConcat(const Concat& op, const FoldInputs& inputs, const Shape& out) {
  auto data = std::make_shared<ConstantData>();
  data->bytes.reserve(NumElements(out) * SizeOf(inputs[0]->dtype));
  const int64_t rows = Product(out.begin(), out.begin() + op.axis);
  for (int64_t row = 0; row < rows; ++row) {
    for (const Value* input : inputs) {
      const auto& bytes = input->constant->bytes;
      const auto size = static_cast<int64_t>(bytes.size()) / rows;
      data->bytes.insert(data->bytes.end(), bytes.begin() + row * size,
                         bytes.begin() + (row + 1) * size);
    }
  }
  return data;
}

FoldResult FoldPad(const Pad& op, const Value& x, const Shape& out) {
  const size_t width = SizeOf(x.dtype);
  const Shape strides = Strides(x.shape);
  const std::vector<uint8_t> fill = FillElement(x, op.value);
  auto data = std::make_shared<ConstantData>();
  data->bytes.resize(NumElements(out) * width);
  Shape index(out.size(), 0);
  for (size_t at = 0; at < data->bytes.size(); at += width) {
    int64_t source = 0;
    for (size_t d = 0; d < out.size() && source >= 0; ++d) {
      const int64_t i = PaddedSource(op.mode, index[d] - op.before[d], x.shape[d]);
      source = i < 0 ? -1 : source + i * strides[d];
    }
    const uint8_t* from = source < 0 ? fill.data() : x.constant->bytes.data() + source * width;
    std::copy_n(from, width, data->bytes.data() + at);
    for (size_t d = out.size(); d-- > 0 && ++index[d] == out[d];) index[d] = 0;
  }
  return data;
}

FoldResult FoldGather(const Gather& op, const Value& data, const Value& indices, const Shape& out) {
  const int64_t size = data.shape[op.axis];
  const auto row = static_cast<int64_t>(SizeOf(data.dtype)) *
                   Product(data.shape.begin() + op.axis + 1, data.shape.end());
  const int64_t outer = Product(data.shape.begin(), data.shape.begin() + op.axis);
  auto result = std::make_shared<ConstantData>();
  result->bytes.reserve(NumElements(out) * SizeOf(data.dtype));
  const auto wanted = LoadInts(indices);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : wanted) {
      const int64_t i = index < 0 ? index + size : index;
      RSHIFT_REQUIRE(i >= 0 && i < size, ErrorCode::kInvalidInput, "index ", index,
                     " is outside [-", size, ", ", size, ")");
      const auto first = data.constant->bytes.begin() + (o * size + i) * row;
      result->bytes.insert(result->bytes.end(), first, first + row);
    }
  }
  return result;
}

FoldResult FoldDepthToSpace(const DepthToSpace& op, const Value& x) {
  const int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], w = x.shape[3], b = op.block;
  if (op.crd) return Permuted(x, {n, c / (b * b), b, b, h, w}, {0, 1, 4, 2, 5, 3});
  return Permuted(x, {n, b, b, c / (b * b), h, w}, {0, 3, 4, 1, 5, 2});
}

FoldResult FoldSpaceToDepth(const SpaceToDepth& op, const Value& x) {
  const int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2], w = x.shape[3], b = op.block;
  return Permuted(x, {n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4});
}

}  // namespace rshift
