#include "codegen/container/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/base/error_of.h"
#include "tests/codegen/container/sample_program.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

std::string MessageOf(const std::vector<uint8_t>& file) {
  return ErrorOf(ErrorCode::kCorrupt, [&] { ReadContainer(file, "net.rshift"); });
}

TEST(Container, KeepsEveryPartOfAProgram) {
  const ProgramImage image = SampleProgram();
  const std::vector<uint8_t> file = WriteContainer(image);
  const ContainerView view = ReadContainer(file, "net.rshift");
  EXPECT_EQ(view.image.meta, image.meta);
  EXPECT_EQ(view.image.arena_size, image.arena_size);
  EXPECT_EQ(view.image.commands, image.commands);
  EXPECT_EQ(view.image.command_names, image.command_names);
  ASSERT_EQ(view.image.tensors.size(), image.tensors.size());
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    const TensorRecord &a = view.image.tensors[i], &b = image.tensors[i];
    EXPECT_EQ(std::tie(a.name, a.dtype, a.layout, a.region, a.quantized, a.scale, a.zero_point,
                       a.shape, a.offset, a.pitch),
              std::tie(b.name, b.dtype, b.layout, b.region, b.quantized, b.scale, b.zero_point,
                       b.shape, b.offset, b.pitch));
  }
  ASSERT_EQ(view.image.inputs.size(), 1u);
  EXPECT_EQ(view.image.inputs[0].name, "data");
  ASSERT_EQ(view.image.outputs.size(), 1u);
  EXPECT_EQ(view.image.outputs[0].tensor, 4);
  EXPECT_TRUE(view.image.constants.empty());
  EXPECT_EQ(std::vector<uint8_t>(view.constants.begin(), view.constants.end()), image.constants);
}

TEST(Container, ConstantsStartOnAPageAndPointIntoTheFile) {
  const std::vector<uint8_t> file = WriteContainer(SampleProgram());
  const ContainerView view = ReadContainer(file, "net.rshift");
  EXPECT_EQ(view.constants_offset % 4096, 0u);
  EXPECT_EQ(view.constants.data(), file.data() + view.constants_offset);
}

TEST(Container, TheSameProgramGivesTheSameBytes) {
  const std::vector<uint8_t> file = WriteContainer(SampleProgram());
  EXPECT_EQ(file, WriteContainer(SampleProgram()));
  ContainerView view = ReadContainer(file, "net.rshift");
  view.image.constants.assign(view.constants.begin(), view.constants.end());
  EXPECT_EQ(file, WriteContainer(view.image));
}

TEST(Container, AStrippedProgramHasNoDebugSection) {
  ProgramImage image = SampleProgram();
  image.command_names.clear();
  const std::vector<uint8_t> file = WriteContainer(image);
  const ContainerView view = ReadContainer(file, "net.rshift");
  EXPECT_TRUE(view.image.command_names.empty());
  for (const ContainerView::Section& section : view.sections) EXPECT_NE(section.kind, "DBUG");
}

TEST(Container, AProgramWithoutCommandsAndConstantsIsPossible) {
  ProgramImage image;
  image.constants.resize(64);
  image.arena_size = 64;
  EXPECT_NO_THROW(ReadContainer(WriteContainer(image), "net.rshift"));
}

// However a reader walks through the constants, each byte counts once.
TEST(Container, ConstantsAreCheckedInPieces) {
  const std::vector<uint8_t> file = WriteContainer(SampleProgram());
  const ContainerView view = ReadStructure(file, "net.rshift");
  const uint64_t size = view.constants.size();
  for (const std::vector<uint64_t>& ends : std::vector<std::vector<uint64_t>>{
           {}, {0}, {1, 64, 64, 3}, {size}, {size / 2, UINT64_MAX}}) {
    ConstantsCheck check(view, "net.rshift");
    for (const uint64_t end : ends) check.ReadTo(end);
    EXPECT_NO_THROW(check.Finish());
  }
}

TEST(Container, DamagedConstantsPassForStructureOnly) {
  std::vector<uint8_t> file = WriteContainer(SampleProgram());
  const size_t constants = SampleProgram().constants.size();
  for (size_t at = file.size() - constants; at < file.size(); ++at) {
    file[at] ^= 4;
    const ContainerView view = ReadStructure(file, "net.rshift");
    ConstantsCheck check(view, "net.rshift");
    check.ReadTo(100);
    EXPECT_THROW(check.Finish(), Error) << "byte " << at;
    EXPECT_THROW(ReadContainer(file, "net.rshift"), Error) << "byte " << at;
    file[at] ^= 4;
  }
}

