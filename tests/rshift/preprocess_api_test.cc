// Pictures through the C interface: by the recorded recipe, to the bit, and refused with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "preprocess/recorded.h"
#include "rshift/preprocess.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x, of any type -> the same.
struct CopyProgram {
  rshift_program* program = nullptr;
  rshift_session* session = nullptr;

  CopyProgram(const TensorSpec& spec, const std::string& recipes) {
    ProgramBuilder b;
    const int32_t x = b.Input(spec), y = b.Output(spec);
    b.Add(Opcode::kExpand, y, x);
    if (!recipes.empty()) b.image.meta[kRecordedKey] = recipes;
    const Bytes file = b.File();
    EXPECT_EQ(rshift_program_from_memory(file.data(), file.size(), nullptr, &program), RSHIFT_OK)
        << rshift_error_text();
    EXPECT_EQ(rshift_session_open(program, 1, &session), RSHIFT_OK) << rshift_error_text();
  }
  CopyProgram(const CopyProgram&) = delete;
  CopyProgram& operator=(const CopyProgram&) = delete;
  ~CopyProgram() {
    rshift_session_free(session);
    rshift_program_free(program);
  }

  std::vector<float> Run(const std::vector<rshift_picture>& pictures, size_t values) const {
    std::vector<float> out(values);
    EXPECT_EQ(rshift_session_set_pictures(session, 0, pictures.data(), pictures.size()), RSHIFT_OK)
        << rshift_error_text();
    EXPECT_EQ(rshift_session_run(session), RSHIFT_OK) << rshift_error_text();
    EXPECT_EQ(rshift_session_get_floats(session, 0, out.data(), out.size(), nullptr), RSHIFT_OK)
        << rshift_error_text();
    return out;
  }
  std::string Refusal(const std::vector<rshift_picture>& pictures, rshift_status status) const {
    EXPECT_EQ(rshift_session_set_pictures(session, 0, pictures.data(), pictures.size()), status);
    return rshift_error_text();
  }
};

const TensorSpec kImage{DType::kF32, {1, 3, 1, 2}};
constexpr const char* kRecipe = "0 color=BGR layout=NCHW mean=1,2,3 scale=2";

TEST(Pictures, AreInTheColoursOfTheRecipeByMeanAndScale) {
  const CopyProgram p(kImage, kRecipe);
  const std::vector<uint8_t> rgb = {10, 20, 30, 40, 50, 60};
  EXPECT_THAT(p.Run({{rgb.data(), 1, 2, 0, RSHIFT_RGB}}, 6), ElementsAre(58, 118, 36, 96, 14, 74));
  EXPECT_THAT(p.Run({{rgb.data(), 1, 2, 0, RSHIFT_BGR}}, 6), ElementsAre(18, 78, 36, 96, 54, 114));
  std::vector<float> values(6);
  const rshift_picture picture{rgb.data(), 1, 2, 0, RSHIFT_RGB};
  ASSERT_EQ(rshift_preprocess(p.program, 0, &picture, 1, values.data(), 6), RSHIFT_OK);
  EXPECT_THAT(values, ElementsAre(58, 118, 36, 96, 14, 74));
}

TEST(Pictures, RowsMayLieApartAndAlphaIsPassedOver) {
  const CopyProgram p({DType::kF32, {1, 2, 1, 3}}, "0 color=RGB layout=NHWC mean=0 scale=1");
  const std::vector<uint8_t> rgba = {1, 2, 3, 99, 77, 77, 4, 5, 6, 99};
  EXPECT_THAT(p.Run({{rgba.data(), 2, 1, 6, RSHIFT_RGBA}}, 6), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Pictures, ABatchTakesAsManyAndAnInputOfIntegersItsElements) {
  const CopyProgram p({DType::kS8, {2, 1, 1, 1}, 0.5f, 3},
                      "0 color=GRAY layout=NCHW mean=128 scale=1");
  const uint8_t a = 5, b = 200;
  const rshift_picture one{&a, 1, 1, 0, RSHIFT_GRAY}, other{&b, 1, 1, 0, RSHIFT_GRAY};
  EXPECT_THAT(p.Run({one, other}, 2), ElementsAre((5 - 128 - 3) * 0.5f, (200 - 128 - 3) * 0.5f));
  EXPECT_THAT(p.Refusal({one}, RSHIFT_INVALID_INPUT), HasSubstr("got 1 pictures, its batch is 2"));
  const CopyProgram half({DType::kU8, {1, 1, 1, 1}, 1, 0},
                         "0 color=GRAY layout=NCHW mean=0 scale=0.5");
  EXPECT_THAT(half.Refusal({one}, RSHIFT_INVALID_INPUT),
              HasSubstr("value 0 is 2.5, which its type u8"));
}

TEST(Pictures, WhatDoesNotFitIsSaid) {
  const CopyProgram p(kImage, kRecipe);
  const std::vector<uint8_t> rgb = {10, 20, 30, 40, 50, 60};
  const auto refusal = [&](const rshift_picture& picture) {
    return p.Refusal({picture}, RSHIFT_INVALID_INPUT);
  };
  EXPECT_THAT(refusal({rgb.data(), 2, 1, 0, RSHIFT_RGB}), HasSubstr("is 2x1 pixels"));
  EXPECT_THAT(refusal({rgb.data(), 1, 0, 0, RSHIFT_RGB}), HasSubstr("is 0x1 pixels"));
  EXPECT_THAT(refusal({rgb.data(), 1, 2, 5, RSHIFT_RGB}), HasSubstr("row_bytes is 5, a row"));
  EXPECT_THAT(refusal({nullptr, 1, 2, 0, RSHIFT_RGB}), HasSubstr("pixels is NULL"));
  EXPECT_THAT(refusal({rgb.data(), 1, 2, 0, static_cast<rshift_pixel_order>(6)}),
              HasSubstr("order is 6, expected RSHIFT_GRAY"));
  EXPECT_THAT(refusal({rgb.data(), size_t{1} << 60, size_t{1} << 60, 0, RSHIFT_RGB}),
              HasSubstr("scale it down"));
  std::vector<float> values(5);
  const rshift_picture picture{rgb.data(), 1, 2, 0, RSHIFT_RGB};
  EXPECT_EQ(rshift_preprocess(p.program, 0, &picture, 1, values.data(), 5), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("takes 6 values, the array has room for 5"));
  EXPECT_EQ(rshift_preprocess(p.program, 1, &picture, 1, values.data(), 5), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("input 1: the program has 1"));
  EXPECT_EQ(rshift_session_set_pictures(p.session, 0, nullptr, 1), RSHIFT_INVALID_INPUT);
}

TEST(Pictures, WithoutARecipeThereIsAWayNamed) {
  const std::vector<uint8_t> rgb(6);
  const rshift_picture picture{rgb.data(), 1, 2, 0, RSHIFT_RGB};
  EXPECT_THAT(CopyProgram(kImage, "").Refusal({picture}, RSHIFT_UNSUPPORTED),
              HasSubstr("deploy the model with --preprocess"));
  EXPECT_THAT(CopyProgram(kImage, "0 color=PINK").Refusal({picture}, RSHIFT_CORRUPT),
              HasSubstr("damaged at 'PINK'"));
}

}  // namespace
}  // namespace rshift::testing
