// Inputs and outputs without a copy: the memory that the C interface shows is the tensors' own, and
// it is refused where it is not what a copy would be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "rshift/rshift.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::HasSubstr;

// x -> the same bytes; in the order of images where `layout` says so.
struct Copying {
  rshift_program* program = nullptr;
  rshift_session* session = nullptr;

  explicit Copying(const TensorSpec& spec, Layout layout = Layout::kPlain) {
    ProgramBuilder b;
    const int32_t x = b.Input(spec), y = b.Output(spec);
    b[y].layout = layout;
    b.Add(Opcode::kExpand, y, x);
    const Bytes file = b.File();
    EXPECT_EQ(rshift_program_from_memory(file.data(), file.size(), nullptr, &program), RSHIFT_OK)
        << rshift_error_text();
    EXPECT_EQ(rshift_session_open(program, 1, &session), RSHIFT_OK) << rshift_error_text();
  }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;
  ~Copying() {
    rshift_program_free(program);
    rshift_session_free(session);
  }
};

TEST(SessionMemory, IsWhatARunReadsAndWrites) {
  const Copying copy({DType::kS16, {2, 3}});
  void* input = nullptr;
  const void* output = nullptr;
  size_t size = 0;
  ASSERT_EQ(rshift_session_input_memory(copy.session, 0, &input, &size), RSHIFT_OK);
  ASSERT_EQ(size, 12u);
  const std::vector<int16_t> values = {1, -2, 3, -4, 5, 32767};
  std::memcpy(input, values.data(), size);
  ASSERT_EQ(rshift_session_run(copy.session), RSHIFT_OK);
  size = 0;
  ASSERT_EQ(rshift_session_output_memory(copy.session, 0, &output, &size), RSHIFT_OK);
  ASSERT_EQ(size, 12u);
  std::vector<int16_t> shown(6), copied(6);
  std::memcpy(shown.data(), output, size);
  ASSERT_EQ(rshift_session_get_bytes(copy.session, 0, copied.data(), 12, nullptr), RSHIFT_OK);
  EXPECT_EQ(shown, values);
  EXPECT_EQ(copied, values);
}

TEST(SessionMemory, IsRefusedInAnotherOrder) {
  const Copying copy({DType::kS8, {1, 2, 2, 3}}, Layout::kNhwc);
  std::vector<uint8_t> bytes(12);
  ASSERT_EQ(rshift_session_set_bytes(copy.session, 0, bytes.data(), 12), RSHIFT_OK);
  ASSERT_EQ(rshift_session_run(copy.session), RSHIFT_OK);
  const void* output = &bytes;
  size_t size = 7;
  EXPECT_EQ(rshift_session_output_memory(copy.session, 0, &output, &size), RSHIFT_UNSUPPORTED);
  EXPECT_THAT(rshift_error_text(), HasSubstr("rshift_session_get_bytes copies it"));
  EXPECT_EQ(output, &bytes);
  EXPECT_EQ(size, 7u);
}

TEST(SessionMemory, OfABoolIsNotForOthersToWrite) {
  const Copying copy({DType::kBool, {3}});
  void* input = nullptr;
  size_t size = 0;
  EXPECT_EQ(rshift_session_input_memory(copy.session, 0, &input, &size), RSHIFT_UNSUPPORTED);
  EXPECT_THAT(rshift_error_text(), HasSubstr("rshift_session_set_bytes fills it"));
  EXPECT_EQ(input, nullptr);
}

TEST(SessionMemory, RefusesWrongArguments) {
  const Copying copy({DType::kF32, {2}});
  void* input = nullptr;
  const void* output = nullptr;
  size_t size = 0;
  EXPECT_EQ(rshift_session_output_memory(copy.session, 0, &output, &size), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("before rshift_session_run"));
  EXPECT_EQ(rshift_session_input_memory(copy.session, 1, &input, &size), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("input 1: the program has 1"));
  EXPECT_EQ(rshift_session_input_memory(copy.session, 0, nullptr, &size), RSHIFT_INVALID_INPUT);
  EXPECT_EQ(rshift_session_input_memory(copy.session, 0, &input, nullptr), RSHIFT_INVALID_INPUT);
  EXPECT_EQ(rshift_session_input_memory(nullptr, 0, &input, &size), RSHIFT_INVALID_INPUT);
}

}  // namespace
}  // namespace rshift::testing
