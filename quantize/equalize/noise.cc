#include "quantize/equalize/noise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/round_to_even.h"
#include "isa/unary_functions.h"

namespace rshift {
namespace {

constexpr double kLevels = 127;

class Outputs {
 public:
  Outputs(const Graph& graph, const ProductWeights& product)
      : product_(product), weights_(graph.value(product.weights).constant->As<float>()) {}

  template <typename Function>  // f(input channel, weight)
  void ForEach(int64_t o, const Function& f) const {
    const auto first = static_cast<size_t>(product_.Input(o, 0));
    product_.ForEachInput(weights_, o, [&](int64_t i, std::span<const float> taps) {
      for (const double w : taps) f(first + static_cast<size_t>(i), w);
    });
  }

 private:
  const ProductWeights& product_;
  std::span<const float> weights_;
};

// 2^e of each channel, 2^-e, and the largest of its input beside it.
struct ScaledRange {
  ScaledRange(const ChannelRanges& input, std::span<const int32_t> exponents) {
    for (size_t c = 0; c < exponents.size(); ++c) {
      factors.push_back(std::ldexp(1.0, exponents[c]));
      inverse.push_back(std::ldexp(1.0, -exponents[c]));
      range = std::max(range, static_cast<double>(input.peak[c]) / factors[c]);
    }
  }
  std::vector<double> factors, inverse;
  double range = 0;
};

// Noise beside signal of output channel o, at most 1. `input_noise`: mean square of each input
// channel's rounding error.
double NoiseOfOutput(const Outputs& outputs, int64_t o, const ChannelRanges& input,
                     const ScaledRange& scaled, const std::vector<double>& input_noise) {
  double largest = 0;
  outputs.ForEach(o, [&](size_t c, double w) {
    largest = std::max(largest, std::fabs(w) * scaled.factors[c]);
  });
  if (largest == 0) return 0;
  const double step = largest / kLevels, steps = kLevels / largest;
  double signal = 0, noise = 0;
  outputs.ForEach(o, [&](size_t c, double w) {
    const double square = w * w, scaled_w = w * scaled.factors[c];
    const double error = (scaled_w - RoundToEven(scaled_w * steps) * step) * scaled.inverse[c];
    signal += square * input.square[c];
    noise += square * input_noise[c] + error * error * input.square[c];
  });
  return signal > 0 ? std::min(noise / signal, 1.0) : 0;
}

// Mean square of f's error over x normally distributed with deviation `sigma`, as 17 points.
double MeanSquareError(const Unary& function, double sigma, double step) {
  constexpr int kPoints = 8;             // on either side
  constexpr double kDistance = 3.0 / 8;  // between two, in deviations
  const auto f = kUnaryFunctions<PortableMath<double>>[static_cast<size_t>(function.op)];
  double sum = 0, weights = 0;
  for (int i = -kPoints; i <= kPoints; ++i) {
    const double z = kDistance * i, weight = portable::Exp(-z * z / 2);
    const double above = f(sigma * z + step / 2, function.alpha, function.beta);
    const double below = f(sigma * z - step / 2, function.alpha, function.beta);
    sum += weight * (above - below) * (above - below);
    weights += weight;
  }
  return sum / weights / 12;
}

}  // namespace

double FunctionNoise(const Unary& function, const ChannelRanges& input, const ChannelRanges& output,
                     std::span<const int32_t> exponents, std::span<const double> relevance) {
  const ScaledRange scaled(input, exponents);
  double noise = 0;
  for (size_t c = 0; c < exponents.size(); ++c) {
    const double signal = output.square[c];
    if (signal <= 0) continue;
    const double step = scaled.range / kLevels * scaled.factors[c];
    noise += relevance[c] *
             std::min(MeanSquareError(function, std::sqrt(input.square[c]), step) / signal, 1.0);
  }
  return noise;
}

double ProductNoise(const Graph& graph, const ProductWeights& product, const ChannelRanges& input,
                    std::span<const int32_t> exponents, std::span<const double> relevance) {
  const Outputs outputs(graph, product);
  const ScaledRange scaled(input, exponents);
  std::vector<double> input_noise;
  for (const double factor : scaled.factors) {
    const double step = scaled.range / kLevels * factor;
    input_noise.push_back(step * step / 12);
  }
  double noise = 0;
  for (int64_t o = 0; o < product.outputs; ++o) {
    noise +=
        relevance[static_cast<size_t>(o)] * NoiseOfOutput(outputs, o, input, scaled, input_noise);
  }
  return noise;
}

std::vector<double> WeightShares(const Graph& graph, const ProductWeights& product,
                                 const ChannelRanges& input) {
  const Outputs outputs(graph, product);
  std::vector<double> shares(static_cast<size_t>(product.inputs), 0);
  for (int64_t o = 0; o < product.outputs; ++o) {
    double largest = 0;
    outputs.ForEach(o, [&](size_t c, double w) {
      if (input.peak[c] > 0) largest = std::max(largest, std::fabs(w));
    });
    if (largest == 0) continue;
    outputs.ForEach(o, [&](size_t c, double w) {
      if (input.peak[c] > 0) shares[c] = std::max(shares[c], std::fabs(w) / largest);
    });
  }
  return shares;
}

std::vector<double> DeadWeightExcess(const Graph& graph, const ProductWeights& product,
                                     const ChannelRanges& input,
                                     std::span<const int32_t> exponents) {
  std::vector<double> excess(static_cast<size_t>(product.inputs), 0);
  if (std::ranges::all_of(input.peak, [](float peak) { return peak > 0; })) return excess;
  const Outputs outputs(graph, product);
  const ScaledRange scaled(input, exponents);
  for (int64_t o = 0; o < product.outputs; ++o) {
    double largest = 0;
    outputs.ForEach(o, [&](size_t c, double w) {
      if (input.peak[c] > 0) largest = std::max(largest, std::fabs(w) * scaled.factors[c]);
    });
    if (largest == 0) continue;
    outputs.ForEach(o, [&](size_t c, double w) {
      if (input.peak[c] > 0) return;
      excess[c] = std::max(excess[c], std::fabs(w) * scaled.factors[c] / largest);
    });
  }
  return excess;
}

}  // namespace rshift
