// Outputs whose size depends on the data, and indices that the data do not have.
#include "runtime/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "codegen/container/output_cuts.h"
#include "tests/base/error_of.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// x [2, 3] f32 -> where it is not 0 (list), as they are and transposed: [6] and, cut in the middle,
// a copy [2, 6, 2] of another input; the count is output 2.
ProgramBuilder Program3() {
  ProgramBuilder b;
  const int32_t x = b.Input({DType::kF32, {2, 3}}), wide = b.Input({DType::kS32, {2, 6, 2}});
  const int32_t list = b.Arena({DType::kS64, {7}});
  const int32_t places = b.Output({DType::kS64, {6}}), copy = b.Output({DType::kS32, {2, 6, 2}});
  const int32_t count = b.Output({DType::kS64, {1}});
  const int32_t zero = b.List({0}), one = b.List({1}), zeros = b.List({0, 0, 0}),
                ones = b.List({1, 1, 1});
  b.Add(Opcode::kNonZero, list, x);
  b.Add(Opcode::kSlice, places, list).Set(Field::kList, one).Set(Field::kList2, one);
  b.Add(Opcode::kSlice, count, list).Set(Field::kList, zero).Set(Field::kList2, one);
  b.Add(Opcode::kSlice, copy, wide).Set(Field::kList, zeros).Set(Field::kList2, ones);
  b.image.meta[kOutputCutsKey] = OutputCutsText({{0, 2, 0}, {1, 2, 1}});
  return b;
}

