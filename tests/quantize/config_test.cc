#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "quantize/ascend_config.h"
#include "quantize/quantize.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

std::string MessageOf(const std::string& text) {
  return ErrorOf(ErrorCode::kInvalidInput, [&] { ReadQuantizeConfig(text, "q.yaml"); });
}

std::string SourceFile(const std::string& path) {
  const char* root = std::getenv("RSHIFT_SOURCE_DIR");
  return std::string(root == nullptr ? "." : root) + "/" + path;
}

TEST(ConfigTest, ReadsEveryKey) {
  const QuantizeConfig config = ReadQuantizeConfig(
      "layers:\n  a: {mode: f32}\n  b: {threshold: 2.5, per_channel: false}\n"
      "  c: {low: -1, high: 3, multiplier_bits: 8, mode: int8}\n",
      "q.yaml");
  EXPECT_EQ(config.layers.at("a").float32, true);
  EXPECT_EQ(config.layers.at("b").threshold, 2.5f);
  EXPECT_EQ(config.layers.at("b").per_channel, false);
  EXPECT_EQ(config.layers.at("c").low, -1.0f);
  EXPECT_EQ(config.layers.at("c").high, 3.0f);
  EXPECT_EQ(config.layers.at("c").multiplier_bits, 8);
  EXPECT_EQ(config.layers.at("c").float32, false);
}

TEST(ConfigTest, WeightsHave8BitsOr4) {
  const QuantizeConfig config = ReadQuantizeConfig(
      "layers:\n  a: {weight_bits: 4}\n  'b*': {weight_bits: 8}\ntypes:\n  Conv: {weight_bits: "
      "4}\n",
      "q.yaml");
  EXPECT_EQ(config.layers.at("a").weight_bits, 4);
  EXPECT_EQ(config.patterns.at(0).layer.weight_bits, 8);
  EXPECT_EQ(config.types.at("Conv").weight_bits, 4);
  EXPECT_EQ(MessageOf("layers:\n  a: {weight_bits: 2}\n"),
            "q.yaml:2: layer 'a': weight_bits is 2, expected 4 or 8");
  EXPECT_EQ(MessageOf("layers:\n  a: {weight_bits: 4, mode: f32}\n"),
            "q.yaml:2: layer 'a': weight_bits with mode f32; leave one of them out");
  for (const char* setting : {"per_channel: true", "multiplier_bits: 16", "profile: openvino"}) {
    EXPECT_NE(MessageOf(Cat("layers:\n  a: {mode: f32, ", setting, "}\n")).find("with mode f32"),
              std::string::npos);
  }
}

TEST(ConfigTest, ReadsProfilesAndAttributesOfAscendAndMklDnn) {
  const QuantizeConfig config = ReadQuantizeConfig(
      "layers:\n  a: {profile: tflite, variant: snps}\n"
      "  b: {ascend: {scale_d: 0.5, offset_d: -3, scale_w: [1, 2], round_mode: Ceiling, bias: "
      "int32}}\n"
      "  c: {onednn: {output_scales: {mask: 3, values: [1, 2]}, post_ops: [{op: elu, alpha: "
      "2}]}}\n",
      "q.yaml");
  EXPECT_EQ(config.layers.at("a").profile, (Profile{ProfileId::kTfLite, Variant::kSnps}));
  const AscendConfig& ascend = config.layers.at("b").ascend;
  EXPECT_EQ(ascend.scale_d, 0.5f);
  EXPECT_EQ(ascend.offset_d, -3);
  EXPECT_EQ(ascend.scale_w, (std::vector<float>{1, 2}));
  EXPECT_EQ(ascend.round_mode, RealRounding::kCeil);
  EXPECT_TRUE(ascend.Dequant().int32_bias);
  const OneDnnConfig& onednn = config.layers.at("c").onednn;
  EXPECT_EQ(onednn.mask, 3);
  ASSERT_EQ(onednn.post_ops.size(), 1u);
  EXPECT_EQ(onednn.post_ops[0].kind, PostOpKind::kElu);
  EXPECT_EQ(onednn.post_ops[0].alpha, 2.0f);
}

