// A network of two matrix products, x -> MatMul a -> Relu r -> MatMul b -> y, without biases, its
// calibration table, and the graph of any model built in memory.
#ifndef RSHIFT_TESTS_PIPELINE_TWO_PRODUCTS_H_
#define RSHIFT_TESTS_PIPELINE_TWO_PRODUCTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/passes/passes.h"
#include "pipeline/deploy.h"
#include "runtime/onednn/float_library.h"
#include "tests/graph/onnx_builder.h"

namespace rshift::test {

inline Graph GraphOf(const rshift::testing::ModelBuilder& model) {
  RegisterFloatLibrary();
  const std::string bytes = model.Bytes();
  return RunPasses(ImportModel({"net.onnx", std::vector<uint8_t>(bytes.begin(), bytes.end())}, {}));
}

// Of x[1, rows, columns]; a and b are [columns, columns].
inline Graph TwoProducts(int rows, int columns, const std::vector<float>& a,
                         const std::vector<float>& b) {
  rshift::testing::ModelBuilder model;
  model.Input("x", {1, rows, columns}).Floats("a", {columns, columns}, a);
  model.Floats("b", {columns, columns}, b);
  model.Node("MatMul", {"x", "a"}, {"p"}).Node("Relu", {"p"}, {"r"});
  model.Node("MatMul", {"r", "b"}, {"y"}).Output("y");
  return GraphOf(model);
}

// The thresholds of its tensors.
inline CalibrationTable TwoProductsTable(float x, float r, float y) {
  CalibrationTable table;
  table.method = "by hand";
  table.tensors = {{"x", {-x, x, x, -x, x, "max"}},
                   {"r", {0, r, r, 0, r, "max"}},
                   {"y", {-y, y, y, -y, y, "max"}}};
  return table;
}

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_PIPELINE_TWO_PRODUCTS_H_
