// Rows of bytes, or the channels of images, normalized: exact sums, one inverse of the deviation
// for each, then element by element. quantize/numerics/normalize.h has the arithmetic.
#include "runtime/kernels/normalize.h"

#include <algorithm>

#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// What both forms have in common.
struct Form {
  const uint8_t* src;
  uint8_t* dst;
  int64_t n = 0;  // elements that are normalized together
  bool center;
  int32_t zero;  // of x ^ flip
  int64_t epsilon;
  int32_t variance_shift;
  NormalizeArgs args;
  const NormalizeTable* loops;

  Form(const StepContext& context, const isa::Normalize& c)
      : src(context.In<uint8_t>(Field::kSrc)),
        dst(context.Out<uint8_t>(Field::kDst)),
        center(c.center),
        epsilon(c.epsilon),
        variance_shift(c.variance_shift),
        loops(&NormalizeFor(context.isa)) {
    const TensorRecord& x = context.Record(Field::kSrc);
    args.flip = x.dtype == DType::kS8 ? 0x80 : 0;
    zero = x.zero_point + args.flip;
    args.factors = context.In<int32_t>(Field::kSrc2);
    args.offsets = context.In<int64_t>(Field::kList);
    args.rshift = c.rshift;
    args.lo = c.clamp.lo;
    args.hi = c.clamp.hi;
  }

  // D = n x - center.
  int32_t Center(int64_t sum) const noexcept {
    return static_cast<int32_t>(center ? sum : n * zero);
  }
  numerics::InverseDeviation By(int64_t sum, int64_t squares) const noexcept {
    const int64_t variance =
        center ? n * squares - sum * sum
               : n * (squares - 2 * int64_t{zero} * sum + n * zero * int64_t{zero});
    return numerics::Invert(variance, epsilon, variance_shift);
  }
};

class RowNormalizeStep : public Step {
 public:
  RowNormalizeStep(const Form& form, int64_t rows, int64_t n) : form_(form), rows_(rows) {
    form_.n = n;
    form_.args.n = static_cast<int32_t>(n);
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(rows_, 1, team);
    NormalizeArgs args = form_.args;
    for (int64_t row = part.begin; row < part.end; ++row) {
      args.x = form_.src + row * form_.n;
      args.y = form_.dst + row * form_.n;
      const ByteSums sums = form_.loops->sums(args.x, args.flip, form_.n);
      args.center = form_.Center(sums.sum);
      args.by = form_.By(sums.sum, sums.squares);
      form_.loops->row(args, form_.n);
    }
  }

 private:
  Form form_;
  int64_t rows_;
};

// Images [N, pixels, C], in groups of channels that threads do not share.
class ChannelNormalizeStep : public Step {
 public:
  ChannelNormalizeStep(const Form& form, int64_t images, int64_t pixels, int64_t channels)
      : form_(form),
        images_(images),
        channels_(channels),
        groups_((channels + kGroup - 1) / kGroup) {
    form_.n = pixels;
    form_.args.n = static_cast<int32_t>(pixels);
  }

  void Run(const Team& team) noexcept override {
    const Range part = ThreadRange(images_ * groups_, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t first = item % groups_ * kGroup;
      RunGroup(item / groups_ * form_.n * channels_ + first, first,
               std::min(kGroup, channels_ - first));
    }
  }

 private:
  static constexpr int64_t kGroup = 64, kMostPixels = 32767;

  void RunGroup(int64_t at, int64_t first, int64_t count) const noexcept {
    alignas(64) int64_t sums[kGroup] = {}, squares[kGroup] = {}, shifts[kGroup];
    alignas(64) int32_t centers[kGroup], inverses[kGroup];
    NormalizeArgs args = form_.args;
    for (int64_t pixel = 0; pixel < form_.n; pixel += kMostPixels) {
      const int64_t end = std::min(form_.n, pixel + kMostPixels);
      alignas(64) int32_t sum[kGroup] = {}, square[kGroup] = {};
      for (int64_t p = pixel; p < end; ++p) {
        form_.loops->channel_sums(form_.src + at + p * channels_, args.flip, count, sum, square);
      }
      for (int64_t c = 0; c < count; ++c) sums[c] += sum[c], squares[c] += square[c];
    }
    for (int64_t c = 0; c < count; ++c) {
      const numerics::InverseDeviation by = form_.By(sums[c], squares[c]);
      centers[c] = form_.Center(sums[c]);
      inverses[c] = by.inverse;
      shifts[c] = by.shift;
    }
    args.centers = centers;
    args.inverses = inverses;
    args.shifts = shifts;
    args.factors += first;
    args.offsets += first;
    for (int64_t p = 0; p < form_.n; ++p) {
      args.x = form_.src + at + p * channels_;
      args.y = form_.dst + at + p * channels_;
      form_.loops->channels(args, count);
    }
  }

  Form form_;
  int64_t images_, channels_, groups_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Normalize& c) {
  const Shape& shape = context.Record(Field::kSrc).shape;
  const Form form(context, c);
  const auto axis = shape.begin() + c.axis;
  const int64_t outer = NumElements(Shape(shape.begin(), axis));
  if (!c.channels) {
    return std::make_unique<RowNormalizeStep>(form, outer, NumElements(Shape(axis, shape.end())));
  }
  return std::make_unique<ChannelNormalizeStep>(
      form, outer, NumElements(Shape(axis, shape.end() - 1)), shape.back());
}

}  // namespace rshift
