// .tflite files: what they become, and that no file may crash the importer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "graph/import.h"
#include "tests/base/error_of.h"
#include "tests/graph/tflite_builder.h"

namespace rshift {
namespace {

using namespace tflite;  // NOLINT(google-build-using-namespace): names of the schema
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TfliteBuilder;

constexpr TensorType kS8 = TensorType_INT8;

std::vector<uint8_t> Filled(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 37);
  return bytes;
}

// conv, add, pool, mean, reshape, fully connected, softmax on integers; two outputs.
std::string ManyOperators() {
  TfliteBuilder b;
  const int x = b.Tensor("x", {1, 6, 6, 4}, kS8, 0.5f, 3);
  const int w = b.Tensor("w", {4, 3, 3, 4}, kS8, 0.01f, 0, Filled(144));
  const int bias = b.Ints("b", {4}, {10, -20, 30, 0});
  const int conv = b.Tensor("conv", {1, 6, 6, 4}, kS8, 0.25f, -5);
  b.Operator(BuiltinOperator_CONV_2D, {x, w, bias}, {conv},
             CreateConv2DOptions(b.fb(), Padding_SAME, 1, 1, ActivationFunctionType_RELU),
             BuiltinOptions_Conv2DOptions);
  const int sum = b.Tensor("sum", {1, 6, 6, 4}, kS8, 0.5f, 0);
  b.Operator(BuiltinOperator_ADD, {x, conv}, {sum}, CreateAddOptions(b.fb()),
             BuiltinOptions_AddOptions);
  const int pool = b.Tensor("pool", {1, 3, 3, 4}, kS8, 0.5f, 0);
  b.Operator(BuiltinOperator_MAX_POOL_2D, {sum}, {pool},
             CreatePool2DOptions(b.fb(), Padding_VALID, 2, 2, 2, 2), BuiltinOptions_Pool2DOptions);
  const int part = b.Tensor("part", {1, 2, 3, 4}, kS8, 0.5f, 0);
  b.Operator(BuiltinOperator_STRIDED_SLICE,
             {pool, b.Ints("begin", {4}, {0, 1, 0, 0}), b.Ints("end", {4}, {1, 3, 3, 4}),
              b.Ints("step", {4}, {1, 1, 1, 1})},
             {part}, CreateStridedSliceOptions(b.fb()), BuiltinOptions_StridedSliceOptions);
  const int mean = b.Tensor("mean", {1, 1, 1, 4}, kS8, 0.1f, 0);
  b.Operator(BuiltinOperator_MEAN, {part, b.Ints("axes", {2}, {1, 2})}, {mean},
             CreateReducerOptions(b.fb(), true), BuiltinOptions_ReducerOptions);
  const int flat = b.Tensor("flat", {1, 4}, kS8, 0.1f, 0);
  b.Operator(BuiltinOperator_RESHAPE, {mean, b.Ints("shape", {2}, {1, 4})}, {flat});
  const int fc = b.Tensor("fc", {1, 3}, kS8, 0.2f, 0);
  b.Operator(BuiltinOperator_FULLY_CONNECTED,
             {flat, b.Tensor("v", {3, 4}, kS8, 0.02f, 0, Filled(12)), -1}, {fc},
             CreateFullyConnectedOptions(b.fb()), BuiltinOptions_FullyConnectedOptions);
  const int y = b.Tensor("y", {1, 3}, kS8, 1.0f / 256, -128);
  b.Operator(BuiltinOperator_SOFTMAX, {fc}, {y}, CreateSoftmaxOptions(b.fb(), 1.0f),
             BuiltinOptions_SoftmaxOptions);
  return b.Bytes({x}, {y, sum});
}

// Adds the handle of the variable "state".
int Handle(TfliteBuilder& b) {
  const int handle = b.Tensor("state", {}, TensorType_RESOURCE);
  b.Operator(BuiltinOperator_VAR_HANDLE, {}, {handle},
             CreateVarHandleOptions(b.fb(), b.fb().CreateString(""), b.fb().CreateString("state")),
             BuiltinOptions_VarHandleOptions);
  return handle;
}

// y = x + state, and the state becomes y: s8, the state begins with `first`.
std::string Streaming(const std::vector<uint8_t>& first, bool is_assigned = true) {
  TfliteBuilder b;
  const int begin = Handle(b);
  b.Operator(BuiltinOperator_ASSIGN_VARIABLE,
             {begin, b.Tensor("first", {1, 4}, kS8, 0.5f, -3, first)}, {});
  b.EndOtherGraph();
  b.Operator(BuiltinOperator_CALL_ONCE, {}, {}, CreateCallOnceOptions(b.fb(), 1),
             BuiltinOptions_CallOnceOptions);
  const int x = b.Tensor("x", {1, 4}, kS8, 0.5f, -3), handle = Handle(b);
  const int state = b.Tensor("read", {1, 4}, kS8, 0.5f, -3);
  b.Operator(BuiltinOperator_READ_VARIABLE, {handle}, {state});
  const int y = b.Tensor("y", {1, 4}, kS8, 0.5f, -3);
  b.Operator(BuiltinOperator_ADD, {x, state}, {y}, CreateAddOptions(b.fb()),
             BuiltinOptions_AddOptions);
  if (is_assigned) b.Operator(BuiltinOperator_ASSIGN_VARIABLE, {handle, y}, {});
  return b.Bytes({x}, {y});
}

flatbuffers::Offset<DimensionMetadata> Sparse(TfliteBuilder& b, const std::vector<int>& segments,
                                              const std::vector<uint8_t>& indices) {
  return CreateDimensionMetadata(b.fb(), DimensionType_SPARSE_CSR, 0, SparseIndexVector_Int32Vector,
                                 CreateInt32Vector(b.fb(), b.fb().CreateVector(segments)).Union(),
                                 SparseIndexVector_Uint8Vector,
                                 CreateUint8Vector(b.fb(), b.fb().CreateVector(indices)).Union());
}

flatbuffers::Offset<DimensionMetadata> Dense(TfliteBuilder& b, int size) {
  return CreateDimensionMetadata(b.fb(), DimensionType_DENSE, size);
}

// y = x + c, c [2, 4] of bytes, stored sparse.
std::string SparseConstant(
    const std::vector<int>& order, const std::vector<int>& blocks,
    const std::function<std::vector<flatbuffers::Offset<DimensionMetadata>>(TfliteBuilder&)>&
        levels,
    const std::vector<uint8_t>& data) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2, 4}, kS8, 1, 0), y = b.Tensor("y", {2, 4}, kS8, 1, 0);
  const auto sparsity =
      CreateSparsityParameters(b.fb(), b.fb().CreateVector(order), b.fb().CreateVector(blocks),
                               b.fb().CreateVector(levels(b)));
  const int c = b.Tensor("c", {2, 4}, kS8, 1, 0, data, sparsity);
  const int dense = b.Tensor("dense", {2, 4}, kS8, 1, 0);
  b.Operator(BuiltinOperator_DENSIFY, {c}, {dense});
  b.Operator(BuiltinOperator_ADD, {x, dense}, {y}, CreateAddOptions(b.fb()),
             BuiltinOptions_AddOptions);
  return b.Bytes({x}, {y});
}

