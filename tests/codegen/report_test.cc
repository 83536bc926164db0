#include "codegen/memory/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rshift {
namespace {

using ::testing::HasSubstr;

int32_t AddTensor(ProgramImage& image, const char* name, int64_t bytes, uint64_t offset) {
  TensorRecord tensor;
  tensor.name = name;
  tensor.dtype = DType::kU8;
  tensor.shape = {bytes};
  tensor.offset = offset;
  image.tensors.push_back(tensor);
  return static_cast<int32_t>(image.tensors.size()) - 1;
}

void AddCopy(ProgramImage& image, int32_t src, int32_t dst) {
  image.commands.push_back(NewCommand(Opcode::kExpand).Set(Field::kSrc, src).Set(Field::kDst, dst));
}

// in -> a -> (view of a) -> b -> out; b lies where nothing lives any more.
ProgramImage Chain() {
  ProgramImage image;
  const int32_t in = AddTensor(image, "in", 64, 0), a = AddTensor(image, "a", 128, 64),
                view = AddTensor(image, "view", 128, 64), b = AddTensor(image, "b", 64, 192),
                c = AddTensor(image, "c", 100, 64), out = AddTensor(image, "out", 64, 256);
  AddCopy(image, in, a);
  AddCopy(image, in, out);
  AddCopy(image, view, b);
  AddCopy(image, b, c);
  AddCopy(image, c, out);
  image.inputs = {{"in", in}};
  image.outputs = {{"out", out}};
  image.arena_size = 320 + 64;
  image.constants.resize(64);
  return image;
}

const ArenaBlock& Find(const MemoryReport& report, const std::string& name) {
  for (const ArenaBlock& block : report.blocks) {
    if (block.name == name) return block;
  }
  ADD_FAILURE() << name;
  return report.blocks[0];
}

TEST(AnalyzeMemory, ViewsAreOneBlockWithTheTensorTheyShow) {
  const MemoryReport report = AnalyzeMemory(Chain());
  EXPECT_EQ(report.arena, 320u);
  EXPECT_EQ(report.slack, 64u);  // both together are the arena that `info` names
  EXPECT_THAT(MemoryMap(report), HasSubstr("arena       384 bytes, of which 64 behind"));
  EXPECT_EQ(report.blocks.size(), 5u);
  const ArenaBlock& a = Find(report, "a");
  EXPECT_EQ(a.buffer.first, 0);
  EXPECT_EQ(a.buffer.last, 2);              // the view's last use
  const ArenaBlock& c = Find(report, "c");  // the same address later is another block
  EXPECT_EQ(c.buffer.first, 3);
  EXPECT_EQ(c.buffer.last, 4);
}

TEST(AnalyzeMemory, CountsArenaAndLowerBound) {
  const MemoryReport report = AnalyzeMemory(Chain());
  EXPECT_EQ(report.arena, 320u);
  EXPECT_EQ(report.lower_bound, 64u + 64u + 128u);  // out, a and one of in and b
  EXPECT_EQ(report.constants, 64u);
}

TEST(MemoryMap, ShowsNumbersMapAndBlocks) {
  const std::string text = MemoryMap(AnalyzeMemory(Chain()), 5, 5);
  EXPECT_THAT(text, HasSubstr("lower bound 256 bytes\n"));
  EXPECT_THAT(text, HasSubstr("gap         64 bytes\n"));
  EXPECT_THAT(text, HasSubstr("           0 |AA...|\n"));  // the input, read twice
  EXPECT_THAT(text, HasSubstr("          64 |BBBEE|\n"));  // a, then c
  EXPECT_THAT(text, HasSubstr("         192 |..DD.|\n"));  // b
  EXPECT_THAT(text, HasSubstr("commands 0..2  a\n"));
}

TEST(MemoryMap, AnEmptyProgramIsNoProblem) {
  EXPECT_THAT(MemoryMap(AnalyzeMemory(ProgramImage{})), HasSubstr("arena       0 bytes"));
}

}  // namespace
}  // namespace rshift
