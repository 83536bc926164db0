// Quantization whose scale and zero point are found at run time, against the definition in plain
// loops: the same bytes on every instruction set and any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Floats(Random& random, int64_t count, float lo, float hi) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = random.Float(lo, hi);
  return values;
}

std::vector<float> AsFloats(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// dynamic_range of x alone.
std::vector<float> RecordOf(const std::vector<float>& x) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kF32, {static_cast<int64_t>(x.size())}});
  b.Add(Opcode::kDynamicRange, b.Output({DType::kF32, {2}}), src);
  return AsFloats(RunEverywhere(b, {AsBytes(x)}));
}

TEST(DynamicRange, WorkedExamples) {
  EXPECT_EQ(RecordOf({0, 255}), (std::vector<float>{1, 0}));
  EXPECT_EQ(RecordOf({-255, -3}), (std::vector<float>{1, 255}));
  EXPECT_EQ(RecordOf({-1, 3}), (std::vector<float>{4.0f / 255.0f, 64}));
  EXPECT_EQ(RecordOf({3, 51}), (std::vector<float>{51.0f / 255.0f, 0}));  // 0 is in the range
  EXPECT_EQ(RecordOf({0, -0.0f, 0}), (std::vector<float>{1, 0}));
  EXPECT_EQ(RecordOf({-127.5f, 127.5f}), (std::vector<float>{1, 128}));  // a tie, to even
}

TEST(DynamicRange, OneNumberThatIsNoneMakesTheScaleNone) {
  for (const size_t place : {0u, 70u, 199u}) {
    std::vector<float> x(200, 1.0f);
    x[place] = kNan;
    const std::vector<float> record = RecordOf(x);
    EXPECT_TRUE(std::isnan(record[0])) << place;
    EXPECT_EQ(record[1], 0) << place;
  }
}

TEST(DynamicRange, LongTensorsOfAnyLength) {
  Random random(1);
  for (const int64_t count : {1, 63, 64, 65, 1000, 4099}) {
    const std::vector<float> x = Floats(random, count, -3, 5);
    const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
    const float max = std::max(*greatest, 0.0f), min = std::min(*least, 0.0f);
    const float scale = (max - min) / 255.0f;
    EXPECT_EQ(RecordOf(x), (std::vector<float>{scale, std::nearbyint(0.0f - min / scale)}))
        << count;
  }
}

TEST(DynamicQuantize, EachElementByTheRecord) {
  Random random(2);
  for (const int64_t count : {1, 130, 777}) {
    const std::vector<float> x = Floats(random, count, -4, 4);
    const float scale = random.Float(0.005f, 0.05f);
    const auto zero = static_cast<float>(random.Int(0, 255));
    ProgramBuilder b;
    const int32_t src = b.Input({DType::kF32, {count}}), record = b.Input({DType::kF32, {2}});
    TensorSpec bytes{DType::kU8, {count}};
    b.Add(Opcode::kDynamicQuantize, b.Output(bytes), src).Set(Field::kSrc2, record);
    Bytes expected;
    for (const float v : x) {
      const float q = std::nearbyint(v / scale) + zero;
      expected.push_back(static_cast<uint8_t>(std::clamp(q, 0.0f, 255.0f)));
    }
    EXPECT_EQ(RunEverywhere(b, {AsBytes(x), AsBytes(std::vector<float>{scale, zero})}), expected);
  }
}

// --- products ---
struct Product {
  Random random;
  ProgramBuilder b;
  DType type = DType::kU8;  // of x
  bool sums = false;        // an s32 result
  int64_t channels = 1;
  std::vector<float> scales{}, bias{};
  std::vector<int32_t> zero_w{};
  std::vector<float> record{};

  Product(uint32_t seed, int64_t n) : random(seed), channels(n) {
    type = random.Byte();
    sums = random.Int(0, 2) == 0;
    const size_t count = static_cast<size_t>(n);
    scales = std::vector<float>(count, 0), bias = scales;
    if (!sums) {
      scales = Floats(random, n, 0, 0.1f);
      bias = Floats(random, n, -5, 5);
    }
    zero_w.resize(count, 0);
    if (random.Int(0, 1) == 0) {
      for (int32_t& z : zero_w) z = static_cast<int32_t>(random.Int(-128, 127));
    }
    record = {random.Float(0.001f, 2.0f), static_cast<float>(random.Zero(type))};
  }

  void AddConstants(Command c, const std::vector<int8_t>& packed) {
    std::vector<ChannelRequant> records;
    for (size_t i = 0; i < scales.size(); ++i)
      records.push_back({0, std::bit_cast<int32_t>(scales[i]), std::bit_cast<int32_t>(bias[i])});
    c.Set(Field::kSrc2, b.Input({DType::kF32, {2}}));
    const auto size = static_cast<int64_t>(packed.size());
    c.Set(Field::kWeights, b.Const(DType::kBytes, {size}, packed));
    c.Set(Field::kRequant, b.Const(DType::kBytes, {12 * channels}, records));
    if (std::any_of(zero_w.begin(), zero_w.end(), [](int32_t z) { return z != 0; }))
      c.Set(Field::kZeroW, b.Const(DType::kS32, {channels}, zero_w));
    b.image.commands.back() = c;
  }

