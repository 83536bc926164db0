#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/half.h"
#include "tests/base/error_of.h"
#include "tests/graph/onnx_builder.h"

namespace rshift {
namespace {

using testing::Elements;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using ::testing::Not;
using testing::OneNode;
using testing::OpsOf;
using testing::OutputOf;

// A folder of its own for each test.
class ImportModel : public ::testing::Test {
 protected:
  ImportModel() {
    folder_ =
        std::filesystem::temp_directory_path() / ("rshift_import_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~ImportModel() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string FileError(const std::string& name, const ImportOptions& options = {}) const {
    return ErrorLinesOf([&] { ImportOnnx(Path(name), options); });
  }
  std::filesystem::path folder_;
};

TEST_F(ImportModel, BadFilesAreOneLineErrors) {
  EXPECT_THAT(FileError("absent.onnx"), HasSubstr("absent.onnx: cannot open"));
  WriteFileAtomic(Path("empty.onnx"), std::string_view());
  EXPECT_THAT(FileError("empty.onnx"), HasSubstr("empty.onnx: the file is empty"));
  WriteFileAtomic(Path("text.onnx"), std::string_view("hello, this is no model\n"));
  EXPECT_THAT(FileError("text.onnx"), HasSubstr("text.onnx: not an ONNX model"));
  const std::string whole = OneNode(13, {2, 3}, "Relu", {"x"}).Bytes();
  for (size_t length = 1; length < whole.size(); ++length) {
    WriteFileAtomic(Path("cut.onnx"), std::string_view(whole).substr(0, length));
    const std::string error = FileError("cut.onnx");
    EXPECT_THAT(error, HasSubstr("cut.onnx: ")) << length;
    EXPECT_THAT(error, Not(HasSubstr("\n"))) << length;
  }
}

TEST_F(ImportModel, NamesMustFitTogether) {
  EXPECT_THAT(
      OneNode(13, {2}, "Relu", {"nowhere"}).ImportError(),
      HasSubstr("model: node 'y' reads 'nowhere', which no node, input or initializer provides"));
  ModelBuilder cycle(13);
  cycle.Input("x", {2}).Node("Add", {"x", "b"}, {"a"}).Node("Relu", {"a"}, {"b"}).Output("b");
  EXPECT_THAT(cycle.ImportError(), HasSubstr("node 'a' is part of a cycle"));
  ModelBuilder twice(13);
  twice.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(twice.ImportError(), HasSubstr("value 'y' is made twice"));
  ModelBuilder output(13);
  output.Input("x", {2}).Node("Relu", {"x"}, {"y"}).Output("z");
  EXPECT_THAT(output.ImportError(), HasSubstr("model output 'z' is made by no node"));
  ModelBuilder missing(13);
  missing.Input("x", {2}).Node("Add", {"x", ""}, {"y"}).Output("y");
  EXPECT_THAT(missing.ImportError(), HasSubstr("y (Add): input 1 is missing"));
}

TEST_F(ImportModel, NodesMayStandInAnyOrder) {
  ModelBuilder b(13);
  b.Input("x", {2}).Node("Exp", {"a"}, {"y"}).Node("Relu", {"x"}, {"a"}).Output("y");
  EXPECT_EQ(OpsOf(b.Import()), "Clip Exp");
}

TEST_F(ImportModel, OpsetsOutsideTheRangeAreRefused) {
  EXPECT_THAT(OneNode(5, {2}, "Relu", {"x"}).ImportError(),
              HasSubstr("uses opset 5, expected 6 to 28"));
  EXPECT_THAT(OneNode(29, {2}, "Relu", {"x"}).ImportError(), HasSubstr("uses opset 29"));
  ModelBuilder b = OneNode(23, {2}, "Relu", {"x"});
  b.model.set_ir_version(12);
  EXPECT_EQ(OpsOf(b.Import()), "Clip");
  b.model.clear_opset_import();
  EXPECT_THAT(b.ImportError(), HasSubstr("does not say which opset it uses"));
}

TEST_F(ImportModel, AModelOfOtherDomainsAloneIsNamed) {
  ModelBuilder b(13);
  b.Input("x", {1, 4}).Node("TreeEnsembleClassifier", {"x"}, {"y"}).Output("y");
  b.graph().mutable_node(0)->set_domain("ai.onnx.ml");
  EXPECT_THAT(b.ImportError(), HasSubstr("operator of classical machine learning"));
  b.model.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  EXPECT_THAT(b.ImportError(),
              HasSubstr("uses operators of the domain 'ai.onnx.ml' only "
                        "('TreeEnsembleClassifier'): decision trees and other classical"));
}

TEST_F(ImportModel, WhatNewerOpsetsAddToAnOperatorIsRefusedByName) {
  const auto one = [](int opset, const char* op, std::vector<testing::Attribute> attributes) {
    return OneNode(opset, {1, 4, 4, 4}, op, {"x"}, attributes);
  };
  EXPECT_EQ(one(28, "Relu", {}).ImportError(), "no error");
  EXPECT_THAT(one(29, "Relu", {}).ImportError(), HasSubstr("uses opset 29, expected 6 to 28"));
  EXPECT_EQ(one(28, "SpaceToDepth", {{"blocksize", 2}, {"mode", "DCR"}}).ImportError(), "no error");
  EXPECT_EQ(one(28, "SpaceToDepth", {{"blocksize", 2}, {"mode", "CRD"}}).ImportError(), "no error");
  EXPECT_EQ(OneNode(28, {4}, "Mod", {"x", "x"}).ImportError(), "no error");
  EXPECT_THAT(OneNode(27, {}, "Range", {"x", "x", "x"}, {{"stash_type", 10}}).ImportError(),
              HasSubstr("'y' (Range): attribute 'stash_type' of opset 27 is supported as 1 only"));
  EXPECT_EQ(OpsOf(one(24, "Swish", {}).Import()), "Silu");
}

TEST_F(ImportModel, DimensionOfSize0IsSaidToBeEmptyNotDynamic) {
  ModelBuilder b(13);
  b.Input("x", {1, 0, 4}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_THAT(b.ImportError(), HasSubstr("input 'x' has the shape [1,0,4]: a dimension of size 0 "
                                         "holds no elements"));
  ImportOptions options;
  options.input_shapes["x"] = {1, 3, 4};
  EXPECT_EQ(OutputOf(b.Import(options)).shape, (Shape{1, 3, 4}));
}

TEST_F(ImportModel, AQuestionMarkIsNoNameOfADimension) {
  ModelBuilder b(13);
  b.Input("x", {1, -2, -3}).Node("Relu", {"x"}, {"y"}).Output("y");
  auto* shape = b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(1)->set_dim_param("?");
  shape->mutable_dim(2)->set_dim_param("?");
  ImportOptions options;
  options.input_shapes["x"] = {1, 48, 192};
  EXPECT_EQ(OutputOf(b.Import(options)).shape, (Shape{1, 48, 192}));
}

TEST_F(ImportModel, ProposedShapesAreThoseTheGraphTakes) {
  // 64 channels of 40 x 40 behind a stride of 8: nothing but 320 x 320 fits.
  ModelBuilder b(13);
  b.Input("x", {-1, 3, -2, -3}).Floats("w", {64, 3, 8, 8}).Ints("shape", {2}, {1, 102400});
  b.Floats("fc", {102400, 2});
  b.Node("Conv", {"x", "w"}, {"c"}, {{"strides", {8, 8}}});
  b.Node("Reshape", {"c", "shape"}, {"r"}).Node("MatMul", {"r", "fc"}, {"y"}).Output("y");
  auto* shape = b.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(2)->set_dim_param("H");
  shape->mutable_dim(3)->set_dim_param("W");
  EXPECT_THAT(b.ImportError(), HasSubstr("input 'x' has a dynamic shape [N,3,H,W]: give its shape, "
                                         "for example --input-shape x:1x3x320x320"));
  ImportOptions options;
  options.input_shapes["x"] = {1, 3, 320, 320};
  EXPECT_EQ(OutputOf(b.Import(options)).shape, (Shape{1, 2}));
  b.graph().mutable_initializer(1)->set_int64_data(1, 77);  // no usual size fits
  EXPECT_THAT(b.ImportError(), HasSubstr("none of the usual ones fits it"));
}

TEST_F(ImportModel, AnOpenFirstDimensionIsABatchOfOne) {
  ModelBuilder b(13);
  b.Input("x", {-1, 1, 4, 4})
      .Input("z", {-1, 2})
      .Node("Relu", {"x"}, {"y"})
      .Node("Exp", {"z"}, {"w"});
  b.Output("y").Output("w");
  ImportOptions options;
  std::string note;
  options.note = [&](const std::string& said) { note += said + "\n"; };
  const Graph one = b.Import(options);
  EXPECT_EQ(OutputOf(one, 0).shape, (Shape{1, 1, 4, 4}));
  EXPECT_EQ(OutputOf(one, 1).shape, (Shape{1, 2}));
  EXPECT_EQ(note,
            "input 'x' has the shape [N,1,4,4]: a batch of 1 is taken; another, for example: "
            "--input-shape x:8x1x4x4\n");
  options.input_shapes["x"] = {3, 1, 4, 4};
  const Graph g = b.Import(options);  // z shares the symbol
  EXPECT_EQ(OutputOf(g, 0).shape, (Shape{3, 1, 4, 4}));
  EXPECT_EQ(OutputOf(g, 1).shape, (Shape{3, 2}));
  options.input_shapes["z"] = {2, 2};
  EXPECT_THAT(b.ImportError(options),
              HasSubstr("dimension 'N' is 3 in input 'x' but 2 in input 'z'"));
  options.input_shapes = {{"x", {3, 2, 4, 4}}};
  EXPECT_THAT(b.ImportError(options), HasSubstr("but the model declares [N,1,4,4]"));
  options.input_shapes = {{"q", {3}}};
  EXPECT_THAT(b.ImportError(options),
              HasSubstr("the model has no input 'q'; its inputs are 'x', 'z'"));
}

TEST_F(ImportModel, BoundInputsBecomeConstants) {
  ModelBuilder b(13);
  b.Input("x", {2}).Input("n", {}, onnx::TensorProto::INT64).Floats("c", {3}, {1, 2, 3});
  b.Node("Gather", {"c", "n"}, {"s"}).Node("Mul", {"x", "s"}, {"y"}).Output("y");
  Value two;
  two.dtype = DType::kS32;  // converted to the declared type
  const int32_t element = 2;
  two.constant = MakeConstant(std::span<const int32_t>(&element, 1));
  ImportOptions options;
  options.bound_inputs["n"] = two;
  const Graph g = b.Import(options);
  EXPECT_EQ(OpsOf(g), "Mul");
  EXPECT_EQ(g.inputs.size(), 1u);
  EXPECT_THAT(Elements<float>(g.value(g.nodes()[0].inputs[1])), ElementsAre(3.0f));
}

TEST_F(ImportModel, AllUnsupportedNodesAreListed) {
  ModelBuilder b(13);
  b.Input("x", {-1, 4})
      .Node("TfIdfVectorizer", {"x"}, {"a"})
      .Node("Relu", {"a"}, {"b"})
      .Node("Multinomial", {"b"}, {"c"});
  b.Node("StringNormalizer", {"c"}, {"d"}).Node("FancyOp", {"d"}, {"y"}).Output("y");
  b.graph().mutable_node(4)->set_domain("com.example");
  b.graph().mutable_node(0)->set_name("text");
  const std::string error = b.ImportError();
  EXPECT_THAT(error, HasSubstr("model: 4 of 5 nodes are not supported:\n"));
  EXPECT_THAT(error, HasSubstr("\n  'text' (TfIdfVectorizer): operator is not supported"));
  EXPECT_THAT(error, HasSubstr("\n  'c' (Multinomial): operator is not supported"));
  EXPECT_THAT(error, HasSubstr("\n  'd' (StringNormalizer): operator is not supported"));
  EXPECT_THAT(error, HasSubstr("\n  'y' (com.example:FancyOp): operator of the custom domain"));
}

TEST_F(ImportModel, UnsupportedFormsOfKnownOperatorsAreListedToo) {
  ModelBuilder b(13);
  b.Input("x", {1, 1, 4, 4});
  b.Node("LpPool", {"x"}, {"p"}, {{"kernel_shape", {2, 2}}, {"ceil_mode", 1}});
  b.Node("TfIdfVectorizer", {"p"}, {"q"}).Output("q");
  const std::string error = b.ImportError();
  EXPECT_THAT(error, HasSubstr("'p' (LpPool): attribute 'ceil_mode' = 1 is not supported"));
  EXPECT_THAT(error, HasSubstr("'q' (TfIdfVectorizer)"));
}

TEST_F(ImportModel, CheckSupportReportsEveryNode) {
  ModelBuilder b(13);
  b.Input("x", {2, 3})
      .Node("Shape", {"x"}, {"s"})
      .Node("Relu", {"x"}, {"r"})
      .Node("TfIdfVectorizer", {"r"}, {"g"});
  b.Node("Exp", {"g"}, {"y"}).Output("y");
  WriteFileAtomic(Path("m.onnx"), b.Bytes());
  const auto nodes = CheckSupport(Path("m.onnx"));
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_TRUE(nodes[0].supported && nodes[0].folded);
  EXPECT_TRUE(nodes[1].supported && !nodes[1].folded);
  EXPECT_FALSE(nodes[2].supported);
  EXPECT_EQ(nodes[2].node, "g");
  EXPECT_EQ(nodes[2].op, "TfIdfVectorizer");
  EXPECT_FALSE(nodes[2].reason.empty());
  EXPECT_FALSE(nodes[2].advice.empty());
  EXPECT_TRUE(nodes[3].supported);
}

TEST_F(ImportModel, HalfPrecisionBecomesF32) {
  ModelBuilder b(13);
  b.Input("x", {2}, onnx::TensorProto::FLOAT16);
  onnx::TensorProto raw;
  raw.set_name("c");
  raw.set_data_type(onnx::TensorProto::FLOAT16);
  raw.add_dims(2);
  const uint16_t halves[] = {FloatToHalf(1.5f), FloatToHalf(-2.0f)};
  raw.set_raw_data(halves, sizeof halves);
  *b.graph().add_initializer() = raw;
  raw.set_name("d");
  raw.clear_raw_data();
  for (uint16_t h : halves) raw.add_int32_data(h);
  *b.graph().add_initializer() = raw;
  b.Node("Sum", {"x", "c", "d"}, {"y"}).Output("y");
  const Graph g = b.Import();
  EXPECT_EQ(g.value(g.inputs[0]).dtype, DType::kF32);
  EXPECT_EQ(OutputOf(g).dtype, DType::kF32);
  EXPECT_THAT(Elements<float>(g.value(g.nodes()[0].inputs[1])), ElementsAre(1.5f, -2.0f));
  EXPECT_THAT(Elements<float>(g.value(g.nodes()[1].inputs[1])), ElementsAre(1.5f, -2.0f));
}

TEST_F(ImportModel, InitializersMustMatchTheirDimensions) {
  auto few = OneNode(13, {2}, "Add", {"x", "c"});
  few.Floats("c", {3}, {1, 2});
  EXPECT_THAT(few.ImportError(),
              HasSubstr("initializer 'c': has 2 elements, expected 3 for 3 FLOAT"));
  auto negative = OneNode(13, {2}, "Add", {"x", "c"});
  negative.Floats("c", {1}, {1});
  negative.graph().mutable_initializer(0)->set_dims(0, -1);
  EXPECT_THAT(negative.ImportError(), HasSubstr("initializer 'c': dimension -1 is negative or"));
  auto huge = OneNode(13, {2}, "Add", {"x", "c"});
  huge.Floats("c", {1}, {1});
  huge.graph().mutable_initializer(0)->set_dims(0, int64_t{1} << 62);
  EXPECT_THAT(huge.ImportError(), HasSubstr("2^40"));
}

TEST_F(ImportModel, InitializersListedAsInputsAreConstants) {
  ModelBuilder b(9);
  b.Input("x", {2}).Input("c", {2}).Floats("c", {2}).Node("Add", {"x", "c"}, {"y"}).Output("y");
  EXPECT_EQ(b.Import().inputs.size(), 1u);
}

TEST_F(ImportModel, ExternalDataLiesBesideTheModelAndNowhereElse) {
  const auto model = [](const std::string& location, const char* length = "8") {
    auto b = OneNode(13, {2}, "Add", {"x", "c"});
    onnx::TensorProto t;
    t.set_name("c");
    t.set_data_type(onnx::TensorProto::FLOAT);
    t.add_dims(2);
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                     {"offset", "4"},
                                     {"length", length}}) {
      auto* entry = t.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    *b.graph().add_initializer() = t;
    return b;
  };
  const float elements[] = {0.0f, 1.5f, 2.5f};
  WriteFileAtomic(Path("w.bin"),
                  std::span(reinterpret_cast<const uint8_t*>(elements), sizeof elements));
  std::filesystem::create_symlink(Path("w.bin"), Path("link.bin"));
  const auto error = [&](const ModelBuilder& b) {
    WriteFileAtomic(Path("m.onnx"), b.Bytes());
    return FileError("m.onnx");
  };
  WriteFileAtomic(Path("good.onnx"), model("w.bin").Bytes());
  const Graph g = ImportOnnx(Path("good.onnx"));
  EXPECT_THAT(Elements<float>(g.value(g.nodes()[0].inputs[1])), ElementsAre(1.5f, 2.5f));
  EXPECT_THAT(error(model("../w.bin")), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(error(model("/etc/passwd")), HasSubstr("is not a relative path"));
  EXPECT_THAT(error(model("link.bin")), HasSubstr("is a link or not a plain file"));
  EXPECT_THAT(error(model("absent.bin")), HasSubstr("cannot be opened"));
  EXPECT_THAT(error(model("w.bin", "12")), HasSubstr("has 12 bytes"));
  EXPECT_THAT(error(model("w.bin", "-3")), HasSubstr("is not a number of bytes"));
  EXPECT_THAT(model("w.bin").ImportError(), HasSubstr("a model in memory cannot"));
}

TEST_F(ImportModel, ValueNamesAreUnique) {
  ModelBuilder b(11);
  // The first Softmax needs a helper value; the model has taken its natural name.
  b.Input("y/Reshape", {2, 3, 4}).Node("Softmax", {"y/Reshape"}, {"y"}, {{"axis", 1}}).Output("y");
  const Graph g = b.Import();
  std::set<std::string> names;
  for (int i = 0; i < g.value_count(); ++i)
    EXPECT_TRUE(names.insert(g.value(ValueId(i)).name).second);
  EXPECT_EQ(OutputOf(g).name, "y");
  EXPECT_THAT(g.output_names, ElementsAre("y"));
}

TEST_F(ImportModel, ReshapedConstantsShareTheirData) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("s", {1}, {1 << 20}).Ints("flat", {1}, {-1});
  b.Node("ConstantOfShape", {"s"}, {"v0"});
  for (int i = 0; i < 2000; ++i) b.Node("Reshape", {Cat("v", i), "flat"}, {Cat("v", i + 1)});
  b.Node("Add", {"x", "v2000"}, {"y"}).Output("y");
  EXPECT_EQ(OpsOf(b.Import()), "Add");
}

TEST_F(ImportModel, FoldingRefusesResultsThatNobodyCanHold) {
  ModelBuilder b(13);
  b.Input("x", {1}).Ints("s", {2}, {1 << 20, 1 << 19}).Node("ConstantOfShape", {"s"}, {"c"});
  b.Node("Add", {"x", "c"}, {"y"}).Output("y");
  EXPECT_THAT(b.ImportError(),
              HasSubstr("its constant result has 2199023255552 bytes, expected at most"));
}

}  // namespace
}  // namespace rshift
