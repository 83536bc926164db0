#include "tests/codegen/random_net.h"

#include <algorithm>

#include "isa/attributes.h"

namespace rshift {
namespace {

int32_t Lowest(DType type) { return type == DType::kS8 ? -128 : 0; }

}  // namespace

RandomNet::RandomNet(uint64_t seed) : random_(seed) {
  height_ = Int(1, OneIn(4) ? 20 : 6);
  width_ = Int(1, OneIn(4) ? 20 : 6);
  Keep(test_.Input("in0", Image(Int(1, 40))));
  Kind floats = Image(Int(1, 20));
  const Kind quantized = floats;
  floats.dtype = DType::kF32;
  floats.quant.reset();
  Keep(Add(quantized, Quantize{}, {test_.Input("in1", floats)}));
  for (int64_t nodes = Int(2, 12); nodes > 0; --nodes) Grow();
  test_.Output(values_.back());
  for (int64_t more = Int(0, 2); more > 0; --more)
    test_.Output(Any(), "more" + std::to_string(more));
}

int64_t RandomNet::Int(int64_t lo, int64_t hi) {
  return lo + static_cast<int64_t>(random_() % static_cast<uint64_t>(hi - lo + 1));
}

Kind RandomNet::Image(int64_t channels) {
  const DType type = OneIn(2) ? DType::kS8 : DType::kU8;
  const auto zero = static_cast<int32_t>(OneIn(2) ? 0 : Lowest(type) + Int(0, 255));
  return {{1, height_, width_, channels},
          type,
          Layout::kNhwc,
          QuantParams{static_cast<float>(Int(1, 40)) / 64.0f, zero}};
}

Kind RandomNet::Like(ValueId x) const {
  const Value& value = Of(x);
  return {value.shape, value.dtype, value.layout, value.quant};
}

ClampQ RandomNet::Clamp(const Kind& kind) {
  const int32_t lo = Lowest(kind.dtype);
  if (OneIn(2)) return {lo, lo + 255};
  return {static_cast<int32_t>(lo + Int(0, 100)), static_cast<int32_t>(lo + Int(150, 255))};
}

std::vector<ChannelRequant> RandomNet::Records(int64_t channels) {
  std::vector<ChannelRequant> records;
  for (int64_t c = 0; c < channels; ++c) {
    records.push_back({static_cast<int32_t>(Int(-3000, 3000)),
                       static_cast<int32_t>(Int(1 << 30, (int64_t{1} << 31) - 1)),
                       static_cast<int32_t>(Int(36, 41))});
  }
  return records;
}

ValueId RandomNet::Add(const Kind& kind, Op op, std::vector<ValueId> inputs) {
  return test_.Node("v" + std::to_string(next_++), kind, std::move(op), std::move(inputs));
}

ValueId RandomNet::Keep(ValueId value) {
  values_.push_back(value);
  return value;
}

ValueId RandomNet::Conv(ValueId x, int64_t channels, const Kind* as) {
  const Kind y = as != nullptr ? *as : Image(channels);
  QConv conv;
  const int64_t kernel = OneIn(2) ? 1 : 3;
  conv.window = {.kernel_h = kernel, .kernel_w = kernel};
  conv.window.pad_top = conv.window.pad_left = kernel / 2;
  conv.window.pad_bottom = conv.window.pad_right = kernel / 2;
  if (Channels(x) % 2 == 0 && channels % 2 == 0 && OneIn(4)) conv.groups = 2;
  conv.channels = Records(channels);
  conv.clamp = Clamp(y);
  if (OneIn(4)) conv.zero_w.assign(static_cast<size_t>(channels), 7);
  const Shape shape = {channels, Channels(x) / conv.groups, kernel, kernel};
  std::vector<int8_t> weights(static_cast<size_t>(NumElements(shape)));
  for (int8_t& w : weights) w = static_cast<int8_t>(Int(-127, 127));
  return Add(y, conv, {x, test_.S8("w" + std::to_string(next_), shape, weights)});
}

ValueId RandomNet::Depthwise(ValueId x) {
  const int64_t channels = Channels(x);
  if (channels == 1) return Conv(x, 1);
  const Kind y = Image(channels);
  QConv conv;
  conv.window = {.kernel_h = 3, .kernel_w = 3};
  conv.window.pad_top = conv.window.pad_left = 1;
  conv.window.pad_bottom = conv.window.pad_right = 1;
  conv.groups = channels;
  conv.channels = Records(channels);
  for (ChannelRequant& record : conv.channels) record.rshift -= 3;
  conv.clamp = Clamp(y);
  if (OneIn(3)) {
    for (int64_t c = 0; c < channels; ++c) conv.zero_x.push_back(static_cast<uint8_t>(Int(0, 255)));
  }
  std::vector<int8_t> weights(static_cast<size_t>(9 * channels));
  for (int8_t& w : weights) w = static_cast<int8_t>(Int(-127, 127));
  const ValueId w = test_.S8("w" + std::to_string(next_), {channels, 1, 3, 3}, weights);
  return Add(y, conv, {x, w});
}

ValueId RandomNet::Lut(ValueId x) {
  const Kind y = Image(Channels(x));
  const auto rshift = static_cast<int32_t>(Int(5, 9));
  switch (Int(0, 3)) {
    case 0: {
      QTable table;
      for (uint8_t& entry : table.entries) entry = static_cast<uint8_t>(random_());
      return Add(y, table, {x});
    }
    case 1: {
      isa::LeakyRelu leaky;
      leaky.multiplier = static_cast<int32_t>(Int(-100, 100));
      leaky.rshift = rshift;
      leaky.clamp = Clamp(y);
      return Add(y, leaky, {x});
    }
    case 2: {
      QPRelu prelu;
      prelu.rshift = rshift;
      for (int64_t c = 0; c < Channels(x); ++c)
        prelu.slopes.push_back(static_cast<int8_t>(Int(-127, 127)));
      prelu.clamp = Clamp(y);
      return Add(y, prelu, {x});
    }
    default: {
      const Requantize requantize{
          .words = {static_cast<int32_t>(Int(1 << 30, 1 << 30)), static_cast<int32_t>(Int(29, 32))},
          .clamp = Clamp(y)};
      return Add(y, requantize, {x});
    }
  }
}

ValueId RandomNet::Sum(ValueId a, ValueId b) {
  const Kind y = Image(Channels(a));
  const auto multiplier = [&] {
    return static_cast<int32_t>(Int(1 << 30, (int64_t{1} << 31) - 1));
  };
  switch (Int(0, 4)) {
    case 0: {
      const bool bytes = OneIn(2);
      const int64_t lo = bytes ? 0 : -9000, hi = bytes ? 120 : 9000;
      isa::Add add{.multiplier = static_cast<int32_t>(Int(lo, hi)),
                   .multiplier2 = static_cast<int32_t>(Int(lo, hi)),
                   .rshift = static_cast<int32_t>(bytes ? Int(5, 8) : Int(12, 14)),
                   .clamp = Clamp(y),
                   .rounding = OneIn(2) ? Rounding::kHalfUp : Rounding::kHalfAway};
      return Add(y, add, {a, b});
    }
    case 1:
      return Add(y, isa::AddFloat{.clamp = Clamp(y)}, {a, b});
    case 2: {
      const auto words = [&](int64_t low, int64_t high) {
        const int32_t first = multiplier();
        return RequantWords{first, static_cast<int32_t>(Int(low, high))};
      };
      isa::AddShifted add{.words = words(31, 33),
                          .words2 = words(31, 33),
                          .words3 = words(48, 51),
                          .left_shift = 20,
                          .rounding = Rounding::kTwoStep};
      add.clamp = Clamp(y);
      add.blocks = static_cast<AddBlocks>(Int(0, 3));
      return Add(y, add, {a, b});
    }
    case 3:
      return Add(y,
                 isa::AddFma{.ratio_a = 0.4f,
                             .ratio_b = 0.7f,
                             .fixed = 9.5f,
                             .clamp = Clamp(y),
                             .keeps_sign = OneIn(2)},
                 {a, b});
    default:
      return Add(y, isa::Mul{.words = {multiplier(), 37}, .clamp = Clamp(y)}, {a, b});
  }
}

// Of the same size: 3x3 with pads.
ValueId RandomNet::Pool(ValueId x) {
  Window window{.kernel_h = 3, .kernel_w = 3};
  window.pad_top = window.pad_left = window.pad_bottom = window.pad_right = 1;
  if (OneIn(2)) return Add(Like(x), MaxPool{window}, {x});
  const Kind y = Image(Channels(x));
  isa::AveragePool pool;
  pool.window = window;
  pool.scale = 0.9f;
  pool.offset = static_cast<float>(Int(-20, 20));
  pool.count_include_pad = OneIn(2);
  pool.clamp = Clamp(y);
  return Add(y, pool, {x});
}

// ShuffleNet: channels as [2][C / 2] transposed.
ValueId RandomNet::Shuffle(ValueId x) {
  const int64_t channels = Channels(x);
  if (channels % 2 != 0) return Depthwise(x);
  Kind split = Like(x);
  split.shape = {height_ * width_, 2, channels / 2};
  split.layout = Layout::kPlain;
  const ValueId view = Add(split, Reshape{}, {x});
  std::swap(split.shape[1], split.shape[2]);
  const ValueId turned = Add(split, Transpose{{0, 2, 1}}, {view});
  return Add(Like(x), Reshape{}, {turned});
}

// Nearest resize to twice the size, and a pool back.
ValueId RandomNet::UpAndDown(ValueId x) {
  Kind big = Like(x);
  big.shape[1] *= 2;
  big.shape[2] *= 2;
  const ValueId up = Add(big, Resize{{}, {1, 2, 2, 1}}, {x});
  Window window{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  return Add(Like(x), MaxPool{window}, {up});
}

ValueId RandomNet::Join(const std::vector<ValueId>& parts, int64_t axis) {
  Kind kind = Like(parts[0]);
  kind.shape[axis] = 0;
  for (const ValueId part : parts) kind.shape[axis] += Of(part).shape[axis];
  return Add(kind, Concat{axis}, parts);
}

std::vector<ValueId> RandomNet::Partners(ValueId x) {
  std::vector<ValueId> found;
  for (const ValueId value : values_) {
    const bool fits = Of(value).dtype == Of(x).dtype && Channels(value) + Channels(x) < 200;
    if (fits && OneIn(2)) found.push_back(value);
  }
  if (found.size() > 3) found.resize(3);
  return found;
}

void RandomNet::Grow() {
  const ValueId x = Any();
  switch (Int(0, 9)) {
    case 0:
      Keep(Conv(x, Int(1, 90)));
      return;
    case 1:
      Keep(OneIn(2) ? Lut(Conv(x, Int(1, 90))) : Lut(x));
      return;
    case 2:
      Keep(OneIn(2) ? Lut(Depthwise(x)) : Depthwise(x));
      return;
    case 3: {  // a residual block, sometimes with something behind it
      const ValueId branch = OneIn(2) ? Conv(Conv(x, Int(1, 70)), Channels(x)) : Depthwise(x);
      const ValueId sum = OneIn(2) ? Sum(x, branch) : Sum(branch, x);
      Keep(OneIn(3) ? Lut(sum) : sum);
      return;
    }
    case 4: {  // a fire module
      const ValueId squeeze = Conv(x, Int(1, 20));
      const Kind kind = Image(Int(1, 40));
      Keep(Join({Conv(squeeze, kind.shape[3], &kind), Conv(squeeze, kind.shape[3], &kind)}, 3));
      return;
    }
    case 5: {  // a layer of a dense block
      if (Channels(x) > 150) return;
      Kind kind = Like(x);
      kind.shape[3] = Int(1, 30);
      Keep(Join({x, Conv(Conv(x, Int(1, 30)), kind.shape[3], &kind)}, 3));
      return;
    }
    case 6: {
      std::vector<ValueId> parts = Partners(x);
      parts.push_back(x);
      const ValueId cat = Join(parts, 3);
      Keep(Channels(cat) < 200 ? cat : Conv(cat, 30));
      return;
    }
    case 7:
      Keep(OneIn(2) ? Pool(x) : Lut(Pool(x)));
      return;
    case 8:
      Keep(OneIn(2) ? Shuffle(x) : UpAndDown(x));
      return;
    default: {  // on rows: two halves, one of them new
      Window window{.kernel_h = 3, .kernel_w = 3};
      window.pad_top = window.pad_left = window.pad_bottom = window.pad_right = 1;
      const ValueId both = Join({x, Add(Like(x), MaxPool{window}, {x})}, 1);
      const std::vector<int64_t> starts = {0, height_ / 2, 0, 0}, steps = {1, 1, 1, 1};
      Keep(Add(Like(x), Slice{starts, steps}, {both}));
      return;
    }
  }
}

}  // namespace rshift
