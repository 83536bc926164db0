#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/container/container.h"
#include "tests/codegen/container/sample_program.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Disassemble, OneLinePerCommandWithTensorsAndFieldsThatMatter) {
  const std::string text = Disassemble(SampleProgram());
  EXPECT_EQ(
      text,
      "input  data = data:f32[1x2x2x3]nhwc\n"
      "output prob = prob:f32[1x2x2x2]nhwc\n"
      "   0  quantize       dst=data_q:s8[1x2x2x3]nhwc{0.5,-3} src=data:f32[1x2x2x3]nhwc  ; "
      "quantize\n"
      "   1  conv           dst=conv:u8[1x2x2x2]nhwc{0.25,7} src=data_q:s8[1x2x2x3]nhwc{0.5,-3} "
      "weights=conv.weights:bytes[64] requant=conv.requant:bytes[24] clamp_hi=255  ; conv\n"
      "   2  dequantize     dst=conv_f:f32[1x2x2x2]nhwc src=conv:u8[1x2x2x2]nhwc{0.25,7}  ; "
      "dequantize\n"
      "   3  softmax_f32    dst=prob:f32[1x2x2x2]nhwc src=conv_f:f32[1x2x2x2]nhwc axis=3  ; "
      "softmax\n");
}

TEST(Disassemble, ConstantsOf4BitsSayIt) {
  EXPECT_THAT(Disassemble(SampleProgramOf4Bits()),
              HasSubstr("weights=conv.weights:s4[64] requant=conv.requant:bytes[24]"));
}

TEST(Disassemble, ViewsShowTheirPitch) {
  ProgramImage image = SampleProgram();
  image.tensors[1].pitch = 7;
  EXPECT_THAT(Disassemble(image), HasSubstr("src=data_q:s8[1x2x2x3]nhwc/7{0.5,-3} "));
}

TEST(Disassemble, NamesCannotControlTheTerminal) {
  ProgramImage image = SampleProgram();
  image.tensors[0].name = "a\x1b[2Jb\n";
  image.command_names[0] = "\x07";
  const std::string text = Disassemble(image);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("a\\x1b[2Jb\\x0a"));
  EXPECT_THAT(text, HasSubstr("; \\x07\n"));
}

TEST(Disassemble, TensorsOutOfRangeAreNoProblem) {
  ProgramImage image = SampleProgram();
  image.commands[0].Set(Field::kSrc, 1000);
  EXPECT_THAT(Disassemble(image), HasSubstr("src=none"));
}

}  // namespace
}  // namespace rshift
