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

inline std::vector<uint8_t> LittleModel() {
  std::vector<float> weights(32);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<float>(i + 1));
  rshift::testing::ModelBuilder model;
  model.Input("x", {1, 8}).Floats("w", {8, 4}, weights);
  model.Node("MatMul", {"x", "w"}, {"product"}).Node("Relu", {"product"}, {"y"}).Output("y");
  const std::string bytes = model.Bytes();
  return {bytes.begin(), bytes.end()};
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
