// Linear interpolation in LiteRT's arithmetic: each output position is a sum of two by two
// positions of the source, of `inner` neighbouring elements (the channels of an NHWC image) at a
// time.
#include <algorithm>
#include <bit>
#include <vector>

#include "base/shape.h"
#include "quantize/numerics/tflite_resize.h"
#include "runtime/steps/resize_shape.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// Offsets into the source and coefficients of every output index of one dimension.
template <typename Coefficient>
struct LinearAxis {
  struct Pair {
    int64_t offset[2];
    Coefficient coefficient[2];
  };
  std::vector<Pair> pairs;
};

template <typename Coefficient>
LinearAxis<Coefficient> MakeLinearAxis(const ResizeDimension& dim, int64_t stride,
                                       Coefficient one) {
  LinearAxis<Coefficient> axis;
  if (dim.taps == 0) axis.pairs.push_back({{0, 0}, {one, 0}});
  for (size_t at = 0; at < dim.pairs.size(); at += 4) {
    axis.pairs.push_back({{dim.pairs[at] * stride, dim.pairs[at + 2] * stride},
                          {std::bit_cast<Coefficient>(dim.pairs[at + 1]),
                           std::bit_cast<Coefficient>(dim.pairs[at + 3])}});
  }
  return axis;
}

// Four positions of the source: [first][second].
template <typename T>
struct Corners {
  const T* at[2][2];
};

// numerics::TfLiteResized of bytes: sums below 2^28.
template <typename T>
void InterpolateIntegers(const Corners<T>& p, const int32_t (&c)[2], const int32_t (&d)[2],
                         int64_t n, T* y) {
  const T *a = p.at[0][0], *b = p.at[0][1], *e = p.at[1][0], *f = p.at[1][1];
  const int32_t wa = c[0] * d[0], wb = c[0] * d[1], we = c[1] * d[0], wf = c[1] * d[1];
  constexpr int kBits = 2 * numerics::kTfLiteResizeBits;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int32_t sum = a[i] * wa + b[i] * wb + e[i] * we + f[i] * wf;
    y[i] = static_cast<T>((sum + (1 << (kBits - 1)) - (sum < 0 ? 1 : 0)) >> kBits);
  }
}

// The same of s16, whose sums have 36 bits: 2^10 high + low, with low from 0 on and below 2^20.
void InterpolateIntegers(const Corners<int16_t>& p, const int32_t (&c)[2], const int32_t (&d)[2],
                         int64_t n, int16_t* y) {
  const int16_t *a = p.at[0][0], *b = p.at[0][1], *e = p.at[1][0], *f = p.at[1][1];
  const int32_t c0 = c[0], c1 = c[1], d0 = d[0], d1 = d[1];
  constexpr int kBits = numerics::kTfLiteResizeBits, kMask = (1 << kBits) - 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const int32_t top = a[i] * d0 + b[i] * d1, bottom = e[i] * d0 + f[i] * d1;
    const int32_t high = (top >> kBits) * c0 + (bottom >> kBits) * c1;
    const int32_t low = (top & kMask) * c0 + (bottom & kMask) * c1;
    const int32_t negative = high + (low >> kBits) < 0 ? 1 : 0;
    const int32_t rounded = (low + (1 << (2 * kBits - 1)) - negative) >> kBits;
    y[i] = static_cast<int16_t>((high + rounded) >> kBits);
  }
}

// numerics::TfLiteFloatFirst and TfLiteFloatProduct, saturated.
template <ResizeArithmetic kArithmetic>
void InterpolateFloats(const Corners<uint8_t>& p, const float (&c)[2], const float (&d)[2],
                       int64_t n, uint8_t* y) {
  const uint8_t *a = p.at[0][0], *b = p.at[0][1], *e = p.at[1][0], *f = p.at[1][1];
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const numerics::TfLiteSquare square = {{{static_cast<float>(a[i]), static_cast<float>(b[i])},
                                            {static_cast<float>(e[i]), static_cast<float>(f[i])}}};
    const int32_t q = kArithmetic == ResizeArithmetic::kFloatFirst
                          ? numerics::TfLiteFloatFirst(square, c, d)
                          : numerics::TfLiteFloatProduct(square, c, d);
    y[i] = static_cast<uint8_t>(q < 0 ? 0 : q > 255 ? 255 : q);
  }
}

