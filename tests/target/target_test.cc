#include "target/target.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

// Of a target file that is refused.
std::string MessageOf(const std::string& text) {
  return ErrorOf(ErrorCode::kInvalidInput, [&] { ReadTarget(text, "t.yaml"); });
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
  EXPECT_EQ(MessageOf("name: x\nconv:\n  narrow_end: 1\n  tile: 1\n"),
            "t.yaml:4: conv has an unknown key 'tile'; known: narrow_channels, narrow_end, "
            "panel_end, unroll_channels, unroll_pixels, unroll_image, repeat_channels");
  EXPECT_EQ(MessageOf("name: x\nconv:\n  unroll_pixels: 65\n"),
            "t.yaml:3: conv: unroll_pixels is 65, expected an integer of 1 to 64");
  for (const char* value : {"-1", "1000001", "1.5", "nan", "many", "[1]"}) {
    const std::string error =
        MessageOf("name: x\nconv:\n  panel_end: " + std::string(value) + "\n");
    EXPECT_EQ(error.rfind("t.yaml:3: conv: panel_end", 0), 0u) << error;
  }
  for (const char* block : {"conv: 5", "conv: []", "conv: {panel_end: 1, panel_end: 2}"}) {
    const std::string error = MessageOf("name: x\n" + std::string(block) + "\n");
    EXPECT_EQ(error.rfind("t.yaml:2: ", 0), 0u) << error;
  }
}

TEST(TargetTest, CostIsReadByNameAndRefusedByName) {
  const Target target = ReadTarget("name: x\ncost: {command_ns: 12.5, l2_kib: 512}\n", "t.yaml");
  CostModel expected;
  expected.command_ns = 12.5;
  expected.l2_kib = 512;
  EXPECT_EQ(target.cost, expected);
  const std::string unknown = MessageOf("name: x\ncost:\n  command_ns: 1\n  warp_ns: 1\n");
  EXPECT_EQ(unknown.rfind("t.yaml:4: cost has an unknown key 'warp_ns'", 0), 0u) << unknown;
  for (const char* value : {"0", "-1", "1e10", "nan", "fast", "[1]"}) {
    const std::string error =
        MessageOf("name: x\ncost:\n  command_ns: " + std::string(value) + "\n");
    EXPECT_EQ(error.rfind("t.yaml:3: cost: command_ns", 0), 0u) << error;
  }
  EXPECT_EQ(MessageOf("name: x\ncost: 5\n").rfind("t.yaml:2: ", 0), 0u);
  EXPECT_EQ(MessageOf("name: x\ncost: {l2_kib: 1, l2_kib: 2}\n").rfind("t.yaml:2: ", 0), 0u);
}

TEST(TargetTest, ConvolutionsHaveMultipliersOfEightBitsAndMore) {
  for (const int bits : {8, 16, 25, 32}) {
    const std::string text = "name: x\nmultiplier_bits: {conv: " + std::to_string(bits) + "}\n";
    EXPECT_EQ(ReadTarget(text, "t.yaml").conv_multiplier_bits, bits);
  }
  EXPECT_TRUE(ReadTarget("name: x\nactivations: u8\n", "t.yaml").unsigned_activations);
  EXPECT_FALSE(ReadTarget("name: x\nactivations: s8\n", "t.yaml").unsigned_activations);
}

TEST(TargetTest, RejectsOtherWidths) {
  EXPECT_THROW(ReadTarget("name: x\nmultiplier_bits: {add: 12}\n", "t.yaml"), Error);
  EXPECT_THROW(ReadTarget("name: x\nmultiplier_bits: {conv: 12}\n", "t.yaml"), Error);
  EXPECT_THROW(ReadTarget("name: x\nactivations: s16\n", "t.yaml"), Error);
  EXPECT_THROW(ReadTarget("multiplier_bits: {add: 8}\n", "t.yaml"), Error);
}

}  // namespace
}  // namespace rshift
