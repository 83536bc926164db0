// The C interface: values in and out, whatever the type, and every refusal with a line that says
// why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "codegen/container/output_cuts.h"
#include "rshift/rshift.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Handles {
  rshift_program* program = nullptr;
  rshift_session* session = nullptr;
  explicit Handles(const ProgramBuilder& builder, int threads = 1) {
    const Bytes file = builder.File();
    EXPECT_EQ(rshift_program_from_memory(file.data(), file.size(), nullptr, &program), RSHIFT_OK)
        << rshift_error_text();
    EXPECT_EQ(rshift_session_open(program, threads, &session), RSHIFT_OK) << rshift_error_text();
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    rshift_program_free(program);
    rshift_session_free(session);
  }
};

// x [1, 2, 2, 3] -> the same bytes; the output is in the order of images.
ProgramBuilder CopyOfImage(const TensorSpec& spec) {
  ProgramBuilder b;
  const int32_t x = b.Input(spec), y = b.Output(spec);
  b[y].layout = Layout::kNhwc;
  b.Add(Opcode::kExpand, y, x);
  return b;
}

std::vector<float> Outcome(rshift_session* session, const std::vector<float>& values,
                           size_t outputs) {
  EXPECT_EQ(rshift_session_set_floats(session, 0, values.data(), values.size()), RSHIFT_OK)
      << rshift_error_text();
  EXPECT_EQ(rshift_session_run(session), RSHIFT_OK) << rshift_error_text();
  std::vector<float> result(outputs);
  size_t count = 0;
  EXPECT_EQ(rshift_session_get_floats(session, 0, result.data(), result.size(), &count), RSHIFT_OK)
      << rshift_error_text();
  EXPECT_EQ(count, outputs);
  return result;
}

TEST(CApi, DescribesInputsAndOutputsInOnnxOrder) {
  const Handles h(CopyOfImage({DType::kS8, {1, 2, 2, 3}, 0.5f, -3}));
  ASSERT_EQ(rshift_program_inputs(h.program), 1u);
  ASSERT_EQ(rshift_program_outputs(h.program), 1u);
  rshift_tensor input, output;
  ASSERT_EQ(rshift_program_input(h.program, 0, &input), RSHIFT_OK);
  ASSERT_EQ(rshift_program_output(h.program, 0, &output), RSHIFT_OK);
  EXPECT_EQ(std::vector<int64_t>(input.shape, input.shape + input.rank), (Shape{1, 2, 2, 3}));
  EXPECT_EQ(std::vector<int64_t>(output.shape, output.shape + output.rank), (Shape{1, 3, 2, 2}));
  EXPECT_EQ(output.type, RSHIFT_S8);
  EXPECT_EQ(output.elements, 12u);
  EXPECT_EQ(output.bytes, 12u);
  EXPECT_EQ(output.quantized, 1);
  EXPECT_EQ(output.scale, 0.5f);
  EXPECT_EQ(output.zero_point, -3);
  EXPECT_STRNE(input.name, "");
  EXPECT_EQ(rshift_program_metadata(h.program, "no such key"), nullptr);
  EXPECT_THAT(rshift_version(), HasSubstr("rshift "));
  EXPECT_EQ(rshift_has_float(), 0);
}