// T: of an element. Coefficient: int32_t for half_away, else float.
template <typename T, typename Coefficient, ResizeArithmetic kArithmetic>
class ResizeLinearStep : public Step {
 public:
  ResizeLinearStep(const StepContext& context, const ResizeShape& shape)
      : src_(context.In<T>(Field::kSrc)), dst_(context.Out<T>(Field::kDst)), shape_(shape) {
    constexpr bool kFloat = std::is_same_v<Coefficient, float>;
    const auto one = static_cast<Coefficient>(kFloat ? 1 : numerics::kTfLiteResizeUnit);
    row_ = shape.in_second * shape.inner;
    if (shape.positions == 0) return;
    second_ = MakeLinearAxis<Coefficient>(shape.second, shape.inner, one);
    first_ = MakeLinearAxis<Coefficient>(shape.first, shape.between * row_, one);
  }

  void Run(const Team& team) noexcept override {
    const Range range = ThreadRange(shape_.positions, shape_.inner < 64 ? 64 : 1, team);
    const auto width = static_cast<int64_t>(second_.pairs.size());
    const auto height = static_cast<int64_t>(first_.pairs.size());
    for (int64_t at = range.begin; at < range.end;) {
      const int64_t row = at / width, begin = at % width;
      const int64_t end = std::min(width, begin + range.end - at);
      const int64_t between = row % shape_.between, line = row / shape_.between;
      const auto& c = first_.pairs[static_cast<size_t>(line % height)];
      const T* image = src_ + (line / height * shape_.in_first * shape_.between + between) * row_;
      for (int64_t x = begin; x < end; ++x, ++at) {
        const auto& d = second_.pairs[static_cast<size_t>(x)];
        Corners<T> p;
        for (int i = 0; i < 2; ++i) {
          for (int j = 0; j < 2; ++j) p.at[i][j] = image + c.offset[i] + d.offset[j];
        }
        T* y = dst_ + at * shape_.inner;
        if constexpr (std::is_same_v<Coefficient, float>) {
          InterpolateFloats<kArithmetic>(p, c.coefficient, d.coefficient, shape_.inner, y);
        } else {
          InterpolateIntegers(p, c.coefficient, d.coefficient, shape_.inner, y);
        }
      }
    }
  }

  size_t memory_bytes() const override {
    return (first_.pairs.size() + second_.pairs.size()) *
           sizeof(typename LinearAxis<Coefficient>::Pair);
  }

 private:
  const T* src_;
  T* dst_;
  ResizeShape shape_;
  int64_t row_ = 0;  // elements of a row of the source
  LinearAxis<Coefficient> first_, second_;
};

template <typename T, typename Coefficient, ResizeArithmetic kArithmetic>
std::unique_ptr<Step> MakeLinear(const StepContext& context, const ResizeShape& shape) {
  return std::make_unique<ResizeLinearStep<T, Coefficient, kArithmetic>>(context, shape);
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeLinear& c) {
  const ResizeShape shape = ReadResizeShape(context);
  const DType type = context.Record(Field::kSrc).dtype;
  constexpr auto kHalfAway = ResizeArithmetic::kHalfAway;
  switch (c.arithmetic) {
    case ResizeArithmetic::kFloatFirst:
      return MakeLinear<uint8_t, float, ResizeArithmetic::kFloatFirst>(context, shape);
    case ResizeArithmetic::kFloatProduct:
      return MakeLinear<uint8_t, float, ResizeArithmetic::kFloatProduct>(context, shape);
    case ResizeArithmetic::kHalfAway:
      break;
  }
  if (type == DType::kS16) return MakeLinear<int16_t, int32_t, kHalfAway>(context, shape);
  if (type == DType::kU8) return MakeLinear<uint8_t, int32_t, kHalfAway>(context, shape);
  return MakeLinear<int8_t, int32_t, kHalfAway>(context, shape);
}

}  // namespace rshift
