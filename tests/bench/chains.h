// Long thin models of one kind each: what takes longer than in proportion to their length shows.
#ifndef RSHIFT_TESTS_BENCH_CHAINS_H_
#define RSHIFT_TESTS_BENCH_CHAINS_H_

#include <string>
#include <vector>

#include "tests/graph/onnx_builder.h"

namespace rshift::testing {

enum class ChainKind { kResidual, kConvBatchNormRelu, kConcat, kTransposeReshape, kAffine };
inline constexpr const char* kChainNames[] = {"residual", "conv_bn_relu", "concat",
                                              "transpose_reshape", "affine"};

// About `nodes` nodes, [1, 4, 4, 4] -> the same.
inline std::string ChainModel(ChainKind kind, int nodes) {
  ModelBuilder b(13);
  b.Input("x", {1, 4, 4, 4}).Floats("w", {4, 4, 1, 1}).Floats("w2", {4, 8, 1, 1});
  b.Floats("c", {4}).Floats("c11", {4, 1, 1}).Ints("rows", {3}, {1, 16, 4});
  b.Ints("image", {4}, {1, 4, 4, 4}).Node("Conv", {"x", "w"}, {"v0"});
  int made = 1;
  const auto add = [&](const char* op, std::vector<std::string> inputs,
                       const std::vector<Attribute>& attributes = {}) {
    b.Node(op, inputs, {"v" + std::to_string(made)}, attributes);
    return "v" + std::to_string(made++);
  };
  std::string x = "v0";
  while (made < nodes) {
    switch (kind) {
      case ChainKind::kResidual:
        x = add("Add", {x, add("Relu", {x})});
        break;
      case ChainKind::kConvBatchNormRelu:
        x = add("BatchNormalization", {add("Conv", {x, "w"}), "c", "c", "c", "c"});
        x = add("Relu", {x});
        break;
      case ChainKind::kConcat:
        x = add("Conv", {add("Concat", {x, x}, {{"axis", 1}}), "w2"});
        break;
      case ChainKind::kTransposeReshape:
        x = add("Reshape", {add("Transpose", {x}, {{"perm", {0, 2, 3, 1}}}), "rows"});
        x = add("Transpose", {add("Softmax", {x}, {{"axis", 1}})}, {{"perm", {0, 2, 1}}});
        x = add("Reshape", {x, "image"});
        break;
      case ChainKind::kAffine:
        x = add("Sigmoid", {add("Add", {add("Mul", {x, "c11"}), "c11"})});
        break;
    }
  }
  return b.Output(x).Bytes();
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_BENCH_CHAINS_H_