// 0 5 0 6
// 0 0 7 0
std::string SparseRows(const std::vector<int>& segments = {0, 2, 3},
                       const std::vector<uint8_t>& indices = {1, 3, 2}) {
  return SparseConstant({0, 1}, {},
                        [&](TfliteBuilder& b) {
                          return std::vector{Dense(b, 2), Sparse(b, segments, indices)};
                        },
                        {5, 6, 7});
}

Graph Import(const std::string& bytes) {
  return ImportOnnxBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "net");
}

std::string Refusal(const std::string& bytes) {
  return ErrorLinesOf([&] { Import(bytes); });
}

// Anything but an Error escapes and fails the test.
bool Imports(const std::string& bytes) { return Refusal(bytes) == kNoError; }

TEST(ImportTflite, KeepsNamesTypesShapesAndScales) {
  const Graph graph = Import(ManyOperators());
  ASSERT_EQ(graph.inputs.size(), 1u);
  const Value& x = graph.value(graph.inputs[0]);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.dtype, DType::kS8);
  EXPECT_EQ(x.shape, (Shape{1, 6, 6, 4}));
  EXPECT_EQ(x.quant, (QuantParams{0.5f, 3}));
  EXPECT_EQ(graph.output_names, (std::vector<std::string>{"y", "sum"}));
  EXPECT_EQ(graph.value(graph.outputs[0]).quant, (QuantParams{1.0f / 256, -128}));
}