TEST(Container, MessagesSayWhatIsWrong) {
  EXPECT_THAT(MessageOf({}), HasSubstr("net.rshift: file has 0 bytes"));
  EXPECT_THAT(MessageOf(std::vector<uint8_t>(100, 'x')), HasSubstr("not an Rshift program"));
  std::vector<uint8_t> file = WriteContainer(SampleProgram());
  std::vector<uint8_t> shorter(file.begin(), file.end() - 1);
  EXPECT_THAT(MessageOf(shorter), HasSubstr("cut off"));
  std::vector<uint8_t> longer = file;
  longer.push_back(0);
  EXPECT_THAT(MessageOf(longer), HasSubstr("followed by other bytes"));
  std::vector<uint8_t> damaged = file;
  damaged[damaged.size() - 100] ^= 1;
  EXPECT_THAT(MessageOf(damaged), HasSubstr("checksum differs"));
}

// conv and its output as views of wider tensors, at an odd offset.
ProgramImage ViewProgram() {
  ProgramImage image = SampleProgram();
  image.tensors[1].offset = 67;  // data_q [1, 2, 2, 3]
  image.tensors[1].pitch = 7;
  image.tensors[2].offset = 129;  // conv [1, 2, 2, 2]
  image.tensors[2].pitch = 3;
  return image;
}

TEST(Container, ViewsKeepTheirPitchAndNeedAFeature) {
  constexpr size_t kFeatures = 0x20;
  EXPECT_EQ(WriteContainer(SampleProgram())[kFeatures], 1);
  const std::vector<uint8_t> file = WriteContainer(ViewProgram());
  EXPECT_EQ(file[kFeatures], 1 | 4);
  const ContainerView view = ReadContainer(file, "net.rshift");
  EXPECT_EQ(view.image.tensors[1].pitch, 7u);
  EXPECT_EQ(view.image.tensors[1].extent(), 3u * 7 + 3);
  ProgramImage image = SampleProgram();
  image.tensors[2].offset = 129;  // without a pitch
  EXPECT_EQ(WriteContainer(image)[kFeatures], 1 | 4);
}

// Programs without such constants keep their bytes; older readers name what they lack.
TEST(Container, AConstantThatBroadcastsNeedsAFeature) {
  constexpr size_t kFeatures = 0x20;
  ProgramImage image = SampleProgram();
  TensorRecord constant = image.tensors[1];  // data_q [1, 2, 2, 3]
  constant.name = "ones";
  constant.region = Region::kConst;
  constant.offset = 0;
  image.tensors.push_back(constant);
  const auto last = static_cast<int32_t>(image.tensors.size()) - 1;
  Command add = NewCommand(Opcode::kAdd);
  add.Set(Field::kDst, 1).Set(Field::kSrc, 1).Set(Field::kSrc2, last);
  image.commands.insert(image.commands.begin() + 1, add);
  image.command_names.insert(image.command_names.begin() + 1, "add");
  EXPECT_EQ(WriteContainer(image)[kFeatures], 1);
  image.tensors[last].shape = {3};
  image.tensors[last].layout = Layout::kPlain;
  EXPECT_EQ(WriteContainer(image)[kFeatures], 1 | 32);
}

// Two numbers to a byte in the file, one in memory; older readers refuse the feature bit.
TEST(Container, ConstantsOf4BitsTakeHalfTheBytes) {
  const ProgramImage image = SampleProgramOf4Bits();
  const std::vector<uint8_t> file = WriteContainer(image);
  EXPECT_EQ(file[0x20], 1 | 128);
  const ContainerView view = ReadContainer(file, "net.rshift");
  EXPECT_EQ(std::vector<uint8_t>(view.constants.begin(), view.constants.end()), image.constants);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.constants.data()) % 64, 0u);
  EXPECT_EQ(view.image.constants_of_4_bits, 64u);
  ASSERT_EQ(view.sections.size(), 7u);
  const ContainerView::Section& packed = view.sections[6];
  EXPECT_EQ(packed.kind, "CNS4");
  EXPECT_EQ(packed.size, (image.constants.size() - 64) / 2);
  EXPECT_EQ(view.sections[5].size, 64u);
  // conv.weights, of the first K step {1, -2, 3, 0} and {4, 5, -6, 0}: the first in the low half.
  EXPECT_EQ(std::vector<uint8_t>(file.begin() + static_cast<int64_t>(packed.offset),
                                 file.begin() + static_cast<int64_t>(packed.offset) + 5),
            (std::vector<uint8_t>{0xe1, 0x03, 0x54, 0x0a, 0x00}));
  ProgramImage again = view.image;
  again.constants.assign(view.constants.begin(), view.constants.end());
  EXPECT_EQ(WriteContainer(again), file);
  EXPECT_TRUE(Has4Bits(image, image.tensors[5]) && !Has4Bits(image, image.tensors[6]) &&
              !Has4Bits(image, image.tensors[0]));
}

