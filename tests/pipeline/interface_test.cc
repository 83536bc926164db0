// Programs that take and give bytes compute what the program of f32 inputs and outputs computes.
#include "quantize/interface.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/passes/passes.h"
#include "pipeline/program_interface.h"
#include "quantize/quantize.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"
#include "tests/base/error_of.h"
#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::ModelBuilder;

std::vector<float> Random(size_t count, std::mt19937& random) {
  std::vector<float> numbers(count);
  for (float& x : numbers) x = static_cast<float>(static_cast<int>(random() % 201) - 100) / 100;
  return numbers;
}

Graph LittleNet(const Shape& x = {1, 3, 5, 5}) {
  std::mt19937 random(3);
  ModelBuilder b(13);
  b.Input("x", x).Floats("w", {4, 3, 3, 3}, Random(108, random));
  std::string in = "x";
  if (x[3] == 3) {
    b.Node("Transpose", {"x"}, {"t"}, {{"perm", {0, 3, 1, 2}}});
    in = "t";
  }
  b.Node("Conv", {in, "w"}, {"c"}, {{"pads", {1, 1, 1, 1}}}).Node("Relu", {"c"}, {"r"});
  b.Node("GlobalMaxPool", {"r"}, {"g"}).Output("r").Output("g");
  return RunPasses(b.Import());
}

Graph Quantized(const Graph& graph, QuantMode mode, ProfileId profile, float low = -3.0f) {
  CalibrationTable table;
  for (ValueId id : CalibratedValues(graph)) {
    const float least = graph.value(id).name == "x" ? low : 0.0f;
    table.tensors.emplace_back(graph.value(id).name,
                               TensorRange{least, 3.0f, 3.0f, least, 3.0f, "max"});
  }
  QuantizeOptions options;
  options.mode = mode;
  options.profile.id = profile;
  return QuantizeGraph(graph, table, options).graph;
}

struct Runner {
  explicit Runner(const Graph& graph)
      : program(Program::FromBytes(WriteContainer(Compile(graph)))),
        session(program, {.threads = 1}) {}
  const TensorRecord& Input() const {
    return program.image().tensors[program.image().inputs[0].tensor];
  }
  const TensorRecord& Output(int i) const {
    return program.image().tensors[program.image().outputs[i].tensor];
  }
  template <typename T>
  void Run(const std::vector<T>& input) {
    ASSERT_EQ(session.Input(0).size(), input.size() * sizeof(T));
    std::memcpy(session.Input(0).data(), input.data(), session.Input(0).size());
    session.Run();
  }
  std::vector<float> Floats(int i) const {
    const auto bytes = session.Output(i);
    const TensorRecord& record = Output(i);
    std::vector<float> values(static_cast<size_t>(NumElements(record.shape)));
    for (size_t k = 0; k < values.size(); ++k) {
      const int q = record.dtype == DType::kS8 ? static_cast<int8_t>(bytes[k])
                                               : static_cast<int>(static_cast<uint8_t>(bytes[k]));
      values[k] = record.scale * static_cast<float>(q - record.zero_point);
    }
    if (record.dtype == DType::kF32) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  Program program;
  Session session;
};

// Runs `graph` on values made of random pixels, and the program that takes the pixels.
void ExpectSameOfPixels(const Graph& graph, const PixelRule& rule, DType input, DType output) {
  InterfaceOptions options{{input, {}}, {output, {}}, {{"x", rule}}};
  Runner floats(graph), bytes(WithInterface(graph, options));
  EXPECT_EQ(bytes.Input().dtype, input);
  EXPECT_EQ(bytes.Input().scale, 1.0f);
  const Shape& shape = floats.Input().shape;
  const auto count = static_cast<size_t>(NumElements(shape));
  std::mt19937 random(5);
  for (int round = 0; round < 4; ++round) {
    std::vector<float> values(count);
    std::vector<uint8_t> pixels(count);
    const int64_t behind = Strides(shape)[static_cast<size_t>(rule.axis)];
    for (size_t i = 0; i < count; ++i) {
      const auto pixel = static_cast<uint8_t>(random());
      const auto c = static_cast<size_t>(static_cast<int64_t>(i) / behind % 3);
      const float mean = rule.mean[rule.mean.size() == 1 ? 0 : c];
      const float scale = rule.scale[rule.scale.size() == 1 ? 0 : c];
      values[i] = (static_cast<float>(pixel) - mean) * scale;
      pixels[i] = static_cast<uint8_t>(input == DType::kS8 ? pixel - 128 : pixel);
    }
    floats.Run(values);
    bytes.Run(pixels);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(bytes.Output(i).dtype, output);
      EXPECT_EQ(floats.Floats(i), bytes.Floats(i)) << "output " << i;
    }
  }
}

