// The C++ interface over the C one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "rshift/rshift.hpp"
#include "tests/rshift/sample_file.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

rshift::Program Sample() {
  const std::vector<std::uint8_t> file = SampleFile();
  return rshift::Program::FromMemory(file.data(), file.size());
}

TEST(CppApi, LoadsLooksAndRuns) {
  const rshift::Program program = Sample();
  EXPECT_EQ(program.Metadata("model"), "sample");
  EXPECT_EQ(program.Metadata("none"), "");
  ASSERT_EQ(program.Inputs().size(), 1u);
  const rshift::Tensor input = program.Inputs()[0];
  EXPECT_THAT(input.shape, ElementsAre(2, 3));
  EXPECT_EQ(input.type, RSHIFT_S8);
  EXPECT_TRUE(input.quantized);
  EXPECT_EQ(input.scale, 0.5f);
  EXPECT_EQ(input.zero_point, 1);
  EXPECT_EQ(program.Outputs().at(0).elements, 6u);
  rshift::Session session(program, 2);
  session.Set(0, {0, 1, 2, 3, 4, 500});
  session.Run();
  EXPECT_THAT(session.Get(0), ElementsAre(0, 1, 2, 3, 4, 63));
  EXPECT_THAT(session.GetBytes(0), ElementsAre(1, 3, 5, 7, 9, 127));
  EXPECT_EQ(session.Output(0).bytes, 6u);
  const std::vector<std::uint8_t> bytes(6, 5);
  session.SetBytes(0, bytes.data(), bytes.size());
  session.Run();
  EXPECT_THAT(session.Get(0), ElementsAre(2, 2, 2, 2, 2, 2));
}

TEST(CppApi, ASessionKeepsItsProgramAndMoves) {
  std::optional<rshift::Program> program(Sample());
  rshift::Session first(*program, 1);
  program.reset();
  rshift::Session session = std::move(first);
  session.Set(0, std::vector<float>(6, 1.5f));
  session.Run();
  EXPECT_THAT(session.Get(0), ElementsAre(1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f));
}

TEST(CppApi, ThrowsStatusAndText) {
  rshift::Session session(Sample());
  try {
    session.Set(0, {1, 2});
    FAIL() << "no error";
  } catch (const rshift::Error& error) {
    EXPECT_EQ(error.status(), RSHIFT_INVALID_INPUT);
    EXPECT_THAT(error.what(), HasSubstr("got 2 values, expected 6 (2x3)"));
  }
  EXPECT_THROW(session.Get(0), rshift::Error);  // nothing has run
  const std::uint8_t pixel = 0;
  try {
    session.SetPictures(0, {{&pixel, 1, 1, 0, RSHIFT_GRAY}});
    FAIL() << "no error";
  } catch (const rshift::Error& error) {
    EXPECT_EQ(error.status(), RSHIFT_UNSUPPORTED);
    EXPECT_THAT(error.what(), HasSubstr("has recorded no preprocessing"));
  }
  EXPECT_THROW(rshift::Program::Load("no/such/file"), rshift::Error);
}

}  // namespace
