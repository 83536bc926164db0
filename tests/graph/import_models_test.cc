// The real models of ../shared: what they import to, and what is said about those that cannot be
// imported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/base/error_of.h"
#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

std::string ModelPath(const std::string& name) {
  const char* shared = std::getenv("RSHIFT_SHARED");
  const char* source = std::getenv("RSHIFT_SOURCE_DIR");
  const std::string root = shared ? shared : std::string(source ? source : ".") + "/../shared";
  return root + "/models/" + name;
}

#define SKIP_WITHOUT(name)                                                                      \
  if (!std::filesystem::exists(ModelPath(name))) {                                              \
    GTEST_SKIP() << ModelPath(name) << " is not there; set RSHIFT_SHARED to the shared folder"; \
  }

// "Add 16 Clip 17": how often each operator stands in the graph.
std::string Census(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes()) ++counts[OpName(node.op)];
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : " ") + Cat(name, " ", count);
  return text;
}

struct Expected {
  const char *file, *census, *output;  // shape of the first output
};

class ImportSharedModel : public ::testing::TestWithParam<Expected> {};

TEST_P(ImportSharedModel, HasOnlyTheNodesThatCompute) {
  SKIP_WITHOUT(GetParam().file);
  ImportOptions options;
  if (std::string(GetParam().file).starts_with("superres"))
    options.input_shapes["input"] = {1, 1, 224, 224};
  const Graph graph = ImportOnnx(ModelPath(GetParam().file), options);
  EXPECT_EQ(Census(graph), GetParam().census);
  EXPECT_EQ(ToString(testing::OutputOf(graph).shape), GetParam().output);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs[0]).dtype, DType::kF32);
  EXPECT_EQ(graph.sha256.size(), 64u);
}

INSTANTIATE_TEST_SUITE_P(
    Models, ImportSharedModel,
    ::testing::Values(
        Expected{"squeezenet_1_1/squeezenet_1_1.onnx",
                 "AveragePool 1 Clip 26 Concat 8 Conv 26 Identity 1 MaxPool 3 Softmax 1",
                 "1x1000x1x1"},
        Expected{"squeezenet_1_1/squeezenet_1_1_fp16.onnx",
                 "AveragePool 1 Clip 26 Concat 8 Conv 26 Identity 1 MaxPool 3 Softmax 1",
                 "1x1000x1x1"},
        Expected{"mobilenet_v1_025/mobilenet_v1_025_float.onnx",
                 "AveragePool 1 Clip 27 Conv 28 Identity 1 Reshape 1 Softmax 1", "1x1001"},
        Expected{"mobilenet_v2/mobilenet_v2_float.onnx",
                 "Add 10 AveragePool 1 Clip 35 Conv 53 Identity 1 Reshape 1 Softmax 1", "1x1001"},
        Expected{"resnet8_cifar10/pretrainedResnet_float.onnx",
                 "Add 3 AveragePool 1 Clip 7 Conv 9 Identity 1 MatMul 1 Reshape 1 Softmax 1",
                 "1x10"},
        Expected{"vww96/vww_96_float_float.onnx",
                 "AveragePool 1 Clip 27 Conv 27 Identity 1 MatMul 1 Reshape 1 Softmax 1", "1x2"},
        Expected{"ultraface_rfb320/version-RFB-320.onnx",
                 "Add 3 BatchNorm 35 Clip 37 Concat 5 Conv 52 Div 2 Exp 1 Mul 4 Reshape 8 "
                 "Slice 6 Softmax 1 Sub 1 Transpose 8",
                 "1x4420x2"},
        Expected{"ultraface_rfb320/version-RFB-320_simplified.onnx",
                 "Add 1 Clip 37 Concat 3 Conv 52 Reshape 8 Softmax 1 Transpose 8", "1x4420x2"},
        Expected{"ultraface_rfb320/version-RFB-320_without_postprocessing.onnx",
                 "Add 1 BatchNorm 35 Clip 37 Concat 3 Conv 52 Reshape 8 Softmax 1 Transpose 8",
                 "1x4420x2"},
        Expected{"blazeface/blazeface.onnx",
                 "Add 16 Clip 17 Concat 2 Conv 37 MaxPool 3 Pad 15 Reshape 4 Transpose 4",
                 "1x896x16"},
        Expected{"mnist_cntk/mnist.onnx", "Add 3 Clip 2 Conv 2 MatMul 1 MaxPool 2 Reshape 1",
                 "1x10"},
        Expected{"mnist_conv/model.onnx", "Add 3 Clip 2 Conv 2 MatMul 1 MaxPool 2 Reshape 1",
                 "1x10"},
        Expected{"superres_x3/pytorch_super_resolution.onnx", "Clip 3 Conv 4 DepthToSpace 1",
                 "1x1x672x672"},
        Expected{"fashion/resnet_prelu.onnx",
                 "Add 4 AveragePool 1 BatchNorm 11 Conv 11 MatMul 1 PRelu 9 Reshape 1", "1x10"},
        Expected{"fashion/mobilenet_leaky.onnx",
                 "Add 2 AveragePool 2 BatchNorm 15 Clip 9 Concat 1 Conv 15 LeakyRelu 6 "
                 "MatMul 1 MaxPool 1 Pad 2 Reshape 1",
                 "1x10"},
        Expected{"fashion/mobilenet_hostile.onnx",
                 "Add 2 AveragePool 1 Clip 11 Conv 16 MatMul 1 Reshape 1", "1x10"},
        Expected{"fashion/vit_tiny.onnx",
                 "Add 47 Concat 1 Conv 1 Div 13 Erf 4 Gather 13 MatMul 25 Mul 21 Pow 9 "
                 "ReduceMean 18 Reshape 9 Softmax 4 Sqrt 9 Sub 9 Transpose 13",
                 "1x10"},
        Expected{"fashion/vit_tiny_op17.onnx",
                 "Add 29 Concat 1 Conv 1 Div 4 Erf 4 Gather 13 LayerNorm 9 MatMul 25 Mul 12 "
                 "Reshape 9 Softmax 4 Transpose 13",
                 "1x10"},
        Expected{"light_graphs/light_resnet50.onnx",
                 "Add 16 AveragePool 1 BatchNorm 53 Clip 49 Conv 53 MatMul 1 MaxPool 1 "
                 "Reshape 1 Softmax 1",
                 "1x1000"},
        Expected{"light_graphs/light_vgg19.onnx",
                 "Clip 18 Conv 16 Identity 2 MatMul 3 MaxPool 5 Reshape 1 Softmax 1", "1x1000"},
        Expected{"light_graphs/light_densenet121.onnx",
                 "Add 121 AveragePool 4 BatchNorm 121 Clip 121 Concat 58 Conv 121 MaxPool 1 "
                 "Mul 121",
                 "1x1000x1x1"},
        Expected{"light_graphs/light_inception_v1.onnx",
                 "AveragePool 1 Clip 57 Concat 9 Conv 57 Identity 1 Lrn 2 MatMul 1 MaxPool "
                 "13 Reshape 1 Softmax 1",
                 "1x1000"},
        Expected{"light_graphs/light_inception_v2.onnx",
                 "Add 69 AveragePool 8 BatchNorm 69 Clip 69 Concat 10 Conv 69 MatMul 1 "
                 "MaxPool 5 Mul 69 Reshape 1 Softmax 1",
                 "1x1000"},
        Expected{"light_graphs/light_shufflenet.onnx",
                 "Add 13 AveragePool 4 BatchNorm 49 Clip 33 Concat 3 Conv 49 MatMul 1 "
                 "MaxPool 1 Reshape 33 Softmax 1 Transpose 16",
                 "1x1000"},
        Expected{"light_graphs/light_squeezenet.onnx",
                 "AveragePool 1 Clip 26 Concat 8 Conv 26 Identity 1 MaxPool 3 Softmax 1",
                 "1x1000x1x1"},
        Expected{"fastestdet_coco/FastestDet.onnx",
                 "Add 2 AveragePool 1 Clip 48 Concat 20 Conv 70 Div 1 Gather 26 MaxPool 1 "
                 "Mul 1 Reshape 27 Resize 1 Sigmoid 2 Slice 2 Softmax 1 Tanh 1 Transpose 14",
                 "1x484x85"},
        Expected{"deeplabv3_dm05/deeplabv3_dm05_float.onnx",
                 "Add 10 ArgMax 1 AveragePool 1 Clip 37 Concat 1 Conv 55 Identity 2 Resize 3",
                 "1x513x513"},
        Expected{"dscnn_keywords/kws_ref_model_float32_float.onnx",
                 "AveragePool 1 Clip 9 Conv 9 Identity 1 MatMul 1 Reshape 1 Softmax 1", "1x12"},
        Expected{"autoencoder_ad01/ad01_fp32_float.onnx", "Clip 9 Identity 1 MatMul 10", "1x640"}));

