// The last look at a program before it is written.
#include "pipeline/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/container/container.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

// src + src2 -> dst by an addition with these words.
std::vector<uint8_t> Addition(int64_t rshift, uint64_t arena) {
  ProgramImage image;
  for (const char* name : {"a", "b", "c"}) {
    TensorRecord tensor;
    tensor.name = name;
    tensor.dtype = DType::kS8;
    tensor.quantized = true;
    tensor.scale = 1.0f;
    tensor.shape = {64};
    tensor.offset = 64 * image.tensors.size();
    image.tensors.push_back(tensor);
  }
  image.inputs = {{"a", 0}, {"b", 1}};
  image.outputs = {{"c", 2}};
  image.arena_size = arena;
  Command command = NewCommand(Opcode::kAddShifted);
  command.Set(Field::kDst, 2).Set(Field::kSrc, 0).Set(Field::kSrc2, 1);
  command.Set(Field::kRshift, rshift).Set(Field::kRshift2, 31).Set(Field::kClampHiQ, 127);
  image.commands = {command};
  image.command_names = {"residual/Add"};
  return WriteContainer(image);
}

TEST(CheckOwnProgram, AProgramThatLoadsHasNothingToSay) {
  EXPECT_EQ(CheckOwnProgram(Addition(31, 256), "net.rshift"), "");
}

TEST(CheckOwnProgram, WhatItsOwnLoaderRefusesIsAnInternalErrorNamingTheNode) {
  EXPECT_THAT(
      ErrorOf(ErrorCode::kInternal, [] { CheckOwnProgram(Addition(0, 256), "net.rshift"); }),
      HasSubstr("net.rshift: command 0 (add_shifted 'residual/Add'): "
                "rshift is 0, expected at least 31: the program made of"));
}

TEST(CheckOwnProgram, AProgramAboveTheDefaultLimitsIsWarnedOf) {
  EXPECT_THAT(CheckOwnProgram(Addition(31, uint64_t{1} << 36), "net.rshift"),
              HasSubstr("68719476736 bytes of arena, expected at most 17179869184; where that is "
                        "meant, allow it: --limits arena=68719476736"));
}

}  // namespace
}  // namespace rshift
