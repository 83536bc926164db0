#include "pipeline/input_gram.h"

#include <algorithm>
#include <variant>

namespace rshift {
namespace {

// Rows that are gathered before they are multiplied: 2^8 products of at most 255^2 fit int32.
constexpr int64_t kBlock = 256;
// Of a block with no more than these, these are multiplied.
constexpr int64_t kFewRows = 32;

// products[a * n + b] += the products of the first kRows of rows a and b of `block` [n, kBlock],
// for a <= b.
template <int64_t kRows>
[[gnu::always_inline]] inline void AddPairs(const int16_t* block, int64_t n, int64_t* products) {
  for (int64_t a = 0; a < n; ++a) {
    for (int64_t b = a; b < n; ++b) {
      const int16_t *left = block + a * kBlock, *right = block + b * kBlock;
      int32_t sum = 0;
      for (int64_t i = 0; i < kRows; ++i) sum += static_cast<int32_t>(left[i]) * right[i];
      products[a * n + b] += sum;
    }
  }
}

#ifdef __x86_64__
template <int64_t kRows>
[[gnu::target("avx2")]] void AddPairsAvx2(const int16_t* block, int64_t n, int64_t* products) {
  AddPairs<kRows>(block, n, products);
}
template <int64_t kRows>
[[gnu::target("avx512bw")]] void AddPairsAvx512(const int16_t* block, int64_t n,
                                                int64_t* products) {
  AddPairs<kRows>(block, n, products);
}
#endif

template <int64_t kRows>
void AddProducts(const int16_t* block, int64_t n, int64_t* products) {
#ifdef __x86_64__
  static const bool has_avx512 = __builtin_cpu_supports("avx512bw") != 0;
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx512) return AddPairsAvx512<kRows>(block, n, products);
  if (has_avx2) return AddPairsAvx2<kRows>(block, n, products);
#endif
  AddPairs<kRows>(block, n, products);
}

template <typename T>
class GramMaker {
 public:
  GramMaker(const WindowRows& rows, int32_t zero, const T* x, const SomeRows& some)
      : rows_(rows), zero_(zero), x_(x), some_(some) {
    gram_.groups = rows.groups;
    gram_.inputs = rows.inputs();
    gram_.rows = some.Of(rows.rows());
    gram_.products.resize(static_cast<size_t>(rows.groups * rows.inputs() * rows.inputs()));
  }

  InputGram Result() {
    const bool depthwise = rows_.groups == rows_.channels && rows_.groups > 1;
    for (int64_t first = 0; first < gram_.rows; first += kBlock) {
      const int64_t count = std::min(kBlock, gram_.rows - first);
      if (depthwise) {
        AddDepthwise(first, count);
        continue;
      }
      for (int64_t group = 0; group < rows_.groups; ++group) AddGroup(group, first, count);
    }
    return std::move(gram_);
  }