TEST(AscendRecords, AreReadByLayerAndRefusedWithTheirLine) {
  const std::string text =
      "record {\n key: \"a/b\"\n value { scale_d: 0.5 offset_d: -128\n scale_w: 1 scale_w: 2 "
      "offset_w: 0 } }\nrecord { key: \"c\" value { scale_d: 3 } }\n";
  const auto records = ReadAscendRecords(text, "r.txt");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records.at("a/b").config.offset_d, -128);
  EXPECT_EQ(records.at("a/b").config.scale_w, (std::vector<float>{1, 2}));
  EXPECT_EQ(records.at("c").line, 5);
  const auto message = [](const std::string& wrong) {
    return ErrorOf([&] { ReadAscendRecords(wrong, "r.txt"); });
  };
  EXPECT_NE(message("record { key: \"c\" value { } }").find("no scale_d"), std::string::npos);
  EXPECT_NE(message("record {\n key: \"c\"\n value { scale_d: -1 } }").find("r.txt:3"),
            std::string::npos);
  EXPECT_NE(message("record { key: \"c\" value { scale_d: 1").find("ends inside"),
            std::string::npos);
  EXPECT_NE(message("record { key: \"c\" value { scale: 1 } }").find("unknown 'scale:'"),
            std::string::npos);
  EXPECT_NE(message("").find("no record"), std::string::npos);
}

TEST(ConfigTest, WildcardsAndTypesKeepTheirOrderAndLines) {
  const QuantizeConfig config = ReadQuantizeConfig(
      "layers:\n  'conv_*': {mode: f32}\n  a: {threshold: 2}\n"
      "  'b?': {type: [Conv, MatMul], per_channel: false}\n  c: {type: Add, mode: f32}\n"
      "types:\n  Softmax: {mode: f32}\n",
      "q.yaml");
  ASSERT_EQ(config.patterns.size(), 3u);
  EXPECT_EQ(config.patterns[0].glob, "conv_*");
  EXPECT_EQ(config.patterns[0].layer.line, 2);
  EXPECT_EQ(config.patterns[1].types, (std::vector<std::string>{"Conv", "MatMul"}));
  EXPECT_EQ(config.patterns[2].types, std::vector<std::string>{"Add"});
  EXPECT_EQ(config.patterns[2].layer.line, 5);
  EXPECT_EQ(config.layers.at("a").line, 3);
  EXPECT_EQ(config.types.at("Softmax").line, 7);
  EXPECT_EQ(config.where, "q.yaml");
}

TEST(ConfigTest, TheExampleIsValid) {
  const std::string path = SourceFile("configs/quantize/example.yaml");
  const QuantizeConfig config = ReadQuantizeConfig(ReadTextFile(path), path);
  EXPECT_EQ(config.layers.size(), 4u);
  EXPECT_EQ(config.patterns.size(), 2u);
  EXPECT_EQ(config.types.size(), 1u);
}

TEST(ConfigTest, ErrorsNameFileAndLine) {
  EXPECT_EQ(
      MessageOf("layers:\n  a: {treshold: 1}\n").rfind("q.yaml:2: layer 'a' has an unknown key", 0),
      0u);
  EXPECT_EQ(MessageOf("layers:\n  a: {threshold: 1}\n  a: {threshold: 2}\n").rfind("q.yaml:3: ", 0),
            0u);
  EXPECT_EQ(MessageOf("layers:\n  a: {threshold: -1}\n").rfind("q.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("layers:\n  a: {low: 2, high: 1}\n").rfind("q.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("layers:\n  a: {low: 2}\n").rfind("q.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("layers:\n  a: {mode: int4}\n").rfind("q.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("layers: [a\n").rfind("q.yaml:", 0), 0u);
  EXPECT_EQ(MessageOf("layers:\n  a: {type: []}\n").rfind("q.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("types:\n  Conv: {type: Add}\n").rfind("q.yaml:2: type 'Conv'", 0), 0u);
  EXPECT_EQ(MessageOf("types:\n  Conv: {threshold: 0}\n").rfind("q.yaml:2: type 'Conv'", 0), 0u);
  EXPECT_NE(MessageOf("layers:\n  a: {}\n").find("q.yaml:2: layer 'a' has no setting"),
            std::string::npos);
  EXPECT_NE(MessageOf("layers:\n  '*': {type: Conv}\n").find("has no setting"), std::string::npos);
  EXPECT_NE(MessageOf("layers:\n  *: {mode: f32}\n").find("in quotes"), std::string::npos);
  EXPECT_NE(MessageOf("\x08\x07\x12\x07: \"\\\x01\"").find("it is an ONNX model"),
            std::string::npos);
  EXPECT_NE(MessageOf("{}\n").find("neither 'layers' nor 'types'"), std::string::npos);
  EXPECT_NE(MessageOf("lairs: {}\n"), kNoError);
  EXPECT_NE(MessageOf(""), kNoError);
}

}  // namespace
}  // namespace rshift
