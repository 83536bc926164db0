#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "quantize/quantize.h"

namespace rshift {
namespace {

template <typename Read>
std::string ErrorOf(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
    return error.what();
  }
  return "no error";
}

std::string MessageOf(const std::string& text) {
  return ErrorOf([&] { ReadQuantizeConfig(text, "q.yaml"); });
}

std::string SourceFile(const std::string& path) {
  const char* root = std::getenv("RSHIFT_SOURCE_DIR");
  return std::string(root == nullptr ? "." : root) + "/" + path;
}

TEST(TargetTest, TheShippedFilesSayWhatTheirNamesSay) {
  const std::string tpu = SourceFile("configs/targets/tpu.yaml");
  const Target target = ReadTarget(ReadTextFile(tpu), tpu);
  EXPECT_EQ(target.name, "tpu");
  EXPECT_EQ(target.add_multiplier_bits, 8);
  EXPECT_EQ(target.leaky_multiplier_bits, 8);
  EXPECT_EQ(target.conv_multiplier_bits, 32);
  EXPECT_FALSE(target.conv);
  const std::string cpu = SourceFile("configs/targets/cpu.yaml");
  const Target cpu_target = ReadTarget(ReadTextFile(cpu), cpu);
  EXPECT_EQ(cpu_target.add_multiplier_bits, 16);
  EXPECT_EQ(cpu_target.add_multiplier_bits, Target{}.add_multiplier_bits);
  EXPECT_EQ(cpu_target.conv_multiplier_bits, 25);
  EXPECT_EQ(cpu_target.conv_multiplier_bits, Target{}.conv_multiplier_bits);
  EXPECT_TRUE(cpu_target.per_channel_weights);
  EXPECT_EQ(cpu_target.cost, CostModel{});  // the file is where the defaults are explained
  for (const CostKey& key : CostKeys()) {
    EXPECT_NE(ReadTextFile(cpu).find("  " + std::string(key.name) + ": "), std::string::npos);
  }
}

TEST(TargetTest, TheFormsOfConvolutionsOfTheShippedFileAreTheDefault) {
  const std::string cpu = SourceFile("configs/targets/cpu.yaml"), text = ReadTextFile(cpu);
  const Target target = ReadTarget(text, cpu);
  ASSERT_TRUE(target.conv && Target{}.conv);
  for (const ConvFormsKey& key : ConvFormsKeys()) {
    EXPECT_EQ((*target.conv).*key.value, ConvForms{}.*key.value) << key.name;
    EXPECT_NE(text.find("  " + std::string(key.name) + ": "), std::string::npos) << key.name;
  }
}

TEST(TargetTest, FormsOfConvolutionsAreReadByNameAndRefusedByName) {
  const auto read = [](const std::string& text) { return ReadTarget(text, "t.yaml"); };
  EXPECT_FALSE(read("name: x\n").conv);
  const Target target = read("name: x\nconv: {narrow_end: 7, unroll_pixels: 1}\n");
  EXPECT_EQ(target.conv->narrow_end, 7);
  EXPECT_EQ(target.conv->unroll_pixels, 1);
  EXPECT_EQ(target.conv->panel_end, ConvForms{}.panel_end);
  const auto error_of = [&](const std::string& text) { return ErrorOf([&] { read(text); }); };
  EXPECT_EQ(error_of("name: x\nconv:\n  narrow_end: 1\n  tile: 1\n"),
            "t.yaml:4: conv has an unknown key 'tile'; known: narrow_channels, narrow_end, "
            "panel_end, unroll_channels, unroll_pixels, unroll_image, repeat_channels");
  EXPECT_EQ(error_of("name: x\nconv:\n  unroll_pixels: 65\n"),
            "t.yaml:3: conv: unroll_pixels is 65, expected an integer of 1 to 64");
  for (const char* value : {"-1", "1000001", "1.5", "nan", "many", "[1]"}) {
    const std::string error = error_of("name: x\nconv:\n  panel_end: " + std::string(value) + "\n");
    EXPECT_EQ(error.rfind("t.yaml:3: conv: panel_end", 0), 0u) << error;
  }
  for (const char* block : {"conv: 5", "conv: []", "conv: {panel_end: 1, panel_end: 2}"}) {
    const std::string error = error_of("name: x\n" + std::string(block) + "\n");
    EXPECT_EQ(error.rfind("t.yaml:2: ", 0), 0u) << error;
  }
}

TEST(TargetTest, CostIsReadByNameAndRefusedByName) {
  const Target target = ReadTarget("name: x\ncost: {command_ns: 12.5, l2_kib: 512}\n", "t.yaml");
  CostModel expected;
  expected.command_ns = 12.5;
  expected.l2_kib = 512;
  EXPECT_EQ(target.cost, expected);
  const auto error_of = [](const std::string& text) {
    return ErrorOf([&] { ReadTarget(text, "t.yaml"); });
  };
  const std::string unknown = error_of("name: x\ncost:\n  command_ns: 1\n  warp_ns: 1\n");
  EXPECT_EQ(unknown.rfind("t.yaml:4: cost has an unknown key 'warp_ns'", 0), 0u) << unknown;
  for (const char* value : {"0", "-1", "1e10", "nan", "fast", "[1]"}) {
    const std::string error =
        error_of("name: x\ncost:\n  command_ns: " + std::string(value) + "\n");
    EXPECT_EQ(error.rfind("t.yaml:3: cost: command_ns", 0), 0u) << error;
  }
  EXPECT_EQ(error_of("name: x\ncost: 5\n").rfind("t.yaml:2: ", 0), 0u);
  EXPECT_EQ(error_of("name: x\ncost: {l2_kib: 1, l2_kib: 2}\n").rfind("t.yaml:2: ", 0), 0u);
}

TEST(TargetTest, RejectsOtherWidths) {
  EXPECT_THROW(ReadTarget("name: x\nmultiplier_bits: {add: 12}\n", "t.yaml"), Error);
  EXPECT_THROW(ReadTarget("name: x\nmultiplier_bits: {conv: 16}\n", "t.yaml"), Error);
  EXPECT_THROW(ReadTarget("multiplier_bits: {add: 8}\n", "t.yaml"), Error);
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
  EXPECT_NE(MessageOf("lairs: {}\n"), "no error");
  EXPECT_NE(MessageOf(""), "no error");
}

}  // namespace
}  // namespace rshift