TEST(ImportTflite, TheBiasCountsInUnitsOfTheProduct) {
  const Graph graph = Import(ManyOperators());
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<Conv>(node.op)) continue;
    const Value& bias = graph.value(node.inputs[2]);
    ASSERT_NE(bias.origin, nullptr);
    EXPECT_EQ(bias.origin->scales[0], 0.5f * 0.01f);
    EXPECT_EQ(bias.origin->integers->As<int32_t>()[2], 30);
    return;
  }
  FAIL() << "no convolution";
}

// 16x8: s16 stay integers, their bias has its own 64 bits, a sum knows whether it shifts.
TEST(ImportTflite, IntegersOf16Bits) {
  for (const bool flag : {false, true}) {
    for (const float scale : {0.25f, 0.3f}) {
      TfliteBuilder b;
      const int x = b.Tensor("x", {1, 2}, TensorType_FLOAT32);
      const int q = b.Tensor("q", {1, 2}, TensorType_INT16, scale);
      const int w = b.Tensor("w", {1, 2}, TensorType_INT8, 0.5f, 0, {3, 4});
      const int bias = b.Tensor("b", {1}, TensorType_INT64, 0, 0, {0, 0, 0, 0, 1, 0, 0, 0});
      const int p = b.Tensor("p", {1, 1}, TensorType_INT16, 0.25f);
      const int sum = b.Tensor("sum", {1, 2}, TensorType_INT16, 0.25f);
      const int y = b.Tensor("y", {1, 1}, TensorType_FLOAT32);
      const int z = b.Tensor("z", {1, 2}, TensorType_FLOAT32);
      b.Operator(BuiltinOperator_QUANTIZE, {x}, {q});
      b.Operator(BuiltinOperator_FULLY_CONNECTED, {q, w, bias}, {p},
                 tflite::CreateFullyConnectedOptions(b.fb()),
                 tflite::BuiltinOptions_FullyConnectedOptions);
      b.Operator(BuiltinOperator_ADD, {q, q}, {sum},
                 tflite::CreateAddOptions(b.fb(), ActivationFunctionType_NONE, flag),
                 tflite::BuiltinOptions_AddOptions);
      b.Operator(BuiltinOperator_DEQUANTIZE, {p}, {y});
      b.Operator(BuiltinOperator_DEQUANTIZE, {sum}, {z});
      const Graph graph = Import(b.Bytes({x}, {y, z}));
      EXPECT_EQ(graph.value(graph.FindValue("q")).dtype, DType::kS16);
      EXPECT_EQ(graph.value(graph.FindValue("q")).quant, (QuantParams{scale, 0}));
      EXPECT_EQ(graph.value(graph.FindValue("sum")).shifts_operands, flag && scale == 0.25f);
      EXPECT_FALSE(graph.value(graph.FindValue("p")).shifts_operands);
      int64_t found = 0;
      for (int i = 0; i < graph.value_count(); ++i) {
        const auto origin = graph.value(ValueId(i)).origin;
        if (origin == nullptr || origin->dtype != DType::kS64) continue;
        found = origin->integers->As<int64_t>()[0];
        EXPECT_EQ(origin->scales[0], scale * 0.5f);
      }
      EXPECT_EQ(found, int64_t{1} << 32);
    }
  }
}