 private:
  // block_[input][row of the block]; rows that are not there are 0.
  void Gather(int64_t group, int64_t first, int64_t count) {
    const int64_t channels = rows_.channels / rows_.groups, taps = rows_.taps();
    block_.assign(static_cast<size_t>(rows_.inputs() * kBlock), 0);
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t row = 0; row < count; ++row) {
        const int64_t place = TapPlace(rows_, some_.first + (first + row) * some_.step, tap);
        if (place < 0) continue;
        const T* from = x_ + place + group * channels;
        int16_t* to = block_.data() + tap * kBlock + row;
        for (int64_t c = 0; c < channels; ++c, to += taps * kBlock)
          *to = static_cast<int16_t>(static_cast<int32_t>(from[c]) - zero_);
      }
    }
  }

  void AddGroup(int64_t group, int64_t first, int64_t count) {
    Gather(group, first, count);
    const int64_t n = rows_.inputs();
    int64_t* products = gram_.products.data() + group * n * n;
    if (count <= kFewRows)
      AddProducts<kFewRows>(block_.data(), n, products);
    else
      AddProducts<kBlock>(block_.data(), n, products);
  }

  // All channels at a time: block_[tap][row of the block][channel].
  void AddDepthwise(int64_t first, int64_t count) {
    const int64_t taps = rows_.taps(), channels = rows_.channels;
    block_.assign(static_cast<size_t>(taps * count * channels), 0);
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t row = 0; row < count; ++row) {
        const int64_t place = TapPlace(rows_, some_.first + (first + row) * some_.step, tap);
        int16_t* to = block_.data() + (tap * count + row) * channels;
        for (int64_t c = 0; place >= 0 && c < channels; ++c)
          to[c] = static_cast<int16_t>(static_cast<int32_t>(x_[place + c]) - zero_);
      }
    }
    std::vector<int32_t> sum(static_cast<size_t>(channels));
    for (int64_t a = 0; a < taps; ++a) {
      const int16_t* left = block_.data() + a * count * channels;
      for (int64_t b = a; b < taps; ++b) {
        AddChannels(left, block_.data() + b * count * channels, count, &sum);
        for (int64_t c = 0; c < channels; ++c) gram_.products[(c * taps + a) * taps + b] += sum[c];
      }
    }
  }

  // By channel: the sums of left * right.
  static void AddChannels(const int16_t* left, const int16_t* right, int64_t count,
                          std::vector<int32_t>* sums) {
    const auto channels = static_cast<int64_t>(sums->size());
    int32_t* sum = sums->data();
    std::fill(sums->begin(), sums->end(), 0);
    for (int64_t row = 0; row < count; ++row, left += channels, right += channels) {
      for (int64_t c = 0; c < channels; ++c) sum[c] += static_cast<int32_t>(left[c]) * right[c];
    }
  }

  const WindowRows& rows_;
  int32_t zero_;
  const T* x_;
  SomeRows some_;
  std::vector<int16_t> block_;
  InputGram gram_;
};

}  // namespace

int64_t MultipliedRows(int64_t rows) {
  const int64_t rest = rows % kBlock;
  return rows - rest + (rest == 0 ? 0 : rest <= kFewRows ? kFewRows : kBlock);
}

int64_t TapPlace(const WindowRows& rows, int64_t position, int64_t tap) {
  const Window& w = rows.window;
  const int64_t column = position % rows.out_width,
                row = position / rows.out_width % rows.out_height;
  const int64_t y = row * w.stride_h - w.pad_top + tap / w.kernel_w * w.dilation_h;
  const int64_t x = column * w.stride_w - w.pad_left + tap % w.kernel_w * w.dilation_w;
  if (y < 0 || y >= rows.height || x < 0 || x >= rows.width) return -1;
  const int64_t image = position / (rows.out_height * rows.out_width);
  return ((image * rows.height + y) * rows.width + x) * rows.channels;
}

std::optional<WindowRows> WindowRowsOf(const Graph& graph, const Node& node) {
  const Shape &x = graph.value(node.inputs[0]).shape, &y = graph.value(node.outputs[0]).shape;
  WindowRows rows;
  rows.channels = x.back();
  if (const auto* conv = std::get_if<Conv>(&node.op); conv != nullptr && x.size() == 4) {
    rows.images = x[0];
    rows.height = x[1];
    rows.width = x[2];
    rows.out_height = y[1];
    rows.out_width = y[2];
    rows.window = conv->window;
    rows.groups = conv->groups;
    return rows;
  }
  if (!std::holds_alternative<MatMul>(node.op)) return std::nullopt;
  rows.width = rows.out_width = y.back() == 0 ? 0 : NumElements(y) / y.back();
  return rows;
}

void InputGram::Add(const InputGram& other) {
  if (groups == 0) {
    *this = other;
    return;
  }
  rows += other.rows;
  for (size_t i = 0; i < products.size(); ++i) products[i] += other.products[i];
}

size_t GramBytes(const WindowRows& rows) {
  return static_cast<size_t>(rows.groups * rows.inputs() * rows.inputs()) * sizeof(int64_t);
}

InputGram GramOf(const WindowRows& rows, DType dtype, int32_t zero_point,
                 std::span<const std::byte> x, const SomeRows& some) {
  const void* data = x.data();
  if (dtype == DType::kU8)
    return GramMaker(rows, zero_point, static_cast<const uint8_t*>(data), some).Result();
  return GramMaker(rows, zero_point, static_cast<const int8_t*>(data), some).Result();
}

}  // namespace rshift