class Interface : public ::testing::Test {
 protected:
  void SetUp() override { RegisterFloatLibrary(); }
};

TEST_F(Interface, PixelsGiveTheBytesThatPreprocessedFloatsGive) {
  const PixelRule one{{127.5f}, {1 / 127.5f}, 1};
  const PixelRule three{{123.7f, 116.3f, 103.5f}, {0.0171f, 0.0175f, 0.0174f}, 1};
  for (auto profile : {ProfileId::kTpu, ProfileId::kTfLiteXnnpack, ProfileId::kOnnxRuntime,
                       ProfileId::kOneDnn}) {  // ascend's results are fp16, without bytes
    for (auto mode : {QuantMode::kSymmetric, QuantMode::kAsymmetric}) {
      const Graph graph = Quantized(LittleNet(), mode, profile);
      SCOPED_TRACE(Name(profile));
      ExpectSameOfPixels(graph, one, DType::kU8, DType::kF32);
      ExpectSameOfPixels(graph, three, DType::kU8, DType::kS8);
      ExpectSameOfPixels(graph, three, DType::kS8, DType::kU8);
    }
  }
}

TEST_F(Interface, PixelsOfAnInputInNhwcAreTakenAlongItsLastAxis) {
  const Graph graph = Quantized(LittleNet({1, 5, 5, 3}), QuantMode::kAsymmetric, ProfileId::kTpu);
  ExpectSameOfPixels(graph, {{10, 20, 30}, {0.01f, 0.02f, 0.03f}, 3}, DType::kU8, DType::kS8);
}

TEST_F(Interface, AnF32ProgramComputesTheValuesFromPixels) {
  ExpectSameOfPixels(LittleNet(), {{10, 20, 30}, {0.01f, 0.02f, 0.03f}, 1}, DType::kU8,
                     DType::kF32);
}

TEST_F(Interface, WithoutPixelsTheInputTakesItsOwnIntegers) {
  for (float low : {-3.0f, 0.0f}) {  // s8, and u8 in the symmetric mode
    const Graph graph = Quantized(LittleNet(), QuantMode::kSymmetric, ProfileId::kTpu, low);
    for (DType type : {DType::kS8, DType::kU8}) {
      Runner floats(graph), bytes(WithInterface(graph, {{type, {}}, {}, {}}));
      EXPECT_EQ(bytes.Input().dtype, type);
      std::vector<float> values(75);
      std::vector<uint8_t> integers(75);
      for (int i = 0; i < 75; ++i) {
        const int q = type == DType::kS8 ? i * 3 - 112 : i * 3 + 16;
        integers[i] = static_cast<uint8_t>(q);
        values[i] = bytes.Input().scale * static_cast<float>(q - bytes.Input().zero_point);
      }
      floats.Run(values);
      bytes.Run(integers);
      EXPECT_EQ(floats.Floats(0), bytes.Floats(0));
      EXPECT_EQ(floats.Floats(1), bytes.Floats(1));
    }
  }
}