TEST(CApi, QuantizesSaturatesAndTransposes) {
  const Handles h(CopyOfImage({DType::kS8, {1, 2, 2, 3}, 0.5f, -3}));
  const float inf = std::numeric_limits<float>::infinity();
  // 0.25 and 0.75 lie between two integers: to the even one. Real values reach from (-128 + 3) / 2
  // to (127 + 3) / 2.
  const std::vector<float> x = {0, 0.25f, 0.75f, 1, -1, 2, 1000, -1000, inf, -inf, 3, 4};
  EXPECT_THAT(Outcome(h.session, x, 12),
              ElementsAre(0, 1, 65, -62.5f, 0, -1, -62.5f, 3, 1, 2, 65, 4));
  // The integers as they are.
  Bytes bytes(12), result(12);
  std::iota(bytes.begin(), bytes.end(), 0);
  ASSERT_EQ(rshift_session_set_bytes(h.session, 0, bytes.data(), 12), RSHIFT_OK);
  ASSERT_EQ(rshift_session_run(h.session), RSHIFT_OK);
  ASSERT_EQ(rshift_session_get_bytes(h.session, 0, result.data(), 12, nullptr), RSHIFT_OK);
  EXPECT_THAT(result, ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

TEST(CApi, IntegersWithoutAScaleAreExact) {
  for (const DType type : {DType::kS32, DType::kS64, DType::kF32}) {
    SCOPED_TRACE(Name(type));
    const Handles h(CopyOfImage({type, {1, 1, 1, 3}}));
    EXPECT_THAT(Outcome(h.session, {-7, 0, 32767}, 3), ElementsAre(-7, 0, 32767));
    if (type == DType::kF32) continue;
    for (const float wrong : {0.5f, 1e30f, NAN}) {
      const std::vector<float> values = {1, wrong, 2};
      EXPECT_EQ(rshift_session_set_floats(h.session, 0, values.data(), 3), RSHIFT_INVALID_INPUT);
      EXPECT_THAT(rshift_error_text(), HasSubstr("value 1 is "));
    }
  }
}

TEST(CApi, SixteenBitsOfAScaleAreTheNearest) {
  const Handles h(CopyOfImage({DType::kS16, {1, 1, 1, 4}, 0.5f}));
  EXPECT_THAT(Outcome(h.session, {-7.1f, 0.2f, 1e30f, -1e30f}, 4),
              ElementsAre(-7, 0, 16383.5f, -16384));
  const std::vector<float> wrong = {1, NAN, 2, 3};
  EXPECT_EQ(rshift_session_set_floats(h.session, 0, wrong.data(), 4), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("value 1 is NaN"));
}

TEST(CApi, BoolsAreZeroOrOne) {
  const Handles h(CopyOfImage({DType::kBool, {1, 1, 1, 2}}));
  EXPECT_THAT(Outcome(h.session, {1, 0}, 2), ElementsAre(1, 0));
  const Bytes wrong = {0, 2};
  EXPECT_EQ(rshift_session_set_bytes(h.session, 0, wrong.data(), 2), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("element 1 of type bool is neither 0 nor 1"));
}

TEST(CApi, OutputsThatDependOnTheDataAreCut) {
  ProgramBuilder b;
  const int32_t x = b.Input({DType::kS64, {1}}), y = b.Output({DType::kS64, {3}}),
                count = b.Output({DType::kS64, {1}});
  b.Add(Opcode::kExpand, y, x);
  b.Add(Opcode::kExpand, count, x);
  b.image.meta[kOutputCutsKey] = OutputCutsText({{0, 1, 0}});
  const Handles h(b);
  EXPECT_THAT(Outcome(h.session, {2}, 2), ElementsAre(2, 2));
  rshift_tensor output;
  ASSERT_EQ(rshift_session_output(h.session, 0, &output), RSHIFT_OK);
  EXPECT_EQ(output.shape[0], 2);
  EXPECT_EQ(output.bytes, 16u);
  ASSERT_EQ(rshift_program_output(h.program, 0, &output), RSHIFT_OK);
  EXPECT_EQ(output.shape[0], 3);
}

TEST(CApi, AFaultOfTheDataIsSaid) {
  ProgramBuilder b;
  const int32_t src = b.Input({DType::kS8, {4, 2}}), at = b.Input({DType::kS64, {1}});
  b.Add(Opcode::kGather, b.Output({DType::kS8, {1, 2}}), src).Set(Field::kSrc2, at);
  const Handles h(b);
  const Bytes rows(8, 7);
  const auto run = [&](float index) {
    EXPECT_EQ(rshift_session_set_bytes(h.session, 0, rows.data(), 8), RSHIFT_OK);
    EXPECT_EQ(rshift_session_set_floats(h.session, 1, &index, 1), RSHIFT_OK);
    return rshift_session_run(h.session);
  };
  char out[2];
  EXPECT_EQ(run(9), RSHIFT_INVALID_INPUT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("an index that is an input, or computed from one"));
  EXPECT_EQ(rshift_session_get_bytes(h.session, 0, out, 2, nullptr), RSHIFT_INVALID_INPUT);
  EXPECT_EQ(run(1), RSHIFT_OK);
  EXPECT_EQ(rshift_session_get_bytes(h.session, 0, out, 2, nullptr), RSHIFT_OK);
}

TEST(CApi, RefusesWrongArguments) {
  const Handles h(CopyOfImage({DType::kS8, {1, 2, 2, 3}}));
  float values[13] = {};
  values[5] = NAN;
  rshift_tensor tensor;
  size_t count = 77;
  const auto refused = [](rshift_status status, const std::string& text) {
    EXPECT_EQ(status, RSHIFT_INVALID_INPUT) << text;
    EXPECT_THAT(rshift_error_text(), HasSubstr(text));
    EXPECT_EQ(std::string(rshift_error_text()).find('\n'), std::string::npos);
  };
  refused(rshift_session_get_floats(h.session, 0, values, 12, nullptr),
          "before rshift_session_run");
  refused(rshift_session_set_floats(h.session, 0, values, 13), "got 13 values, expected 12");
  refused(rshift_session_set_floats(h.session, 0, values, 12), "value 5 is NaN");
  refused(rshift_session_set_floats(h.session, 0, nullptr, 12), "values is NULL");
  refused(rshift_session_set_floats(h.session, 1, values, 12), "input 1: the program has 1");
  refused(rshift_session_set_bytes(h.session, 0, values, 11), "got 11 bytes, expected 12");
  refused(rshift_session_set_bytes(h.session, 0, nullptr, 12), "bytes is NULL");
  refused(rshift_program_input(h.program, 1, &tensor), "input 1: the program has 1");
  refused(rshift_program_output(nullptr, 0, &tensor), "program is NULL");
  refused(rshift_program_output(h.program, 0, nullptr), "tensor is NULL");
  values[5] = 0;
  ASSERT_EQ(rshift_session_set_floats(h.session, 0, values, 12), RSHIFT_OK);
  ASSERT_EQ(rshift_session_run(h.session), RSHIFT_OK);
  refused(rshift_session_get_floats(h.session, 0, values, 11, &count), "room for 11");
  refused(rshift_session_get_bytes(h.session, 0, nullptr, 12, &count), "the buffer is NULL");
  refused(rshift_session_get_bytes(h.session, 1, values, 12, &count),
          "output 1: the program has 1");
  EXPECT_EQ(count, 77u);
  rshift_session* session = nullptr;
  refused(rshift_session_open(h.program, -1, &session), "threads: -1");
  refused(rshift_session_open(h.program, 1, nullptr), "session is NULL");
  EXPECT_EQ(session, nullptr);
  rshift_program_free(nullptr);
  rshift_session_free(nullptr);
  EXPECT_EQ(rshift_program_inputs(nullptr), 0u);
}

TEST(CApi, RefusesFilesThatAreNoPrograms) {
  rshift_program* program = nullptr;
  EXPECT_EQ(rshift_program_load("no/such/file.rshift", nullptr, &program), RSHIFT_IO);
  EXPECT_THAT(rshift_error_text(), HasSubstr("no/such/file.rshift"));
  Bytes file = CopyOfImage({DType::kS8, {1, 2, 2, 3}}).File();
  EXPECT_EQ(rshift_program_from_memory(file.data(), file.size(), "seconds=x", &program),
            RSHIFT_INVALID_INPUT);
  EXPECT_EQ(rshift_program_from_memory(file.data(), file.size(), "arena=1", &program),
            RSHIFT_UNSUPPORTED);
  EXPECT_EQ(rshift_program_from_memory(nullptr, 5, nullptr, &program), RSHIFT_INVALID_INPUT);
  file[file.size() / 2] ^= 1;
  EXPECT_EQ(rshift_program_from_memory(file.data(), file.size(), nullptr, &program),
            RSHIFT_CORRUPT);
  EXPECT_THAT(rshift_error_text(), HasSubstr("program in memory"));
  EXPECT_EQ(program, nullptr);
}

TEST(CApi, ThreadsShareAProgramAndKeepTheirErrors) {
  const Handles h(CopyOfImage({DType::kS32, {1, 1, 1, 3}}));
  const std::string before = rshift_error_text();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&h, t] {
      EXPECT_STREQ(rshift_error_text(), "");
      rshift_session* session = nullptr;
      ASSERT_EQ(rshift_session_open(h.program, 1, &session), RSHIFT_OK);
      const auto value = static_cast<float>(t);
      for (int i = 0; i < 50; ++i)
        EXPECT_THAT(Outcome(session, {value, 1, 2}, 3), ElementsAre(value, 1, 2));
      EXPECT_EQ(rshift_session_set_floats(session, 0, &value, 1), RSHIFT_INVALID_INPUT);
      rshift_session_free(session);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rshift_error_text(), before);
}

}  // namespace
}  // namespace rshift::testing
