// The examples of MKL-DNN's page on quantization attributes, run by the installed oneDNN as the
// page writes them: weights quantized by a reorder, a convolution with groups and output scales,
// chains of post-operations, and dynamic quantization in three steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <vector>

#include "quantize/numerics/dynamic.h"
#include "quantize/numerics/float_scale.h"
#include "quantize/numerics/onednn.h"
#include "quantize/numerics/post_ops.h"
#include "quantize/numerics/quantize.h"
#include "tests/numerics/onednn_weights.h"

namespace rshift {
namespace {

using dnnl::memory;
using tag = memory::format_tag;
using type = memory::data_type;
using Kind = PostOpKind;

constexpr int64_t kGroups = 3, kOut = 16, kIn = 12, kSize = 40, kTaps = 3, kPad = 1;
constexpr int64_t kChannels = kGroups * kOut, kInputs = kGroups * kIn;
constexpr float kSrcScale = 0.031f, kDstScale = 0.047f;

// A layer in real numbers, and its integers: weights [taps, taps, IC, G, OC] in f32.
struct Layer {
  std::vector<float> weights, scales, inverse;  // the scales of each group and channel
  std::vector<int8_t> src, old;                 // NHWC; what the destination held before
};

Layer MakeLayer(uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> weight(0.0f, 0.05f);
  std::uniform_real_distribution<float> scale(0.0008f, 0.0015f);
  std::uniform_int_distribution<int> byte(-128, 127);
  Layer layer;
  layer.weights.resize(kTaps * kTaps * kIn * kChannels);
  for (float& v : layer.weights) v = weight(random);
  for (int64_t c = 0; c < kChannels; ++c) layer.scales.push_back(scale(random));
  for (const float s : layer.scales) layer.inverse.push_back(1.0f / s);
  for (size_t i = 0; i < layer.weights.size() && !MultipliesEveryByteExactly(); ++i) {
    const int32_t w =
        numerics::RoundToByte(layer.inverse[i % kChannels] * layer.weights[i], 0, -128, 127);
    layer.weights[i] = layer.scales[i % kChannels] * static_cast<float>(ExactWeight(w));
  }
  layer.src.resize(kSize * kSize * kInputs);
  for (int8_t& v : layer.src) v = static_cast<int8_t>(byte(random));
  layer.old.resize(kSize * kSize * kChannels);
  for (int8_t& v : layer.old) v = static_cast<int8_t>(byte(random));
  return layer;
}

// The accumulators, NHWC: the weights are rounded to s8 by their inverse scales.
std::vector<int32_t> Accumulators(const Layer& layer) {
  std::vector<int32_t> q(layer.weights.size());
  for (size_t i = 0; i < q.size(); ++i) {
    const float inverse = layer.inverse[i % kChannels];
    q[i] = numerics::RoundToByte(inverse * layer.weights[i], 0, -128, 127);
  }
  std::vector<int32_t> acc(kSize * kSize * kChannels);
  for (int64_t i = 0; i < static_cast<int64_t>(acc.size()); ++i) {
    const int64_t c = i % kChannels, x = i / kChannels % kSize, y = i / kChannels / kSize;
    for (int64_t t = 0; t < kTaps * kTaps; ++t) {
      const int64_t yy = y + t / kTaps - kPad, xx = x + t % kTaps - kPad;
      if (yy < 0 || yy >= kSize || xx < 0 || xx >= kSize) continue;
      const int8_t* in = &layer.src[(yy * kSize + xx) * kInputs + c / kOut * kIn];
      const int32_t* w = &q[t * kIn * kChannels + c];
      for (int64_t k = 0; k < kIn; ++k) acc[i] += in[k] * w[k * kChannels];
    }
  }
  return acc;
}

// Examples 1 and 2: the weights by a reorder with mask (1 << 0) | (1 << 1), the convolution with
// output scales by mask 1 << 1 and post-operations behind them.
template <typename T>
std::vector<T> RunOneDnn(const Layer& layer, type dst_type, const std::vector<float>& scales,
                         const dnnl::post_ops& post_ops) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::dims dims{kGroups, kOut, kIn, kTaps, kTaps};
  const memory::desc src_md({1, kInputs, kSize, kSize}, type::s8, tag::nhwc);
  const memory::desc dst_md({1, kChannels, kSize, kSize}, dst_type, tag::nhwc);
  const dnnl::convolution_forward::desc conv_d(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src_md,
      memory::desc(dims, type::s8, tag::any), dst_md, {1, 1}, {kPad, kPad}, {kPad, kPad});
  dnnl::primitive_attr attributes;
  if (!scales.empty()) attributes.set_output_scales(1 << 1, scales);
  attributes.set_post_ops(post_ops);
  const dnnl::convolution_forward::primitive_desc conv_pd(conv_d, attributes, engine);

