// The specification in code: scalar, no over-reads. Every other unit gives the same bytes.
#include <algorithm>

#include "quantize/numerics/requantize.h"
#include "runtime/kernels/kernels.h"

namespace rshift {
namespace {

struct Pixel {
  int64_t batch, y, x;
};

Pixel PixelAt(int64_t m, int64_t oh, int64_t ow) { return {m / ow / oh, m / ow % oh, m % ow}; }

template <bool kSigned>
int32_t Value(uint8_t byte) {
  return kSigned ? static_cast<int8_t>(byte) : byte;
}

// The input pixel under one tap, or the row of zero points outside the image.
template <typename Args>
const uint8_t* TapRow(const Args& args, const Pixel& pixel, int64_t tap) {
  const Window& w = args.window;
  const int64_t y = pixel.y * w.stride_h - w.pad_top + tap / w.kernel_w * w.dilation_h;
  const int64_t x = pixel.x * w.stride_w - w.pad_left + tap % w.kernel_w * w.dilation_w;
  if (y < 0 || y >= args.ih || x < 0 || x >= args.iw) return args.zero_row;
  return args.src + ((pixel.batch * args.ih + y) * args.iw + x) * args.src_pitch;
}

// Accumulators of channels [0, count) -> bytes.
void Finish(const RequantArgs& requant, int64_t entry, const int32_t* acc, int64_t count,
            uint8_t* dst) {
  if (requant.finish != nullptr) return requant.finish(requant, entry, acc, count, dst);
  for (int64_t c = 0; c < count; ++c) {
    dst[c] = static_cast<uint8_t>(numerics::Requantize(acc[c], requant.multiplier[entry + c],
                                                       requant.rshift[entry + c], requant.zero_y,
                                                       requant.lo, requant.hi));
  }
}

void RequantizeAll(const RequantArgs& requant, const int32_t* acc, int64_t count,
                   uint8_t* dst) noexcept {
  for (int64_t i = 0; i < count; i += 16)  // as many equal entries
    Finish(requant, 0, acc + i, std::min<int64_t>(16, count - i), dst + i);
}

// acc[0, width) += one tap: x[0, ic) times its weights, the first of which is number `k` of a
// channel's in the panel w; returns the sum of x. Modulo 2^32: see kernels.h.
template <bool kSigned>
uint32_t AccumulateTap(const uint8_t* x, const int8_t* w, int64_t k, int64_t ic, int64_t width,
                       uint32_t* acc) {
  uint32_t total = 0;
  for (int64_t i = 0; i < ic; ++i, ++k) {
    const int32_t v = Value<kSigned>(x[i]);
    const int8_t* of_channels = w + k / 4 * 4 * width + k % 4;
    total += static_cast<uint32_t>(v);
    for (int64_t c = 0; c < width; ++c) acc[c] += static_cast<uint32_t>(v * of_channels[c * 4]);
  }
  return total;
}

template <bool kSigned>
void ConvPanel(const ConvArgs& args, int64_t panel_index, int64_t m_begin, int64_t m_end) {
  const int64_t group = panel_index / args.panels_per_group;
  const int64_t first =
      panel_index % args.panels_per_group * kPanelChannels;  // channel within the group
  const int64_t width = std::min(kPanelChannels, args.n - first);
  const int64_t real = std::min(kPanelChannels, args.oc_per_group - first);
  const int64_t entry = group * args.n + first;
  const Window& w = args.window;
  const int64_t taps = w.kernel_h * w.kernel_w;
  const int8_t* weights = args.weights + group * args.k * args.n + first * args.k;
  for (int64_t m = m_begin; m < m_end; ++m) {
    const Pixel pixel = PixelAt(m, args.oh, args.ow);
    uint32_t acc[kPanelChannels] = {};
    uint32_t total = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const uint8_t* x = TapRow(args, pixel, tap) + group * args.ic_per_group;
      const int64_t k = tap * (args.stem_im2col ? args.ic : args.ic4);
      total += AccumulateTap<kSigned>(x, weights, k, args.ic_per_group, width, acc);
    }
    int32_t sums[kPanelChannels];
    for (int64_t c = 0; c < real; ++c) {
      const int32_t zero = args.requant.zero_w == nullptr ? 0 : args.requant.zero_w[entry + c];
      const uint32_t bias = static_cast<uint32_t>(args.requant.bias[entry + c]);
      sums[c] = static_cast<int32_t>(bias + acc[c] - static_cast<uint32_t>(zero) * total);
    }
    uint8_t* dst = args.dst + m * args.dst_pitch + group * args.oc_per_group + first;
    Finish(args.requant, entry, sums, real, dst);
    if (args.epilogue.run != nullptr) args.epilogue.run(args.epilogue.state, dst, 1, real);
  }
}

void Conv(const ConvArgs& args, const ConvRange& range, void*) noexcept {
  for (int64_t panel = range.panel_begin; panel < range.panel_end; ++panel) {
    if (args.src_signed) {
      ConvPanel<true>(args, panel, range.m_begin, range.m_end);
    } else {
      ConvPanel<false>(args, panel, range.m_begin, range.m_end);
    }
  }
}

template <bool kSigned>
void DepthwisePixel(const DepthwiseArgs& args, int64_t m, int64_t c_begin, int64_t c_end) {
  const Pixel pixel = PixelAt(m, args.oh, args.ow);
  const int64_t taps = args.window.kernel_h * args.window.kernel_w;
  const RequantArgs& requant = args.requant;
  int32_t acc[kPanelChannels];
  for (int64_t first = c_begin; first < c_end; first += kPanelChannels) {
    const int64_t count = std::min(kPanelChannels, c_end - first);
    std::copy_n(requant.bias + first, count, acc);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const uint8_t* x = TapRow(args, pixel, tap) + first;
      const int8_t* w = args.weights + tap * args.c64 + first;
      for (int64_t c = 0; c < count; ++c) {
        const int32_t zero = requant.zero_w == nullptr ? 0 : requant.zero_w[first + c];
        acc[c] += Value<kSigned>(x[c]) * (w[c] - zero);
      }
    }
    uint8_t* dst = args.dst + m * args.dst_pitch + first;
    Finish(requant, first, acc, count, dst);
    if (args.epilogue.run != nullptr) args.epilogue.run(args.epilogue.state, dst, 1, count);
  }
}