  DType result() const { return sums ? DType::kS32 : DType::kF32; }
  int32_t zero() const { return static_cast<int32_t>(record[1]); }

  void Append(int64_t acc, size_t channel, Bytes* expected) const {
    const auto sum = static_cast<int32_t>(acc);
    const float scale = record[0] * scales[channel];
    const float scaled = static_cast<float>(sum) * scale;
    const uint32_t word =
        sums ? static_cast<uint32_t>(sum) : std::bit_cast<uint32_t>(scaled + bias[channel]);
    for (int byte = 0; byte < 4; ++byte)
      expected->push_back(static_cast<uint8_t>(word >> (8 * byte)));
  }
};

std::vector<int8_t> Weights(Random& random, int64_t count) {
  std::vector<int8_t> weights(static_cast<size_t>(count));
  for (int8_t& w : weights) w = static_cast<int8_t>(random.Int(-128, 127));
  return weights;
}

TEST(DynamicMatMul, EqualsTheSumOfItsProducts) {
  const int64_t sizes[][3] = {{1, 1, 1},    {3, 7, 5},   {2, 64, 64},
                              {17, 33, 70}, {5, 200, 9}, {40, 24, 130}};
  uint32_t seed = 10;
  for (const auto& [m, k, n] : sizes) {
    for (int turn = 0; turn < 4; ++turn, ++seed) {
      SCOPED_TRACE(seed);
      Product p(seed, n);
      const int32_t src = p.b.Input({p.type, {m, k}});
      const int32_t dst = p.b.Output({p.result(), {m, n}});
      const std::vector<int8_t> w = Weights(p.random, k * n);
      p.AddConstants(p.b.Add(Opcode::kDynamicMatMul, dst, src), PackMatMulWeights(k, n, w));
      const Bytes x = p.random.Data(m * k);
      Bytes expected;
      for (int64_t i = 0; i < m * n; ++i) {
        const auto c = static_cast<size_t>(i % n);
        int64_t acc = 0;
        for (int64_t j = 0; j < k; ++j) {
          const int32_t q = Value(x[static_cast<size_t>(i / n * k + j)], p.type) - p.zero();
          acc += int64_t{q} * (w[static_cast<size_t>(j * n) + c] - p.zero_w[c]);
        }
        p.Append(acc, c, &expected);
      }
      ASSERT_EQ(RunEverywhere(p.b, {x, AsBytes(p.record)}), expected);
    }
  }
}

// One image of h x w, odd pads, stride 2 or 1.
void CheckConv(uint32_t seed, int64_t groups, int64_t ic, int64_t oc, int64_t kernel) {
  SCOPED_TRACE(seed);
  constexpr int64_t kH = 9, kW = 7;
  Product p(seed, groups * oc);
  const int64_t stride = p.random.Int(1, 2), pad = kernel / 2;
  const int64_t oh = (kH + pad - kernel) / stride + 1, ow = (kW + 2 * pad - kernel) / stride + 1;
  const int64_t in = groups * ic, out = groups * oc;
  const int32_t src = p.b.Input({p.type, {1, kH, kW, in}});
  const int32_t dst = p.b.Output({p.result(), {1, oh, ow, out}});
  p.b[src].layout = p.b[dst].layout = Layout::kNhwc;
  Command& c = p.b.Add(Opcode::kDynamicConv, dst, src);
  c.Set(Field::kKernelH, kernel).Set(Field::kKernelW, kernel).Set(Field::kGroups, groups);
  c.Set(Field::kStrideH, stride).Set(Field::kStrideW, stride);
  c.Set(Field::kPadTop, pad).Set(Field::kPadLeft, pad).Set(Field::kPadRight, pad);
  const std::vector<int8_t> w = Weights(p.random, out * ic * kernel * kernel);
  p.AddConstants(c, IsDepthwise(groups, in, out)
                        ? PackDepthwiseWeights(out, kernel * kernel, w)
                        : PackConvolution({groups, oc, ic, kernel, kernel, 1}, w));
  const Bytes x = p.random.Data(kH * kW * in);
  Bytes expected;
  for (int64_t i = 0; i < oh * ow * out; ++i) {
    const int64_t channel = i % out, y0 = i / out / ow * stride - pad,
                  x0 = i / out % ow * stride - pad;
    int64_t acc = 0;
    for (int64_t t = 0; t < ic * kernel * kernel; ++t) {
      const int64_t z = t / (kernel * kernel), yy = y0 + t / kernel % kernel, xx = x0 + t % kernel;
      if (yy < 0 || yy >= kH || xx < 0 || xx >= kW) continue;
      const int64_t at = (yy * kW + xx) * in + channel / oc * ic + z;
      acc += int64_t{Value(x[static_cast<size_t>(at)], p.type) - p.zero()} *
             (w[static_cast<size_t>(channel * ic * kernel * kernel + t)] -
              p.zero_w[static_cast<size_t>(channel)]);
    }
    p.Append(acc, static_cast<size_t>(channel), &expected);
  }
  ASSERT_EQ(RunEverywhere(p.b, {x, AsBytes(p.record)}), expected);
}