TEST_F(Interface, EachOutputMayHaveATypeOfItsOwn) {
  const Graph graph = Quantized(LittleNet(), QuantMode::kSymmetric, ProfileId::kTpu);
  const Runner one(WithInterface(graph, {{}, {DType::kF32, {{"g", DType::kU8}}}, {}}));
  EXPECT_EQ(one.Output(0).dtype, DType::kF32);
  EXPECT_EQ(one.Output(1).dtype, DType::kU8);
  const Runner rest(WithInterface(graph, {{}, {DType::kS8, {{"g", DType::kF32}}}, {}}));
  EXPECT_EQ(rest.Output(0).dtype, DType::kS8);
  EXPECT_EQ(rest.Output(1).dtype, DType::kF32);
}

TEST_F(Interface, NamesMustBeThoseOfTheModel) {
  const Graph graph = Quantized(LittleNet(), QuantMode::kSymmetric, ProfileId::kTpu);
  const auto error = [&](const InterfaceOptions& options) {
    return ErrorOf([&] { WithInterface(graph, options); });
  };
  EXPECT_EQ(error({{DType::kF32, {{"y", DType::kU8}}}, {}, {}}),
            "--input-type: 'y' is no input of the model, which has 'x'");
  EXPECT_EQ(error({{}, {DType::kF32, {{"x", DType::kU8}}}, {}}),
            "--output-type: 'x' is no output of the model, which has 'r', 'g'");
}

TEST_F(Interface, TheDataSetKnowsTheTypeOfEachInput) {
  std::map<std::string, std::string> meta;
  AddInterfaceMeta({{DType::kU8, {{"a", DType::kS8}}}, {}, {{"a", {}}, {"b", {}}}}, &meta);
  Preprocess preprocess = ReadPreprocess(
      "inputs:\n  - name: a\n    color: RGB\n    mean: 7\n  - name: b\n    color: RGB\n"
      "    mean: 7\n  - name: c\n    color: RGB\n    mean: 7\n",
      "test");
  KeepPixels(meta, &preprocess);
  EXPECT_EQ(preprocess.inputs[0].mean, std::vector<float>{128});
  EXPECT_EQ(preprocess.inputs[1].mean, std::vector<float>{0});
  EXPECT_EQ(preprocess.inputs[2].mean, std::vector<float>{7});
}

TEST_F(Interface, RefusesWhatHasNoIntegers) {
  const Graph graph = LittleNet();
  EXPECT_THROW(WithInterface(graph, {{DType::kU8, {}}, {}, {}}), Error);
  EXPECT_THROW(WithInterface(graph, {{}, {DType::kS8, {}}, {}}), Error);
  const PixelRule two{{1.0f, 2.0f}, {1.0f}, 1};
  EXPECT_THROW(WithInterface(graph, {{DType::kU8, {}}, {}, {{"x", two}}}), Error);
}

TEST_F(Interface, TheDataSetOfSuchAProgramDeliversPixels) {
  Preprocess preprocess = ReadPreprocess(
      "inputs:\n  - name: x\n    color: RGB\n    mean: [1, 2, 3]\n"
      "    scale: [0.1, 0.2, 0.3]\n",
      "test");
  InterfaceOptions options = ReadInterface({DType::kS8, {}}, {}, preprocess.text, LittleNet());
  ASSERT_TRUE(options.pixels.contains("x"));
  EXPECT_EQ(options.pixels["x"].mean, (std::vector<float>{1, 2, 3}));
  std::map<std::string, std::string> meta;
  KeepPixels(meta, &preprocess);
  EXPECT_EQ(preprocess.inputs[0].mean.size(), 3u);  // an f32 program
  AddInterfaceMeta(options, &meta);
  KeepPixels(meta, &preprocess);
  EXPECT_EQ(preprocess.inputs[0].mean, std::vector<float>{128});
  EXPECT_EQ(preprocess.inputs[0].scale, std::vector<float>{1});
}

}  // namespace
}  // namespace rshift