// Same operators on the same shapes with the same constants; only names may differ.
void ExpectSameProgram(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (size_t n = 0; n < a.nodes().size(); ++n) {
    const Node &x = a.nodes()[n], &y = b.nodes()[n];
    ASSERT_STREQ(OpName(x.op), OpName(y.op)) << n;
    ASSERT_EQ(x.inputs.size(), y.inputs.size()) << x.name;
    EXPECT_EQ(a.value(x.outputs[0]).shape, b.value(y.outputs[0]).shape) << x.name;
    for (size_t i = 0; i < x.inputs.size(); ++i) {
      const Value &u = a.value(x.inputs[i]), &v = b.value(y.inputs[i]);
      EXPECT_EQ(u.shape, v.shape) << x.name;
      ASSERT_EQ(u.is_constant(), v.is_constant()) << x.name;
      if (u.is_constant()) {
        EXPECT_TRUE(u.constant->bytes == v.constant->bytes) << x.name << " input " << i;
      }
    }
  }
}

TEST(ImportSharedModels, RawAndCleanFashionNetsAreTheSameProgram) {
  for (const char* name : {"resnet_prelu", "mobilenet_leaky", "vit_tiny", "vit_tiny_op17",
                           "mobilenet_hostile", "mobilenet_hostile_before_rescale"}) {
    SCOPED_TRACE(name);
    SKIP_WITHOUT(std::string("fashion/") + name + ".onnx");
    ExpectSameProgram(ImportOnnx(ModelPath(std::string("fashion/") + name + ".onnx")),
                      ImportOnnx(ModelPath(std::string("fashion/clean/") + name + ".onnx")));
  }
}

TEST(ImportSharedModels, UnsupportedNodesAreNamed) {
  const auto error = [](const char* file) {
    return ErrorLinesOf([&] { ImportOnnx(ModelPath(file)); });
  };
  SKIP_WITHOUT("qlstm/model.onnx");
  EXPECT_THAT(error("qonnx/TFC_2W2A.onnx"), HasSubstr("'Quant_13' (onnx.brevitas:Quant)"));
  const std::string superres =
      error("superres_x3/pytorch_superresolution_with_pre_post_processing_op18.onnx");
  EXPECT_THAT(superres, HasSubstr("(com.microsoft.extensions:DecodeImage)"));
  EXPECT_THAT(superres, HasSubstr("(com.microsoft.extensions:EncodeImage)"));
  EXPECT_EQ(error("superres_x3/pytorch_super_resolution.onnx"), "no error");  // a batch of 1
}

}  // namespace
}  // namespace rshift
