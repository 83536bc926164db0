#include "runtime/verify/window.h"

#include <algorithm>
#include <array>
namespace rshift::verify {
namespace {

// One dimension. The ISA table bounds kernel, stride, dilation and pads by 2^20, shapes by 2^40: no
// overflow.
struct Axis {
  const char* name;
  int64_t in, out, kernel, stride, dilation, before, after;

  int64_t Room() const { return in + before + after - dilation * (kernel - 1) - 1; }
};

// `height`: which dimension it is, the width being the next.
std::array<Axis, 2> AxesOf(const CommandCheck& check, const Window& w, size_t height = 1) {
  const Shape& src = check.Tensor(Field::kSrc).shape;
  const Shape& dst = check.Tensor(Field::kDst).shape;
  return {{{"height", src[height], dst[height], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top,
            w.pad_bottom},
           {"width", src[height + 1], dst[height + 1], w.kernel_w, w.stride_w, w.dilation_w,
            w.pad_left, w.pad_right}}};
}

void CheckImages(const CommandCheck& check) {
  check.CheckImage(Field::kSrc);
  check.CheckImage(Field::kDst);
  check.Check(check.Tensor(Field::kSrc).shape[0] == check.Tensor(Field::kDst).shape[0],
              check.Describe(Field::kSrc), " and ", check.Describe(Field::kDst),
              ": expected equal N");
}

// Does the window that starts at `start` have a tap inside [0, in)?
bool HasTap(const Axis& axis, int64_t start) {
  if (start >= axis.in) return false;
  if (start >= 0) return true;
  const int64_t tap = (-start + axis.dilation - 1) / axis.dilation;  // the first at or right of 0
  return tap < axis.kernel && start + tap * axis.dilation < axis.in;
}

void CheckTaps(const CommandCheck& check, const Axis& axis) {
  const int64_t last = (axis.out - 1) * axis.stride - axis.before;
  bool ok = HasTap(axis, last);
  // Windows that start before the image: at most before / stride + 1 of them. Where taps are not
  // further apart than the image is wide, one cannot step over it, and the first window, whose tap
  // inside has the greatest number, speaks for all.
  const int64_t count = axis.dilation <= axis.in ? std::min<int64_t>(axis.out, 1) : axis.out;
  for (int64_t i = 0; ok && i < count && i * axis.stride < axis.before; ++i) {
    ok = HasTap(axis, i * axis.stride - axis.before);
  }
  check.Check(ok, "a window in the ", axis.name, " of ", axis.in,
              " lies outside the image (kernel ", axis.kernel, ", stride ", axis.stride, ", pads ",
              axis.before, " and ", axis.after, ", output ", axis.out, ")");
}

}  // namespace

void CheckConvWindow(const CommandCheck& check, const Window& window, size_t height) {
  CheckImages(check);
  for (const Axis& axis : AxesOf(check, window, height)) {
    const int64_t room = axis.Room();
    check.Check(room >= 0 && axis.out == room / axis.stride + 1, "output ", axis.name, " is ",
                axis.out, ", expected (", axis.in, " + ", axis.before, " + ", axis.after, " - ",
                axis.dilation, " * (", axis.kernel, " - 1) - 1) / ", axis.stride, " + 1");
  }
}

void CheckPoolWindow(const CommandCheck& check, const Window& window) {
  CheckImages(check);
  for (const Axis& axis : AxesOf(check, window)) {
    const int64_t room = axis.Room();
    const int64_t floor = room < 0 ? 0 : room / axis.stride + 1;
    check.Check(axis.out >= floor && axis.out <= floor + 1, "output ", axis.name, " is ", axis.out,
                ", expected ", floor, ", or one more with ceil_mode");
    CheckTaps(check, axis);
  }
}

void CheckGroups(const CommandCheck& check, int64_t groups) {
  const int64_t ic = check.Tensor(Field::kSrc).shape[3], oc = check.Tensor(Field::kDst).shape[3];
  check.Check(ic % groups == 0 && oc % groups == 0, groups, " groups do not divide ", ic,
              " input and ", oc, " output channels");
}

}  // namespace rshift::verify