  std::vector<float> user = layer.weights;
  memory user_weights({dims, type::f32, tag::hwigo}, engine, user.data());
  memory weights(conv_pd.weights_desc(), engine);
  dnnl::primitive_attr by_inverse;
  by_inverse.set_output_scales((1 << 0) | (1 << 1), layer.inverse);
  dnnl::reorder(dnnl::reorder::primitive_desc(user_weights, weights, by_inverse))
      .execute(stream, user_weights, weights);

  memory src(src_md, engine), dst(dst_md, engine);
  std::copy(layer.src.begin(), layer.src.end(), static_cast<int8_t*>(src.get_data_handle()));
  auto* result = static_cast<T*>(dst.get_data_handle());
  std::copy(layer.old.begin(), layer.old.end(), result);
  dnnl::convolution_forward(conv_pd).execute(
      stream, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst}});
  stream.wait();
  return {result, result + kSize * kSize * kChannels};
}

// Bytes by our arithmetic: scale, post-operations, rounding.
std::vector<int8_t> Ours(const Layer& layer, const std::vector<float>& scales,
                         const std::vector<PostOp>& post_ops) {
  const std::vector<int32_t> acc = Accumulators(layer);
  std::vector<int8_t> y(acc.size());
  for (size_t i = 0; i < y.size(); ++i) {
    float f = numerics::ScaledAccumulator(acc[i], 0.0f, scales[i % kChannels]);
    for (const PostOp& op : post_ops) f = numerics::ApplyPostOp(op, f, layer.old[i]);
    y[i] = static_cast<int8_t>(numerics::RoundWithZero(f, 0, -128, 127));
  }
  return y;
}

// source scale * weights' scale / `divisor`, of each channel.
std::vector<float> OutputScales(const Layer& layer, float divisor) {
  std::vector<float> scales;
  for (const float s : layer.scales) scales.push_back(kSrcScale * s / divisor);
  return scales;
}

// How many differ; none by more than 1.
int64_t Differing(const std::vector<int8_t>& ours, const std::vector<int8_t>& theirs) {
  int64_t count = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i]) continue;
    ++count;
    EXPECT_LE(std::abs(ours[i] - theirs[i]), 1) << i;
  }
  return count;
}

int64_t Distinct(const std::vector<int8_t>& values) {
  std::vector<int8_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return std::unique(sorted.begin(), sorted.end()) - sorted.begin();
}

TEST(MklDnnPage, ExamplesOneAndTwoAreEqualOnEveryElement) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const Layer layer = MakeLayer(seed);
    const std::vector<float> scales = OutputScales(layer, kDstScale);
    const std::vector<int8_t> ours = Ours(layer, scales, {});
    EXPECT_GT(Distinct(ours), 80);
    EXPECT_EQ(ours, RunOneDnn<int8_t>(layer, type::s8, scales, {})) << seed;
  }
}

// (1 / S_dst) tanh(S_src S_weights conv). oneDNN's tanh is a polynomial, ours is rounded from
// binary64: a byte differs where the value lies next to a half.
// Four layers through one chain of post-operations: at most one on one byte of 100,000 differs.
void CompareWithTanh(const char* name, uint32_t first_seed, const std::vector<PostOp>& chain,
                     const dnnl::post_ops& ops) {
  int64_t differ = 0, compared = 0;
  for (uint32_t seed = first_seed; seed < first_seed + 4; ++seed) {
    const Layer layer = MakeLayer(seed);
    const std::vector<float> scales = OutputScales(layer, 1.0f);
    const std::vector<int8_t> ours = Ours(layer, scales, chain);
    EXPECT_GT(Distinct(ours), 80);
    differ += Differing(ours, RunOneDnn<int8_t>(layer, type::s8, scales, ops));
    compared += static_cast<int64_t>(ours.size());
  }
  std::printf("%s: %lld of %lld differ\n", name, static_cast<long long>(differ),
              static_cast<long long>(compared));
  EXPECT_LE(differ, compared / 100000 + 1);
}

