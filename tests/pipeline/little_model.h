// A small ONNX model in memory, x[1, 8] -> MatMul -> Relu -> y[1, 4], and samples of it.
#ifndef RSHIFT_TESTS_PIPELINE_LITTLE_MODEL_H_
#define RSHIFT_TESTS_PIPELINE_LITTLE_MODEL_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "tests/graph/onnx_builder.h"

namespace rshift::test {

inline std::vector<float> LittleWeights() {
  std::vector<float> weights(32);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<float>(i + 1));
  return weights;
}

inline std::vector<uint8_t> LittleModel() {
  rshift::testing::ModelBuilder model;
  model.Input("x", {1, 8}).Floats("w", {8, 4}, LittleWeights());
  model.Node("MatMul", {"x", "w"}, {"product"}).Node("Relu", {"product"}, {"y"}).Output("y");
  const std::string bytes = model.Bytes();
  return {bytes.begin(), bytes.end()};
}

// What the model computes.
inline std::vector<float> LittleOutput(const std::vector<float>& x) {
  const std::vector<float> weights = LittleWeights();
  std::vector<float> y(4);
  for (size_t i = 0; i < weights.size(); ++i) y[i % 4] += x[i / 4] * weights[i];
  for (float& value : y) value = value > 0 ? value : 0;
  return y;
}

// Values of -1 to 1.
inline std::vector<Sample> LittleSamples(int count) {
  std::vector<Sample> samples;
  for (int s = 0; s < count; ++s) {
    Sample sample{"sample " + std::to_string(s), {std::vector<float>(8)}};
    for (size_t i = 0; i < 8; ++i)
      sample.inputs[0][i] = std::cos(static_cast<float>(s) + 2.3f * static_cast<float>(i));
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_PIPELINE_LITTLE_MODEL_H_
