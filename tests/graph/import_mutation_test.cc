// No file may crash the importer: a model with many operators is cut and altered, and each variant
// must either be imported or be refused with an Error.
#include <gtest/gtest.h>

#include <random>

#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::ModelBuilder;

std::string ManyOperators() {
  ModelBuilder b(13);
  b.Input("x", {1, 4, 8, 8}).Input("n", {-1}, onnx::TensorProto::INT64);
  b.Floats("w", {4, 2, 3, 3}).Floats("v", {4}).Floats("g", {36, 3}).Floats("s", {4}, {1, 1, 2, 2});
  b.Ints("flat", {2}, {1, -1})
      .Ints("one", {1}, {1})
      .Ints("three", {1}, {3})
      .Ints("size", {2}, {2, 3});
  b.Ints("pads", {8}, {0, 0, 1, 1, 0, 0, 1, 1}).Ints("zero", {}, {0}).Ints("five", {}, {5});
  b.Node("Conv", {"x", "w", "v"}, {"c"},
         {{"group", 2}, {"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}});
  b.Node("BatchNormalization", {"c", "v", "v", "v", "v"}, {"bn"}).Node("Relu", {"bn"}, {"r"});
  b.Node("MaxPool", {"r"}, {"p"}, {{"kernel_shape", {2, 2}}, {"ceil_mode", 1}});
  b.Node("Resize", {"p", "", "s"}, {"u"}, {{"mode", "linear"}}).Node("Pad", {"u", "pads"}, {"pad"});
  b.Node("AveragePool", {"pad"}, {"a"}, {{"kernel_shape", {3, 3}}, {"auto_pad", "SAME_UPPER"}});
  b.Node("Transpose", {"a"}, {"t"}, {{"perm", {0, 2, 3, 1}}})
      .Node("Slice", {"t", "one", "three"}, {"sl"});
  b.Node("Concat", {"t", "t"}, {"cat"}, {{"axis", -1}})
      .Node("Softmax", {"cat"}, {"sm"}, {{"axis", 2}});
  b.Node("Split", {"sm"}, {"sp0", "sp1"}, {{"axis", 3}})
      .Node("ReduceMean", {"sp1"}, {"rm"}, {{"axes", {1}}});
  b.Node("GlobalAveragePool", {"p"}, {"gap"}).Node("Flatten", {"p"}, {"f"});
  b.Node("Gemm", {"f", "g"}, {"y"}, {{"alpha", 0.5f}}).Node("Shape", {"x"}, {"sh"});
  b.Node("Gather", {"sh", "one"}, {"ga"}).Node("ConstantOfShape", {"size"}, {"cs"});
  b.Node("Range", {"zero", "five", "one"}, {"ra"}).Node("Tile", {"cs", "size"}, {"ti"});
  b.Node("Expand", {"ga", "size"}, {"ex"}).Node("DepthToSpace", {"x"}, {"d"}, {{"blocksize", 2}});
  b.Node("ArgMax", {"gap"}, {"am"}).Node("Cast", {"ex"}, {"ca"}, {{"to", 1}});
  b.Node("ConvTranspose", {"r", "w"}, {"ct"},
         {{"group", 2}, {"strides", {2, 2}}, {"output_padding", {1, 1}}});
  b.Node("Unsqueeze", {"gap", "one"}, {"us"}).Node("LRN", {"ct"}, {"lrn"}, {{"size", 3}});
  b.Floats("qs", {}, {0.5f});
  auto* zero = b.graph().add_initializer();
  zero->set_name("qz");
  zero->set_data_type(onnx::TensorProto::UINT8);
  zero->set_raw_data("\x05");
  b.Node("QuantizeLinear", {"x", "qs", "qz"}, {"q"});
  b.Node("DequantizeLinear", {"q", "qs", "qz"}, {"dq"});
  b.Node("QuantizeLinear", {"w", "v"}, {"wq"}, {{"axis", 0}});
  b.Node("DequantizeLinear", {"wq", "v"}, {"wdq"}, {{"axis", 0}});
  b.Node("Transpose", {"wdq"}, {"wt"}).Node("Conv", {"dq", "wdq"}, {"qc"}, {{"group", 2}});
  b.Output("qc").Output("wt");
  for (const char* name : {"y", "sl", "rm", "sp0", "am", "ca", "d", "lrn", "us", "ti", "ra"})
    b.Output(name);
  return b.Bytes();
}

// Returns whether it was imported; anything but an Error escapes and fails the test.
bool Imports(const std::string& bytes) {
  ImportOptions options;
  options.input_shapes["n"] = {2};
  try {
    ImportOnnxBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "mutant",
                    options);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(ImportMutation, TheModelItselfIsGood) {
  ImportOptions options;
  options.input_shapes["n"] = {2};
  const std::string bytes = ManyOperators();
  EXPECT_NO_THROW(ImportOnnxBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                  "model", options));
}

TEST(ImportMutation, EveryTruncationIsRefused) {
  const std::string whole = ManyOperators();
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(Imports(whole.substr(0, length))) << length;
  }
}

TEST(ImportMutation, EveryByteMayChange) {
  const std::string whole = ManyOperators();
  std::mt19937 random(7);
  int imported = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int change : {0x01, 0x80, 0xff, static_cast<int>(random() % 255) + 1}) {
      std::string mutant = whole;
      mutant[at] = static_cast<char>(mutant[at] ^ change);
      imported += Imports(mutant);
    }
  }
  // Names and weights may change without harm, so some must have got through.
  EXPECT_GT(imported, 0);
}

TEST(ImportMutation, ManyBytesMayChange) {
  const std::string whole = ManyOperators();
  for (uint32_t seed = 0; seed < 2000; ++seed) {
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