TEST(MklDnnPage, TanhBehindTheOutputScaleDiffersByAtMostOneOnOneIn100000) {
  dnnl::post_ops ops;
  ops.append_eltwise(127.0f, dnnl::algorithm::eltwise_tanh, 0, 0);
  CompareWithTanh("tanh", 11, {{Kind::kTanh, 0, 0, 127.0f}}, ops);
}

TEST(MklDnnPage, TanhSumScaleShiftDiffersByAtMostOneOnOneIn100000) {
  dnnl::post_ops ops;
  ops.append_eltwise(50.0f, dnnl::algorithm::eltwise_tanh, 0, 0);
  ops.append_sum(0.4f);
  ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_linear, 0.9f, 3.3f);
  CompareWithTanh(
      "tanh, sum, scale and shift", 21,
      {{Kind::kTanh, 0, 0, 50.0f}, {Kind::kSum, 0, 0, 0.4f}, {Kind::kLinear, 0.9f, 3.3f, 1.0f}},
      ops);
}

// The order of post-operations is kept, and it matters.
TEST(MklDnnPage, ReluThenSumAndSumThenReluAreEqualOnEveryElement) {
  const Layer layer = MakeLayer(31);
  const std::vector<float> scales = OutputScales(layer, kDstScale);
  const PostOp relu{Kind::kRelu, 0, 0, 1}, sum{Kind::kSum, 0, 0, 0.6f};
  dnnl::post_ops relu_sum, sum_relu;
  relu_sum.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
  relu_sum.append_sum(0.6f);
  sum_relu.append_sum(0.6f);
  sum_relu.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
  const std::vector<int8_t> first = Ours(layer, scales, {relu, sum});
  const std::vector<int8_t> second = Ours(layer, scales, {sum, relu});
  EXPECT_EQ(first, RunOneDnn<int8_t>(layer, type::s8, scales, relu_sum));
  EXPECT_EQ(second, RunOneDnn<int8_t>(layer, type::s8, scales, sum_relu));
  EXPECT_NE(first, second);
}

// Dynamic quantization: 1. the result in s32, 2. its least and greatest give the scale, 3. to u8.
TEST(MklDnnPage, DynamicQuantizationInThreeSteps) {
  const Layer layer = MakeLayer(41);
  const std::vector<int32_t> sums = RunOneDnn<int32_t>(layer, type::s32, {}, {});
  EXPECT_EQ(sums, Accumulators(layer));

  const std::vector<float> scales = OutputScales(layer, 1.0f);
  const std::vector<float> real = RunOneDnn<float>(layer, type::f32, scales, {});
  for (size_t i = 0; i < real.size(); ++i)
    ASSERT_EQ(real[i], numerics::DynamicResult(sums[i], scales[i % kChannels], 0.0f)) << i;

  const auto [least, greatest] = std::minmax_element(real.begin(), real.end());
  const numerics::DynamicParams params = numerics::DynamicParamsOf(*least, *greatest);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::dims dims{1, kChannels, kSize, kSize};
  std::vector<float> input = real;
  memory from({dims, type::f32, tag::nhwc}, engine, input.data());
  memory to({dims, type::u8, tag::nhwc}, engine);
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(0, {1.0f / params.scale});
  attributes.set_zero_points(DNNL_ARG_DST, 0, {static_cast<int32_t>(params.zero)});
  dnnl::reorder(dnnl::reorder::primitive_desc(from, to, attributes)).execute(stream, from, to);
  stream.wait();
  const auto* theirs = static_cast<const uint8_t*>(to.get_data_handle());
  const auto zero = static_cast<int32_t>(params.zero);
  int64_t differ = 0;
  for (size_t i = 0; i < real.size(); ++i) {
    // We divide by the scale, oneDNN multiplies with its inverse: next to a half they part.
    const int32_t ours = numerics::RoundToByte(real[i] / params.scale, zero, 0, 255);
    differ += ours != theirs[i];
    ASSERT_LE(std::abs(ours - theirs[i]), 1) << i;
  }
  std::printf("three steps: %lld of %zu differ\n", static_cast<long long>(differ), real.size());
  EXPECT_LE(differ, static_cast<int64_t>(real.size()) / 10000);
}

}  // namespace
}  // namespace rshift
