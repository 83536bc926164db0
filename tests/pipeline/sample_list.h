// A data set of samples that a test made.
#ifndef RSHIFT_TESTS_PIPELINE_SAMPLE_LIST_H_
#define RSHIFT_TESTS_PIPELINE_SAMPLE_LIST_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/check_samples.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {

// What the little graph's last Calibrate() saw.
inline SampleList Samples(const LittleGraph& little) {
  std::vector<Sample> samples;
  for (const Tensors& tensors : little.samples()) {
    Sample sample{"sample " + std::to_string(samples.size()), {}};
    for (const ValueId id : little.graph().inputs) {
      const std::vector<double>& data = tensors.at(little.graph().value(id).name).data;
      sample.inputs.emplace_back(data.begin(), data.end());
    }
    samples.push_back(std::move(sample));
  }
  return SampleList(std::move(samples));
}

// Rows of x through four matrix products. The second channel and all after it of "wide" are 300
// times smaller than the first, and "narrow" takes that back: in floats nothing is lost.
inline LittleGraph NetWithOneBadTensor() {
  LittleGraph little(5);
  const ValueId x = little.Input("x", {16, 8});
  const auto matrix = [&](const char* name, int64_t rows, int64_t columns, float row_scale,
                          float column_scale) {
    std::vector<float> values;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const float value = std::sin(1.7f * static_cast<float>(r * columns + c) + 0.4f);
        values.push_back(value * (r > 0 ? row_scale : 1) * (c > 0 ? column_scale : 1));
      }
    }
    return little.Constant(name, {rows, columns}, values);
  };
  const ValueId first = little.Add("first", MatMul{}, {x, matrix("w1", 8, 8, 1, 1)}, {16, 8});
  const ValueId wide =
      little.Add("wide", MatMul{}, {first, matrix("w2", 8, 8, 1, 1 / 300.0f)}, {16, 8});
  const ValueId narrow =
      little.Add("narrow", MatMul{}, {wide, matrix("w3", 8, 8, 300, 1)}, {16, 8});
  const ValueId last = little.Add("last", MatMul{}, {narrow, matrix("w4", 8, 10, 1, 1)}, {16, 10});
  little.Output(last);
  return little;
}

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_PIPELINE_SAMPLE_LIST_H_