TEST(Container, RefusesConstantsOf4BitsThatAreNone) {
  const auto refuses = [](auto change) {
    ProgramImage image = SampleProgramOf4Bits();
    EXPECT_NO_THROW(WriteContainer(image));
    change(image);
    EXPECT_THROW(WriteContainer(image), Error);
  };
  refuses([](ProgramImage& image) { image.constants[64] = 8; });
  refuses([](ProgramImage& image) { image.constants[65] = 0xf7; });  // -9
  refuses([](ProgramImage& image) { image.constants_of_4_bits = 32; });
  refuses([](ProgramImage& image) { image.constants_of_4_bits = 0; });  // the records, too
  refuses([](ProgramImage& image) { image.constants_of_4_bits = 1024; });
  refuses([](ProgramImage& image) { image.tensors[5].dtype = DType::kS8; });
  refuses([](ProgramImage& image) { image.tensors[6].shape = {88}; });  // in both
  refuses([](ProgramImage& image) { image.constants.back() = 1; });     // belongs to no tensor
}

TEST(Container, DamagedConstantsOf4BitsAreNoStructure) {
  std::vector<uint8_t> file = WriteContainer(SampleProgramOf4Bits());
  const ContainerView::Section packed = ReadContainer(file, "net.rshift").sections[6];
  for (uint64_t at = packed.offset; at < packed.offset + packed.size; ++at) {
    file[at] ^= 1;
    EXPECT_THROW(ReadStructure(file, "net.rshift"), Error) << "byte " << at;
    file[at] ^= 1;
  }
}

TEST(Container, RefusesPitchesThatAreNone) {
  const auto refuses = [](auto change) {
    ProgramImage image = ViewProgram();
    change(image);
    EXPECT_THROW(WriteContainer(image), Error);
  };
  refuses([](ProgramImage& image) { image.tensors[1].pitch = 3; });  // dense: written as 0
  refuses([](ProgramImage& image) { image.tensors[1].pitch = 2; });
  refuses([](ProgramImage& image) { image.tensors[1].pitch = 95; });  // leaves the arena
  refuses([](ProgramImage& image) { image.tensors[1].pitch = 0xffffffff; });
  refuses([](ProgramImage& image) { image.tensors[1].shape = {3}; });     // one row
  refuses([](ProgramImage& image) { image.tensors[1].shape = {2, 0}; });  // none
  refuses([](ProgramImage& image) { image.tensors[0].pitch = 16; });      // an input
  refuses([](ProgramImage& image) { image.tensors[4].pitch = 12; });      // an output
  refuses([](ProgramImage& image) { image.tensors[4].offset += 4; });
  refuses([](ProgramImage& image) { image.tensors[3].pitch = 12; });  // softmax_f32 reads no view
  refuses([](ProgramImage& image) { image.tensors[3].offset += 4; });
  refuses([](ProgramImage& image) { image.tensors[5].offset = 1; });  // a constant
  refuses([](ProgramImage& image) { image.tensors[6].pitch = 13; });
}

TEST(Container, RowsOfElementsLieWholeElementsApart) {
  ProgramImage image = SampleProgram();
  image.arena_size += 64;
  image.commands.pop_back();
  image.command_names.pop_back();
  image.outputs.clear();
  image.tensors[3].pitch = 12;  // conv_f, f32 [1, 2, 2, 2], written by dequantize
  image.tensors[3].offset += 4;
  EXPECT_NO_THROW(WriteContainer(image));
  image.tensors[3].pitch = 13;
  EXPECT_THROW(WriteContainer(image), Error);
  image.tensors[3].pitch = 12;
  image.tensors[3].offset += 1;
  EXPECT_THROW(WriteContainer(image), Error);
}

TEST(Container, TheWriterRefusesWhatReadersRefuse) {
  const auto refuses = [](auto change) {
    ProgramImage image = SampleProgram();
    change(image);
    EXPECT_THROW(WriteContainer(image), Error);
  };
  refuses([](ProgramImage& image) { image.arena_size = 256 + 32 + 63; });  // slack
  refuses([](ProgramImage& image) { image.tensors[0].offset = 32; });
  refuses([](ProgramImage& image) { image.constants.resize(image.constants.size() - 64); });
  refuses([](ProgramImage& image) { image.tensors[1].name = "data"; });
  refuses([](ProgramImage& image) { image.outputs[0].tensor = 5; });  // a constant
  refuses([](ProgramImage& image) { image.outputs[0].tensor = 99; });
  refuses([](ProgramImage& image) { image.commands[1].Set(Field::kWeights, 0); });
  refuses([](ProgramImage& image) { image.commands[1].Set(Field::kDst, 5); });
  refuses([](ProgramImage& image) { image.command_names.pop_back(); });
  refuses([](ProgramImage& image) { image.constants.back() = 1; });  // not zero between tensors
}

}  // namespace
}  // namespace rshift