TEST(ImportTflite, EqualAndEmptyNamesAreMadeUnique) {
  TfliteBuilder b;
  const int x = b.Tensor("t", {2}, TensorType_FLOAT32), y = b.Tensor("t", {2}, TensorType_FLOAT32);
  const int z = b.Tensor("", {2}, TensorType_FLOAT32);
  b.Operator(BuiltinOperator_EXP, {x}, {y});
  b.Operator(BuiltinOperator_ABS, {y}, {z});
  const Graph graph = Import(b.Bytes({x}, {z}));
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "t");
  EXPECT_EQ(graph.output_names[0], "tensor");
}

TEST(ImportTflite, NamesWhatItCannotTranslate) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2}, TensorType_FLOAT32), y = b.Tensor("y", {2}, TensorType_FLOAT32);
  b.Operator(BuiltinOperator_SKIP_GRAM, {x}, {y});
  EXPECT_THAT(Refusal(b.Bytes({x}, {y})), HasSubstr("'y' (tflite:SKIP_GRAM)"));
}

TEST(ImportTflite, RefusesTypesWithoutNumbers) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2}, TensorType_FLOAT32), y = b.Tensor("y", {2}, TensorType_STRING);
  b.Operator(BuiltinOperator_CAST, {x}, {y});
  EXPECT_THAT(Refusal(b.Bytes({x}, {y})), HasSubstr("has elements of type STRING"));
}

TEST(ImportTflite, AVariableIsAnInputAndAnOutput) {
  std::string note;
  ImportOptions options;
  options.note = [&](const std::string& text) { note += text; };
  const std::string bytes = Streaming({0xfd, 0xfd, 0xfd, 0xfd});  // -3, which is zero
  const Graph graph = ImportOnnxBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "net", options);
  const auto names = [&](const std::vector<ValueId>& ids) {
    std::vector<std::string> list;
    list.reserve(ids.size());
    for (const ValueId id : ids) list.push_back(graph.value(id).name);
    return list;
  };
  EXPECT_THAT(names(graph.inputs), ElementsAre("x", "state"));
  EXPECT_THAT(names(graph.outputs), ElementsAre("y", "state/next"));
  for (const ValueId id : {graph.inputs[1], graph.outputs[1]}) {
    EXPECT_EQ(graph.value(id).dtype, DType::kS8);
    EXPECT_EQ(graph.value(id).shape, (Shape{1, 4}));
  }
  EXPECT_EQ(note,
            "the file has a variable, contents that stay from run to run: an input here, as "
            "'state', and an output, 'state/next'; zeros at first, then model_runner --carry auto "
            "feeds them back");
}

TEST(ImportTflite, RefusesVariablesThatBeginWithOtherValues) {
  EXPECT_THAT(Refusal(Streaming({0, 0xfd, 0xfd, 0xfd})),
              HasSubstr("variable 'state' begins with other values than zeros"));
  EXPECT_THAT(Refusal(Streaming({0xfd, 0xfd, 0xfd, 0xfd}, false)),
              HasSubstr("variable 'state' is read but never assigned"));
}

std::vector<float> AddedTo(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : node.inputs) {
      const Value& value = graph.value(id);
      if (value.is_constant() && value.shape == Shape{2, 4}) {
        const auto elements = value.constant->As<float>();
        return {elements.begin(), elements.end()};
      }
    }
  }
  return {};
}

TEST(ImportTflite, SparseConstantsAreReadWithTheirZeros) {
  const std::vector<float> want = {0, 5, 0, 6, 0, 0, 7, 0};
  EXPECT_EQ(AddedTo(Import(SparseRows())), want);
  // Columns first.
  EXPECT_EQ(AddedTo(Import(SparseConstant(
                {1, 0}, {},
                [](TfliteBuilder& b) {
                  return std::vector{Dense(b, 4), Sparse(b, {0, 0, 1, 2, 3}, {0, 1, 0})};
                },
                {5, 7, 6}))),
            want);
  // Blocks of 1 x 2: none of the second row's first two elements.
  EXPECT_EQ(AddedTo(Import(SparseConstant(
                {0, 1, 2}, {1},
                [](TfliteBuilder& b) {
                  return std::vector{Dense(b, 2), Sparse(b, {0, 2, 3}, {0, 1, 1}), Dense(b, 2)};
                },
                {0, 5, 0, 6, 7, 0}))),
            want);
}