void Depthwise(const DepthwiseArgs& args, const DepthwiseRange& range, void*) noexcept {
  for (int64_t m = range.m_begin; m < range.m_end; ++m) {
    if (args.src_signed) {
      DepthwisePixel<true>(args, m, range.c_begin, range.c_end);
    } else {
      DepthwisePixel<false>(args, m, range.c_begin, range.c_end);
    }
  }
}

// f(tap) for every tap of the window.
template <typename F>
void ForEachTap(const PoolWindow& window, const F& f) {
  for (int64_t y = 0; y < window.rows; ++y) {
    for (int64_t x = 0; x < window.columns; ++x)
      f(window.base + y * window.row_step + x * window.column_step);
  }
}

void MaxPool(const PoolWindow& window, int64_t count, bool is_signed, uint8_t* dst) noexcept {
  std::copy_n(window.base, count, dst);
  const uint8_t flip = is_signed ? 0x80 : 0;  // s8 order as u8 order
  ForEachTap(window, [&](const uint8_t* tap) {
    for (int64_t c = 0; c < count; ++c)
      dst[c] = (tap[c] ^ flip) > (dst[c] ^ flip) ? tap[c] : dst[c];
  });
}

void SumPool(const PoolWindow& window, int64_t count, bool is_signed, int32_t* sum) noexcept {
  std::fill_n(sum, count, 0);
  ForEachTap(window, [&](const uint8_t* tap) {
    for (int64_t c = 0; c < count; ++c)
      sum[c] += is_signed ? Value<true>(tap[c]) : Value<false>(tap[c]);
  });
}

void ConvS16(const ConvS16Tile& t) noexcept {
  std::fill_n(t.sums, t.pixels * kS16Channels, 0);
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    for (int64_t p = 0; p < t.pixels; ++p) {
      const int16_t* x = t.rows[tap * t.pixels + p];
      const int16_t* w = t.weights + tap * t.tap_step;
      int32_t* sums = t.sums + p * kS16Channels;
      for (int64_t pair = 0; pair < t.pairs; ++pair, w += 2 * kS16Channels) {
        const int32_t first = x[2 * pair], second = x[2 * pair + 1];
        for (int64_t c = 0; c < kS16Channels; ++c)
          sums[c] += first * w[2 * c] + second * w[2 * c + 1];
      }
    }
  }
}

void DepthwiseS16(const DepthwiseS16Tile& t) noexcept {
  std::fill_n(t.sums, t.pixels * kS16Channels, 0);
  for (int64_t tap = 0; tap < 2 * t.pairs; ++tap) {
    const int16_t* w = t.weights + tap / 2 * t.pair_step + tap % 2;
    for (int64_t p = 0; p < t.pixels; ++p) {
      const int16_t* x = t.rows[tap * t.pixels + p] + t.offset;
      int32_t* sums = t.sums + p * kS16Channels;
      for (int64_t c = 0; c < t.channels; ++c) sums[c] += int32_t{x[c]} * w[2 * c];
    }
  }
}

}  // namespace

const KernelTable kScalarKernels = {.conv = Conv,
                                    .depthwise = Depthwise,
                                    .max_pool = MaxPool,
                                    .sum_pool = SumPool,
                                    .requantize = RequantizeAll,
                                    .conv_s16 = ConvS16,
                                    .depthwise_s16 = DepthwiseS16};

}  // namespace rshift