TEST(DynamicConv, EqualsTheSumOfItsProducts) {
  uint32_t seed = 100;
  for (const int64_t kernel : {1, 3}) {
    for (int turn = 0; turn < 3; ++turn) {
      CheckConv(seed++, 1, 3, 20, kernel);  // the stem
      CheckConv(seed++, 1, 16, 33, kernel);
      CheckConv(seed++, 3, 5, 7, kernel);
      CheckConv(seed++, 70, 1, 1, kernel);  // depthwise
    }
  }
}

TEST(DynamicMatMul, AnyNumbersInTheRecordAreTaken) {
  for (const auto& record : {std::vector<float>{kNan, kNan}, {1, 1e30f}, {-1, -1e30f}, {0, 0.5f}}) {
    Product p(3, 4);
    p.sums = false;
    p.scales.assign(4, 1), p.bias.assign(4, 0);
    const int32_t src = p.b.Input({p.type, {2, 8}}), dst = p.b.Output({DType::kF32, {2, 4}});
    p.AddConstants(p.b.Add(Opcode::kDynamicMatMul, dst, src),
                   PackMatMulWeights(8, 4, Weights(p.random, 32)));
    EXPECT_EQ(RunEverywhere(p.b, {p.random.Data(16), AsBytes(record)}).size(), 32u);
  }
}

struct Refused {
  const char* message;
  void (*spoil)(Product&, Command&);
};

TEST(DynamicMatMul, IsRefusedWhereItCannotBeRight) {
  const Refused cases[] = {
      {"expected f32 or s32",
       [](Product& p, Command& c) { p.b[c.Tensor(Field::kDst)].dtype = DType::kS64; }},
      {"bias is 7, expected 0",
       [](Product& p, Command& c) {
         const std::vector<ChannelRequant> records(4, ChannelRequant{7, 0, 0});
         c.Set(Field::kRequant, p.b.Const(DType::kBytes, {48}, records));
       }},
      {"expected a finite number",
       [](Product& p, Command& c) {
         const auto nan = std::bit_cast<int32_t>(kNan);
         const std::vector<ChannelRequant> records(4, ChannelRequant{0, nan, 0});
         c.Set(Field::kRequant, p.b.Const(DType::kBytes, {48}, records));
       }},
      {"src2",
       [](Product& p, Command& c) {
         c.Set(Field::kSrc2, p.b.Input({DType::kF32, {3}}));
       }},
  };
  for (const Refused& refused : cases) {
    Product p(4, 4);
    p.sums = false, p.type = DType::kU8;
    const int32_t src = p.b.Input({p.type, {2, 8}}), dst = p.b.Output({DType::kF32, {2, 4}});
    p.AddConstants(p.b.Add(Opcode::kDynamicMatMul, dst, src),
                   PackMatMulWeights(8, 4, Weights(p.random, 32)));
    Command c = p.b.image.commands.back();
    refused.spoil(p, c);
    p.b.image.commands.back() = c;
    const std::string message = LoadError(p.b);
    EXPECT_NE(message.find(refused.message), std::string::npos)
        << refused.message << ": " << message;
  }
}

TEST(DynamicMatMul, IsRefusedWhereASumMayLeaveInt32) {
  constexpr int64_t kK = 66052;  // 255 * 127.5 * K reaches 2^31
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kU8, {1, kK}}), dst = b.Output({DType::kS32, {1, 1}});
  Command& c = b.Add(Opcode::kDynamicMatMul, dst, src);
  c.Set(Field::kSrc2, b.Input({DType::kF32, {2}}));
  const std::vector<int8_t> w(kK, -128);
  const std::vector<int8_t> packed = PackMatMulWeights(kK, 1, w);
  Command command = c;
  command.Set(Field::kWeights,
              b.Const(DType::kBytes, {static_cast<int64_t>(packed.size())}, packed));
  command.Set(Field::kRequant, b.Const(DType::kBytes, {12}, std::vector<ChannelRequant>(1)));
  b.image.commands.back() = command;
  EXPECT_NE(LoadError(b).find("the accumulator may reach"), std::string::npos) << LoadError(b);
}

}  // namespace
}  // namespace rshift::testing
