#include "isa/isa.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "base/error.h"
#include "tests/isa/random_fields.h"

namespace rshift {
namespace {

using namespace rshift::testing;

std::vector<Command> RandomProgram(std::mt19937_64& random) {
  std::vector<Command> commands(RandomIn(random, 0, 20));
  for (Command& command : commands) {
    const OpSpec& spec = IsaTable()[RandomIn(random, 0, IsaTable().size() - 1)];
    command.opcode = spec.opcode;
    for (const FieldSpec& field : spec.fields) command.Set(field.field, RandomValue(field, random));
  }
  return commands;
}

ErrorCode CodeOf(const std::vector<uint8_t>& bytes) {
  try {
    DecodeCommands(bytes, kTensors);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "decoded";
  return ErrorCode::kInternal;
}

// Decodes to commands that encode to the same bytes, or fails as corrupt.
void ExpectCanonicalOrCorrupt(const std::vector<uint8_t>& bytes) {
  try {
    const std::vector<Command> commands = DecodeCommands(bytes, kTensors);
    EXPECT_EQ(EncodeCommands(commands), bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << error.what();
  }
}

TEST(IsaTable, NamesAreUniqueAndEveryOpcodeIsFound) {
  std::set<std::string> names;
  for (const OpSpec& spec : IsaTable()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(FindOp(spec.opcode), &spec);
    EXPECT_FALSE(std::string(spec.summary).empty()) << spec.name;
  }
  EXPECT_EQ(FindOp(Opcode::kEnd), nullptr);
  EXPECT_EQ(FindOp(static_cast<Opcode>(200)), nullptr);
}

TEST(IsaTable, EveryOpcodeWritesOneTensorAndNamesItsFieldsOnce) {
  for (const OpSpec& spec : IsaTable()) {
    std::set<Field> fields;
    int written = 0;
    for (const FieldSpec& field : spec.fields) {
      EXPECT_TRUE(fields.insert(field.field).second) << spec.name << ' ' << Name(field.field);
      EXPECT_STRNE(Name(field.field), "?") << spec.name;
      EXPECT_LE(field.lo, field.hi) << spec.name << ' ' << Name(field.field);
      written += field.kind == FieldKind::kTensorOut ? 1 : 0;
    }
    EXPECT_EQ(written, 1) << spec.name;
    EXPECT_LE(spec.fields.size(), 63u) << spec.name;
  }
}

TEST(IsaTable, ComputingInF32IsToldFromMovingData) {
  EXPECT_TRUE(IsFloatCompute(Opcode::kConvF32));
  EXPECT_TRUE(IsFloatCompute(Opcode::kSoftmaxF32));
  EXPECT_FALSE(IsFloatCompute(Opcode::kConv));
  EXPECT_FALSE(IsFloatCompute(Opcode::kTranspose));
  EXPECT_FALSE(IsFloatCompute(Opcode::kMaxPool));
}

TEST(NewCommandTest, DefaultsAreEncodableAndOptionalTensorsAbsent) {
  for (const OpSpec& spec : IsaTable()) {
    EXPECT_NO_THROW(EncodeCommands(std::vector{NewCommand(spec.opcode)})) << spec.name;
  }
  const Command conv = NewCommand(Opcode::kConvF32);
  EXPECT_EQ(conv.Tensor(Field::kSrc3), -1);
  EXPECT_EQ(conv.Get(Field::kStrideH), 1);
  EXPECT_EQ(conv.GetFloat(Field::kClampHiF), std::numeric_limits<float>::infinity());
}

// A worked example: dst 1, src 0, then dst 2, src 1 of the same fields.
TEST(EncodeCommands, WorkedExample) {
  const std::vector<Command> commands = {
      NewCommand(Opcode::kQuantize).Set(Field::kDst, 1).Set(Field::kSrc, 0),
      NewCommand(Opcode::kDequantize).Set(Field::kDst, 2).Set(Field::kSrc, 1),
  };
  const std::vector<uint8_t> expected = {
      1, 0b01, 2,     // quantize: dst differs from 0, by +1
      2, 0b11, 2, 2,  // dequantize: dst by +1, src by +1
      0,              // end
  };
  EXPECT_EQ(EncodeCommands(commands), expected);
}

TEST(EncodeCommands, RandomProgramsComeBack) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::vector<Command> commands = RandomProgram(random);
    const std::vector<uint8_t> bytes = EncodeCommands(commands);
    const std::vector<Command> decoded = DecodeCommands(bytes, kTensors);
    ASSERT_EQ(decoded, commands);
    ASSERT_EQ(EncodeCommands(decoded), bytes);
  }
}

TEST(EncodeCommands, RefusesValuesOutsideTheTable) {
  for (const auto& [field, value] : std::vector<std::pair<Field, int64_t>>{
           {Field::kStrideH, 0}, {Field::kClampHiQ, 256}, {Field::kSrc, -1}, {Field::kZeroW, -2}}) {
    const std::vector<Command> commands = {NewCommand(Opcode::kConv).Set(field, value)};
    EXPECT_THROW(EncodeCommands(commands), Error) << Name(field);
  }
  Command nan = NewCommand(Opcode::kClipF32);
  nan.SetFloat(Field::kClampLoF, std::nanf(""));
  EXPECT_THROW(EncodeCommands(std::vector{nan}), Error);
}

TEST(DecodeCommands, RejectsEverythingThatIsNotCanonical) {
  EXPECT_EQ(CodeOf({}), ErrorCode::kCorrupt) << "empty";
  EXPECT_EQ(CodeOf({1, 0}), ErrorCode::kCorrupt) << "no end";
  EXPECT_EQ(CodeOf({0, 0}), ErrorCode::kCorrupt) << "bytes after the end";
  EXPECT_EQ(CodeOf({99, 0, 0}), ErrorCode::kCorrupt) << "unknown opcode";
  EXPECT_EQ(CodeOf({2, 0b100, 2, 0}), ErrorCode::kCorrupt) << "unknown bit in the mask";
  EXPECT_EQ(CodeOf({1, 0b01, 0, 0}), ErrorCode::kCorrupt) << "present but unchanged";
  EXPECT_EQ(CodeOf({1, 0x81, 0x00, 2, 0}), ErrorCode::kCorrupt) << "mask longer than needed";
  EXPECT_EQ(CodeOf({1, 0b01, 0x82, 0x00, 0}), ErrorCode::kCorrupt) << "value longer than needed";
  EXPECT_EQ(CodeOf({1, 0b01, 1, 0}), ErrorCode::kCorrupt) << "tensor -1";
  EXPECT_EQ(CodeOf({1, 0b01, 0xd0, 0x0f, 0}), ErrorCode::kCorrupt) << "tensor 1000";
  EXPECT_EQ(CodeOf({1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0}),
            ErrorCode::kCorrupt)
      << "70-bit number";
}

TEST(DecodeCommands, BoundsTheNumberOfCommands) {
  std::vector<uint8_t> bytes(2 * (kMaxCommands + 1) + 1, 0);
  for (int64_t i = 0; i <= kMaxCommands; ++i) bytes[2 * i] = 1;
  EXPECT_EQ(CodeOf(bytes), ErrorCode::kCorrupt);
}

TEST(DecodeCommands, EveryMutationIsCanonicalOrCorruptAndEveryTruncationCorrupt) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::vector<uint8_t> bytes = EncodeCommands(RandomProgram(random));
    for (size_t at = 0; at < bytes.size(); ++at) {
      EXPECT_EQ(CodeOf({bytes.begin(), bytes.begin() + at}), ErrorCode::kCorrupt);
      std::vector<uint8_t> mutant = bytes;
      for (int change = 1; change < 256; change += 1 + static_cast<int>(random() % 16)) {
        mutant[at] = static_cast<uint8_t>(bytes[at] ^ change);
        ExpectCanonicalOrCorrupt(mutant);
      }
    }
  }
}

TEST(DecodeCommands, RandomBytesAreCanonicalOrCorrupt) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes(RandomIn(random, 0, 40));
    // Small numbers, so that many streams get past the first command.
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>(random() % (random() % 4 == 0 ? 256 : 30));
    ExpectCanonicalOrCorrupt(bytes);
  }
}

}  // namespace
}  // namespace rshift