template <typename T>
std::vector<T> Numbers(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

template <typename T>
void Fill(Session& session, int input, const std::vector<T>& values) {
  ASSERT_EQ(session.Input(input).size(), values.size() * sizeof(T));
  std::memcpy(session.Input(input).data(), values.data(), values.size() * sizeof(T));
}

TEST(Outputs, AreCutToWhatCounts) {
  const Program program = Program3().Build();
  Session session(program, {.threads = 2, .least_share_ns = 0});
  std::vector<int32_t> wide(24);
  for (int32_t i = 0; i < 24; ++i) wide[static_cast<size_t>(i)] = i;
  const auto run = [&](const std::vector<float>& x) {
    Fill(session, 0, x);
    Fill(session, 1, wide);
    session.Run();
  };
  run({0, 5, 0, 0, 0, -1});
  EXPECT_EQ(OutputShape(program, session, 0), (Shape{2}));
  EXPECT_EQ(OutputShape(program, session, 1), (Shape{2, 2, 2}));
  EXPECT_EQ(OutputShape(program, session, 2), (Shape{1}));
  EXPECT_EQ(Numbers<int64_t>(OutputBytes(program, session, 0)), (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(Numbers<int32_t>(OutputBytes(program, session, 1)),
            (std::vector<int32_t>{0, 1, 2, 3, 12, 13, 14, 15}));
  EXPECT_EQ(Numbers<int64_t>(OutputBytes(program, session, 2)), (std::vector<int64_t>{2}));
  run({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(OutputShape(program, session, 1), (Shape{2, 0, 2}));
  EXPECT_TRUE(OutputBytes(program, session, 1).empty());
  run({1, 1, 1, 1, 1, 1});
  EXPECT_EQ(Numbers<int32_t>(OutputBytes(program, session, 1)), wide);
}

TEST(Outputs, MetadataThatDoesNotFitIsRefused) {
  EXPECT_EQ(LoadError(Program3()), kNoError);
  for (const char* text :
       {"", "0:0", "0:0:3", "3:0:2", "0:1:2", "0:0:2 0:0:2", "0:0:1", "2:0:2", "0:0:2 ", " 0:0:2",
        "-1:0:2", "0:0:2:1", "0:0:2 2:0:0", "0:0:0x2", "99999999999999999999:0:2"}) {
    SCOPED_TRACE(text);
    ProgramBuilder b = Program3();
    b.image.meta[kOutputCutsKey] = text;
    EXPECT_THAT(ErrorOf(ErrorCode::kCorrupt, [&] { OutputCuts(b.image, "net"); }),
                HasSubstr("net: metadata 'output_cuts' is '"));
    // Readers ask for it, and so does the writer.
    EXPECT_THROW(b.File(), Error);
  }
}

TEST(Outputs, ADamagedCountStaysInsideTheTensor) {
  // The count is an input here: any number.
  ProgramBuilder b;
  const int32_t x = b.Input({DType::kS64, {1}}), y = b.Output({DType::kS64, {3}}),
                count = b.Output({DType::kS64, {1}});
  b.Add(Opcode::kExpand, y, x);
  b.Add(Opcode::kExpand, count, x);
  b.image.meta[kOutputCutsKey] = OutputCutsText({{0, 1, 0}});
  const Program program = b.Build();
  Session session(program);
  for (const int64_t number : {int64_t{-5}, int64_t{2}, INT64_MAX}) {
    Fill<int64_t>(session, 0, {number});
    session.Run();
    const Shape shape = OutputShape(program, session, 0);
    EXPECT_EQ(shape, (Shape{std::clamp<int64_t>(number, 0, 3)}));
    EXPECT_EQ(OutputBytes(program, session, 0).size(), 8 * static_cast<size_t>(shape[0]));
  }
}

// Rows of `chunk` bytes by computed indices.
std::string FaultOf(const std::vector<int64_t>& indices, int64_t chunk, int threads) {
  ProgramBuilder b;
  const auto count = static_cast<int64_t>(indices.size());
  const int32_t src = b.Input({DType::kS8, {4, chunk}}), at = b.Input({DType::kS64, {count}});
  b.Add(Opcode::kGather, b.Output({DType::kS8, {count, chunk}}), src).Set(Field::kSrc2, at);
  b.image.command_names = {"rows"};
  const Program program = b.Build();
  Session session(program, {.threads = threads, .least_share_ns = 0});
  Fill(session, 0, Bytes(static_cast<size_t>(4 * chunk), 7));
  Fill(session, 1, indices);
  session.Run();
  const std::string fault = session.Fault();
  // The first one that is outside gives zeros.
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool inside = indices[i] >= -4 && indices[i] < 4;
    EXPECT_EQ(static_cast<int>(session.Output(0)[i * static_cast<size_t>(chunk)]), inside ? 7 : 0);
  }
  // Another run forgets it.
  Fill(session, 0, Bytes(static_cast<size_t>(4 * chunk), 7));
  Fill(session, 1, std::vector<int64_t>(indices.size(), 1));
  session.Run();
  EXPECT_EQ(session.Fault(), "");
  EXPECT_NO_THROW(RequireNoFault(program, session));
  return fault;
}

TEST(Outputs, AnIndexOutsideOfTheAxisIsAFault) {
  std::vector<int64_t> many(300, 2);
  many[120] = -5, many[290] = 9;
  for (const int64_t chunk : {1, 64, 40000}) {
    for (const int threads : {1, 3}) {
      EXPECT_EQ(FaultOf({0, 3, -4, 1}, chunk, threads), "");
      EXPECT_EQ(FaultOf({0, 4}, chunk, threads),
                "command 0 (gather 'rows'): index 4 (element 1 of src2) is outside an axis of 4");
      EXPECT_EQ(
          FaultOf(many, chunk, threads),
          "command 0 (gather 'rows'): index -5 (element 120 of src2) is outside an axis of 4");
      EXPECT_THAT(FaultOf({INT64_MIN, INT64_MAX}, chunk, threads),
                  HasSubstr("(element 0 of src2)"));
    }
  }
}

TEST(Outputs, AFaultIsAnErrorThatNamesTheProgram) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kF32, {3}}), at = b.Input({DType::kS32, {1}});
  b.Add(Opcode::kGather, b.Output({DType::kF32, {1}}), src).Set(Field::kSrc2, at);
  const Program program = b.Build();
  Session session(program);
  Fill<float>(session, 0, {1, 2, 3});
  Fill<int32_t>(session, 1, {3});
  session.RunObserved([](int) {});
  EXPECT_THAT(ErrorOf(ErrorCode::kInvalidInput, [&] { RequireNoFault(program, session); }),
              HasSubstr(program.where() + ": command 0 (gather): index 3"));
}

}  // namespace
}  // namespace rshift::testing
