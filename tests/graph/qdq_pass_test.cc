// QDQ graphs through the passes: constants keep their integers, Quantize and Dequantize move
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "graph/passes/passes.h"
#include "tests/graph/onnx_builder.h"
#include "tests/graph/origin.h"

namespace rshift {
namespace {

using testing::ModelBuilder;

// DequantizeLinear of s8 constants under `name`, with a scale and a zero point for each index of
// `axis`.
void Weights(ModelBuilder& b, const std::string& name, const Shape& shape, int axis) {
  auto* q = b.graph().add_initializer();
  q->set_name(name + "_q");
  q->set_data_type(onnx::TensorProto::INT8);
  for (int64_t d : shape) q->add_dims(d);
  for (int64_t i = 0; i < NumElements(shape); ++i)
    q->add_int32_data(static_cast<int>(i * 37 % 251) - 125);
  auto* zero = b.graph().add_initializer();
  zero->set_name(name + "_z");
  zero->set_data_type(onnx::TensorProto::INT8);
  zero->add_dims(shape[axis]);
  std::vector<float> scales;
  for (int c = 0; c < shape[axis]; ++c) {
    zero->add_int32_data(c - 2);
    scales.push_back(0.01f * static_cast<float>(c + 1));
  }
  b.Floats(name + "_s", {shape[axis]}, scales);
  b.Node("DequantizeLinear", {name + "_q", name + "_s", name + "_z"}, {name}, {{"axis", axis}});
}

void RoundTrip(ModelBuilder& b, const std::string& x) {
  b.Node("QuantizeLinear", {x, "s"}, {x + "_q"})
      .Node("DequantizeLinear", {x + "_q", "s"}, {x + "_dq"});
}

int CheckOrigins(const Graph& graph) {
  int count = 0;
  for (int i = 0; i < graph.value_count(); ++i) {
    if (graph.value(ValueId(i)).origin == nullptr) continue;
    ExpectOriginMatches(graph.value(ValueId(i)));
    ++count;
  }
  return count;
}

TEST(QdqPasses, WeightsKeepTheirIntegersThroughTheLayout) {
  ModelBuilder b(13);
  b.Input("x", {1, 2, 4, 4}).Floats("s", {}, {0.1f}).Ints("flat", {2}, {1, -1});
  Weights(b, "w", {3, 2, 3, 3}, 0);
  Weights(b, "c", {1, 3, 1, 1}, 1);
  Weights(b, "g", {5, 12}, 0);
  RoundTrip(b, "x");
  b.Node("Conv", {"x_dq", "w"}, {"a"}).Node("Relu", {"a"}, {"r"});
  RoundTrip(b, "r");
  b.Node("Mul", {"r_dq", "c"}, {"m"});
  RoundTrip(b, "m");
  b.Node("Reshape", {"m_dq", "flat"}, {"f"});
  b.Node("Gemm", {"f", "g"}, {"y"}, {{"transB", 1}});
  RoundTrip(b, "y");
  const Graph graph = RunPasses(b.Output("y_dq").Import());
  EXPECT_EQ(CheckOrigins(graph), 3);
  EXPECT_EQ(CountTransposes(graph), 1);  // the input's
  EXPECT_EQ(
      testing::OpsOf(graph),
      "Quantize Dequantize Transpose Conv Quantize Dequantize Mul Quantize Dequantize Reshape "
      "MatMul Quantize Dequantize");
  for (const Node& node : graph.nodes()) {
    if (std::holds_alternative<MatMul>(node.op)) {  // [12, 5], rows in the order of NHWC
      const Value& g = graph.value(node.inputs[1]);
      ASSERT_NE(g.origin, nullptr);
      EXPECT_EQ(g.origin->axis, 1);
      EXPECT_EQ(g.origin->integers->As<int8_t>()[5], -125 + 4 * 37);  // q[0, 4]: the next channel
    }
    if (const auto* conv = std::get_if<Conv>(&node.op)) {
      EXPECT_TRUE(conv->clamp.active());
    }
    if (OpName(node.op) == std::string("Mul")) {
      EXPECT_EQ(graph.value(node.inputs[1]).shape, (Shape{1, 1, 1, 3}));
      EXPECT_EQ(graph.value(node.inputs[1]).origin->axis, 3);
    }
  }
}

TEST(QdqPasses, FoldedFactorsScaleTheIntegersWhereTheirTypeAllows) {
  const auto origins = [](std::vector<float> factors) {
    ModelBuilder b(13);
    b.Input("x", {1, 2, 4, 4}).Floats("k", {1, 3, 1, 1}, std::move(factors));
    Weights(b, "w", {3, 2, 3, 3}, 0);
    b.Node("Conv", {"x", "w"}, {"a"}).Node("Mul", {"a", "k"}, {"y"}).Output("y");
    const Graph graph = RunPasses(b.Import());
    EXPECT_EQ(testing::OpsOf(graph), "Transpose Conv Transpose");
    return CheckOrigins(graph);
  };
  EXPECT_EQ(origins({1, 2, 3}), 1);
  EXPECT_EQ(origins({1, -2, 3}), 1);
  EXPECT_EQ(origins({1, 0, 3}), 0);
}

// NNCF's form: a scale a channel between a convolution and a depthwise one.
TEST(QdqPasses, ScalesOfChannelsGoIntoTheConvolutionsAroundThem) {
  ModelBuilder b(13);
  b.Input("x", {1, 2, 4, 4}).Floats("s", {}, {0.1f}).Floats("t", {3}, {0.1f, 0.2f, 0.3f});
  Weights(b, "w", {3, 2, 3, 3}, 0);
  Weights(b, "d", {3, 1, 2, 2}, 0);
  RoundTrip(b, "x");
  b.Node("Conv", {"x_dq", "w"}, {"a"}).Node("Relu", {"a"}, {"r"});
  b.Node("QuantizeLinear", {"r", "t"}, {"r_q"}).Node("DequantizeLinear", {"r_q", "t"}, {"r_dq"});
  b.Node("Conv", {"r_dq", "d"}, {"y"}, {{"group", 3}});
  const Graph graph = RunPasses(b.Output("y").Import());
  EXPECT_EQ(testing::OpsOf(graph),
            "Quantize Dequantize Transpose Conv Quantize Dequantize Conv Reshape");
  EXPECT_EQ(CheckOrigins(graph), 2);
  EXPECT_EQ(graph.value(graph.FindValue("r_q")).quant->scale, 1.0f);
}

TEST(QdqPasses, AClipBehindADequantizeStaysOnItsOwn) {
  ModelBuilder b(13);
  b.Input("x", {1, 2, 4, 4}).Floats("s", {}, {0.1f});
  Weights(b, "w", {3, 2, 3, 3}, 0);
  b.Node("Conv", {"x", "w"}, {"a"});
  RoundTrip(b, "a");
  b.Node("Relu", {"a_dq"}, {"r"});
  RoundTrip(b, "r");
  const Graph graph = RunPasses(b.Output("r_dq").Import());
  EXPECT_EQ(testing::OpsOf(graph),
            "Transpose Conv Quantize Dequantize Clip Quantize Dequantize Transpose");
}

struct SharedModel {
  const char *qdq, *floating;  // floating: "" when there is none
  int transposes;
};

class QdqSharedModel : public ::testing::TestWithParam<SharedModel> {};

std::string ModelPath(const std::string& name) {
  const char* shared = std::getenv("RSHIFT_SHARED");
  const char* source = std::getenv("RSHIFT_SOURCE_DIR");
  const std::string root = shared ? shared : std::string(source ? source : ".") + "/../shared";
  return root + "/models/" + name;
}

TEST_P(QdqSharedModel, HasNoMoreTransposesThanItsFloatFormAndAllItsIntegers) {
  const std::string path = ModelPath(GetParam().qdq);
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not there; set RSHIFT_SHARED to the shared folder";
  }
  const Graph graph = RunPasses(ImportOnnx(path));
  EXPECT_EQ(CountTransposes(graph), GetParam().transposes);
  if (*GetParam().floating != '\0') {
    EXPECT_LE(CountTransposes(graph),
              CountTransposes(RunPasses(ImportOnnx(ModelPath(GetParam().floating)))));
  }
  int products = 0;
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<Conv>(node.op) && !std::holds_alternative<MatMul>(node.op))
      continue;
    ++products;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const Value& constant = graph.value(node.inputs[i]);
      ASSERT_NE(constant.origin, nullptr) << constant.name;
      EXPECT_EQ(constant.origin->dtype == DType::kS32, i == 2) << constant.name;
    }
  }
  EXPECT_EQ(CheckOrigins(graph), 2 * products);
}

INSTANTIATE_TEST_SUITE_P(
    Models, QdqSharedModel,
    ::testing::Values(SharedModel{"mobilenet_v2/mobilenet_v2_qdq.onnx",
                                  "mobilenet_v2/mobilenet_v2_float.onnx", 1},
                      SharedModel{"mobilenet_v1_025/mobilenet_v1_025_qdq.onnx",
                                  "mobilenet_v1_025/mobilenet_v1_025_float.onnx", 1},
                      SharedModel{"resnet8_cifar10/pretrainedResnet_quant_qdq.onnx",
                                  "resnet8_cifar10/pretrainedResnet_float.onnx", 1},
                      SharedModel{"vww96/vww_96_int8_qdq.onnx", "vww96/vww_96_float_float.onnx", 1},
                      SharedModel{"dscnn_keywords/kws_ref_model_qdq.onnx",
                                  "dscnn_keywords/kws_ref_model_float32_float.onnx", 0},
                      SharedModel{"autoencoder_ad01/ad01_int8_qdq.onnx",
                                  "autoencoder_ad01/ad01_fp32_float.onnx", 0},
                      SharedModel{"deeplabv3_dm05/deeplabv3_dm05_qdq.onnx", "", 1}));

}  // namespace
}  // namespace rshift
