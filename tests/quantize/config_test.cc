#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "quantize/quantize.h"

namespace rshift {
namespace {

std::string MessageOf(const std::string& text) {
  try {
    ReadQuantizeConfig(text, "q.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
    return error.what();
  }
  return "no error";
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
  const std::string cpu = SourceFile("configs/targets/cpu.yaml");
  const Target cpu_target = ReadTarget(ReadTextFile(cpu), cpu);
  EXPECT_EQ(cpu_target.add_multiplier_bits, 16);
  EXPECT_EQ(cpu_target.add_multiplier_bits, Target{}.add_multiplier_bits);
  EXPECT_EQ(cpu_target.conv_multiplier_bits, 25);
  EXPECT_EQ(cpu_target.conv_multiplier_bits, Target{}.conv_multiplier_bits);
  EXPECT_TRUE(cpu_target.per_channel_weights);
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

TEST(ConfigTest, TheExampleIsValid) {
  const std::string path = SourceFile("configs/quantize/example.yaml");
  EXPECT_EQ(ReadQuantizeConfig(ReadTextFile(path), path).layers.size(), 4u);
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
  EXPECT_NE(MessageOf("lairs: {}\n"), "no error");
  EXPECT_NE(MessageOf(""), "no error");
}

}  // namespace
}  // namespace rshift
