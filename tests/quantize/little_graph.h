// Builds little NHWC graphs, calibrates them by running them, and compares the integer graph with
// the float one.
#ifndef RSHIFT_TESTS_QUANTIZE_LITTLE_GRAPH_H_
#define RSHIFT_TESTS_QUANTIZE_LITTLE_GRAPH_H_

#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/quantize.h"
#include "tests/quantize/interpreter.h"

namespace rshift::test {

class LittleGraph {
 public:
  explicit LittleGraph(uint32_t seed = 1) : random_(seed) {}

  ValueId Input(const std::string& name, Shape shape, float low = -1, float high = 1);
  ValueId Add(const std::string& name, Op op, std::vector<ValueId> inputs, Shape shape);
  // Results of other types.
  ValueId AddBool(const std::string& name, Op op, std::vector<ValueId> inputs, Shape shape);
  ValueId AddIndex(const std::string& name, Op op, std::vector<ValueId> inputs, Shape shape);
  ValueId Constant(const std::string& name, Shape shape, std::vector<float> values);
  ValueId RandomConstant(const std::string& name, Shape shape, float low, float high);
  void Output(ValueId id);

  const Graph& graph() const { return graph_; }
  // Ranges from `runs` random inputs: threshold = max|x|, low = min, high = max.
  CalibrationTable Calibrate(int runs = 8);
  // What the last Calibrate() saw.
  const std::vector<Tensors>& samples() const { return samples_; }

 private:
  ValueId AddTyped(const std::string& name, Op op, std::vector<ValueId> inputs, Shape shape,
                   DType type);
  Tensors RandomInputs();
  struct InputRange {
    std::string name;
    Shape shape;
    float low, high;
  };
  Graph graph_;
  std::mt19937 random_;
  std::vector<InputRange> inputs_;
  std::vector<Tensors> samples_;
};

// A convolution's output shape, stride and pads as in the window.
Shape ConvShape(const Shape& x, const Window& window, int64_t channels);

QuantizeOptions Mode(QuantMode mode);
inline const QuantMode kModes[] = {QuantMode::kSymmetric, QuantMode::kAsymmetric};

// Largest |integer - float| of the output, in units of the output's scale, over the samples of the
// calibration (others could leave the ranges). The output's integers have the value's ONNX name.
double WorstError(const LittleGraph& little, const QuantizeResult& result,
                  const std::string& output);

// As WorstError, against the float graph on what the integers of the inputs stand for: what the
// operator itself adds. NaN of the float graph must be the zero point.
double OwnError(const LittleGraph& little, const QuantizeResult& result, const std::string& output);

// The one node of that type; fails the test when there is none.
template <typename T>
const T& Only(const Graph& graph) {
  const T* found = nullptr;
  for (const Node& node : graph.nodes()) {
    if (const T* op = std::get_if<T>(&node.op)) found = op;
  }
  if (found == nullptr) throw std::runtime_error("the graph has no such node");
  return *found;
}
template <typename T>
int Count(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += std::holds_alternative<T>(node.op) ? 1 : 0;
  return count;
}

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_QUANTIZE_LITTLE_GRAPH_H_
