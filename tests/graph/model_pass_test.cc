// The passes on real models: how many transposes are left, what is left of decompositions, and that
// raw and simplified exports give the same graph. Skipped where the models are not at hand
// (RSHIFT_SHARED).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "graph/dump.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "tests/graph/net.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

fs::path ModelFolder() {
  if (const char* shared = std::getenv("RSHIFT_SHARED")) return fs::path(shared) / "models";
  const char* source = std::getenv("RSHIFT_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / ".." / "shared" / "models";
}

#define SKIP_WITHOUT_MODELS()     \
  if (!fs::exists(ModelFolder())) \
  GTEST_SKIP() << "no models in " << ModelFolder() << ": set RSHIFT_SHARED"

Graph Imported(const std::string& file, const ImportOptions& options = {}) {
  return ImportOnnx((ModelFolder() / file).string(), options);
}

struct Expected {
  const char* file;
  int transposes;  // 1 is the input's, none when it has one channel; a channel shuffle moves data
                   // as well
};

class Model : public ::testing::TestWithParam<Expected> {};

TEST_P(Model, KeepsTheTransposesItNeeds) {
  SKIP_WITHOUT_MODELS();
  ImportOptions options;
  if (std::string(GetParam().file).find("superres") == 0) {
    options.input_shapes["input"] = {1, 1, 224, 224};
  }
  const Graph before = Imported(GetParam().file, options);
  const Graph after = RunPasses(before);
  std::cout << GetParam().file << ": " << before.nodes().size() << " nodes -> "
            << after.nodes().size() << ", transposes " << CountTransposes(before) << " -> "
            << CountTransposes(after) << "\n";
  EXPECT_EQ(CountTransposes(after), GetParam().transposes) << DumpGraph(after);
  EXPECT_EQ(Count(after, "BatchNormalization") + Count(after, "BatchNorm"), 0);
  EXPECT_EQ(Count(after, "Identity"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Shared, Model,
    ::testing::Values(Expected{"squeezenet_1_1/squeezenet_1_1.onnx", 1},
                      Expected{"squeezenet_1_1/squeezenet_1_1_fp16.onnx", 1},
                      Expected{"mobilenet_v1_025/mobilenet_v1_025_float.onnx", 1},
                      Expected{"mobilenet_v2/mobilenet_v2_float.onnx", 1},
                      Expected{"resnet8_cifar10/pretrainedResnet_float.onnx", 1},
                      Expected{"vww96/vww_96_float_float.onnx", 1},
                      Expected{"deeplabv3_dm05/deeplabv3_dm05_float.onnx", 1},
                      Expected{"dscnn_keywords/kws_ref_model_float32_float.onnx", 0},
                      Expected{"autoencoder_ad01/ad01_fp32_float.onnx", 0},
                      Expected{"ultraface_rfb320/version-RFB-320.onnx", 1},
                      Expected{"ultraface_rfb320/version-RFB-320_simplified.onnx", 1},
                      Expected{"blazeface/blazeface.onnx", 1}, Expected{"mnist_cntk/mnist.onnx", 0},
                      Expected{"mnist_conv/model.onnx", 0},
                      Expected{"superres_x3/pytorch_super_resolution.onnx", 0},
                      Expected{"fastestdet_coco/FastestDet.onnx", 1},
                      Expected{"light_graphs/light_resnet50.onnx", 1},
                      Expected{"light_graphs/light_vgg19.onnx", 1},
                      Expected{"light_graphs/light_densenet121.onnx", 1},
                      Expected{"light_graphs/light_inception_v1.onnx", 1},
                      Expected{"light_graphs/light_inception_v2.onnx", 1},
                      Expected{"light_graphs/light_squeezenet.onnx", 1},
                      Expected{"light_graphs/light_shufflenet.onnx", 17},
                      Expected{"fashion/resnet_prelu.onnx", 0},
                      Expected{"fashion/mobilenet_leaky.onnx", 0},
                      Expected{"fashion/mobilenet_hostile.onnx", 0},
                      Expected{"fashion/mobilenet_hostile_before_rescale.onnx", 0},
                      Expected{"fashion/vit_tiny.onnx", 12},
                      Expected{"fashion/vit_tiny_op17.onnx", 12}),
    [](const auto& model) {
      std::string name = fs::path(model.param.file).stem().string();
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name + "_" + std::to_string(model.index);
    });

TEST(Models, RawAndSimplifiedExportsGiveTheSameGraph) {
  SKIP_WITHOUT_MODELS();
  for (const std::string name : {"resnet_prelu", "mobilenet_leaky", "mobilenet_hostile",
                                 "mobilenet_hostile_before_rescale", "vit_tiny", "vit_tiny_op17"}) {
    const std::string raw = DumpGraph(RunPasses(Imported(Cat("fashion/", name, ".onnx"))));
    const std::string clean = DumpGraph(RunPasses(Imported(Cat("fashion/clean/", name, ".onnx"))));
    EXPECT_EQ(raw, clean) << name;
  }
}

// Naive loops: only the small models.
TEST(Models, SmallModelsComputeTheSame) {
  SKIP_WITHOUT_MODELS();
  for (const char* file : {"fashion/mobilenet_hostile.onnx", "mnist_cntk/mnist.onnx",
                           "autoencoder_ad01/ad01_fp32_float.onnx"}) {
    SCOPED_TRACE(file);
    const Graph before = Imported(file);
    ExpectSameResults(before, RunPasses(before), /*observed=*/true);
  }
}

TEST(Models, VitTinyIsMadeOfWholeFunctions) {
  SKIP_WITHOUT_MODELS();
  const Graph graph = RunPasses(Imported("fashion/vit_tiny.onnx"));
  EXPECT_EQ(Count(graph, "LayerNorm"), 9);  // two in each of 4 blocks, and the last
  EXPECT_EQ(Count(graph, "Gelu"), 4);
  EXPECT_EQ(Count(graph, "Erf") + Count(graph, "Sqrt") + Count(graph, "Pow"), 0);
}

TEST(Models, OldStyleAffineChainsVanishIntoTheConvolutions) {
  SKIP_WITHOUT_MODELS();
  const Graph inception = RunPasses(Imported("light_graphs/light_inception_v2.onnx"));
  EXPECT_EQ(Count(inception, "Mul") + Count(inception, "Add"), 0);
  const Graph mnist = RunPasses(Imported("mnist_cntk/mnist.onnx"));
  EXPECT_EQ(Count(mnist, "Add"), 0);
}

}  // namespace
}  // namespace rshift