TEST(ImportTflite, RefusesSparseConstantsThatContradictThemselves) {
  EXPECT_THAT(Refusal(SparseRows({0, 2})), HasSubstr("2 segments for 2 parts"));
  EXPECT_THAT(Refusal(SparseRows({0, 2, 9})), HasSubstr("segments that end at 9 of 3"));
  EXPECT_THAT(Refusal(SparseRows({0, 2, 3}, {1, 4, 2})), HasSubstr("the index 4 of 4"));
  EXPECT_THAT(Refusal(SparseRows({0, 1, 2})), HasSubstr("3 bytes, expected 2"));
}

TEST(ImportTflite, RefusesAnotherVersion) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2}, TensorType_FLOAT32), y = b.Tensor("y", {2}, TensorType_FLOAT32);
  b.Operator(BuiltinOperator_ABS, {x}, {y});
  EXPECT_THAT(Refusal(b.Bytes({x}, {y}, 2)), HasSubstr("is of version 2"));
}

TEST(ImportTflite, RefusesIndicesOutOfRange) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2}, TensorType_FLOAT32), y = b.Tensor("y", {2}, TensorType_FLOAT32);
  b.Operator(BuiltinOperator_ABS, {7}, {y});
  EXPECT_THAT(Refusal(b.Bytes({x}, {y})), HasSubstr("names tensor 7 of 2; the file is damaged"));
}

TEST(ImportTflite, RefusesAConstantOfAnotherSize) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2}, TensorType_FLOAT32), y = b.Tensor("y", {2}, TensorType_FLOAT32);
  b.Operator(BuiltinOperator_ADD, {x, b.Tensor("c", {3}, TensorType_FLOAT32, 0, 0, Filled(8))},
             {y});
  EXPECT_THAT(Refusal(b.Bytes({x}, {y})), HasSubstr("has 8 bytes, expected 12"));
}

TEST(ImportTflite, RefusesATensorThatNobodyMakes) {
  TfliteBuilder b;
  const int x = b.Tensor("x", {2}, TensorType_FLOAT32), y = b.Tensor("y", {2}, TensorType_FLOAT32);
  b.Operator(BuiltinOperator_ADD, {x, b.Tensor("c", {2}, TensorType_FLOAT32)}, {y});
  EXPECT_THAT(Refusal(b.Bytes({x}, {y})), HasSubstr("no operator, input or buffer provides"));
}

TEST(ImportTflite, EveryTruncationIsRefusedOrHarmless) {
  const std::string whole = ManyOperators();
  int imported = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    imported += Imports(whole.substr(0, length));
  }
  EXPECT_EQ(imported, 0);
}

TEST(ImportTflite, EveryByteMayChange) {
  std::mt19937 random(7);
  int imported = 0;
  for (const std::string& whole :
       {ManyOperators(), Streaming({0xfd, 0xfd, 0xfd, 0xfd}), SparseRows()}) {
    for (size_t at = 0; at < whole.size(); ++at) {
      for (int change : {0x01, 0x80, 0xff, static_cast<int>(random() % 255) + 1}) {
        std::string mutant = whole;
        mutant[at] = static_cast<char>(mutant[at] ^ change);
        imported += Imports(mutant);
      }
    }
  }
  // Names and weights may change without harm, so some must have got through.
  EXPECT_GT(imported, 0);
}

TEST(ImportTflite, ManyBytesMayChange) {
  const std::string whole = ManyOperators();
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string mutant = whole;
    for (uint32_t changes = 1 + random() % 8; changes > 0; --changes) {
      mutant[random() % mutant.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) mutant.erase(random() % mutant.size(), 1 + random() % 16);
    SCOPED_TRACE(seed);
    Imports(mutant);
  }
}

}  // namespace
}  // namespace rshift
