#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "runtime/onednn/float_library.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

// As the cells of an unrolled layer: oneDNN's order of the weights is made once, and they give what
// each alone gives.
TEST(SharedWeights, OfOneConstantAreHeldOnce) {
  RegisterFloatLibrary();
  const int64_t k = 256, n = 512;
  Random random(1);
  std::vector<float> numbers(k * n), x(k);
  for (float& number : numbers) number = random.Float(-1, 1);
  for (float& number : x) number = random.Float(-1, 1);
  size_t memory[2] = {};
  std::vector<std::byte> results[2];
  for (const int commands : {1, 10}) {
    ProgramBuilder b;
    const int32_t in = b.Input({DType::kF32, {1, k}});
    const int32_t weights = b.Const(DType::kF32, {k, n}, numbers);
    for (int i = 0; i < commands; ++i)
      b.Add(Opcode::kMatMulF32, b.Output({DType::kF32, {1, n}}), in).Set(Field::kSrc2, weights);
    const Program program = b.Build();
    Session session(program, {.threads = 1});
    std::memcpy(session.Input(0).data(), x.data(), x.size() * sizeof(float));
    session.Run();
    const auto last = session.Output(commands - 1);
    results[commands > 1].assign(last.begin(), last.end());
    memory[commands > 1] = session.memory().steps;
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_LE(memory[1], memory[0] + sizeof(float) * k * n);
}

// One for each thread, as who measures many samples has them.
TEST(SharedWeights, AreHeldOnceForAllSessions) {
  RegisterFloatLibrary();
  const int64_t k = 256, n = 512;
  Random random(2);
  std::vector<float> numbers(k * n);
  for (float& number : numbers) number = random.Float(-1, 1);
  ProgramBuilder b;
  const int32_t in = b.Input({DType::kF32, {1, k}});
  const int32_t weights = b.Const(DType::kF32, {k, n}, numbers);
  b.Add(Opcode::kMatMulF32, b.Output({DType::kF32, {1, n}}), in).Set(Field::kSrc2, weights);
  const Program program = b.Build();
  const auto results_of = [&](Session& session) {
    for (int64_t i = 0; i < k; ++i)
      reinterpret_cast<float*>(session.Input(0).data())[i] = static_cast<float>(i % 7) - 3;
    session.Run();
    const auto output = session.Output(0);
    return std::vector<std::byte>(output.begin(), output.end());
  };
  constexpr size_t kSessions = 8;
  std::vector<std::optional<Session>> sessions(kSessions);
  {
    std::vector<std::jthread> threads;
    for (std::optional<Session>& session : sessions)
      threads.emplace_back([&] { session.emplace(program, SessionOptions{.threads = 1}); });
  }
  size_t memory = 0;
  for (std::optional<Session>& session : sessions) memory += session->memory().steps;
  EXPECT_LT(memory, 2 * sizeof(float) * k * n);
  const std::vector<std::byte> expected = results_of(*sessions[0]);
  for (std::optional<Session>& session : sessions) EXPECT_EQ(results_of(*session), expected);
  // What the first one has made, the others keep; all gone, it is made again.
  sessions[0].reset();
  EXPECT_EQ(results_of(*sessions[1]), expected);
  sessions.clear();
  Session again(program, {.threads = 1});
  // Without AVX-512 oneDNN multiplies by the constant where it lies.
  if (CpuSupports(Isa::kAvx512Vnni))
    EXPECT_GE(again.memory().steps, sizeof(float) * k * n);
  else
    EXPECT_LE(again.memory().steps, memory);
  EXPECT_EQ(results_of(again), expected);
}

}  // namespace
}  // namespace rshift::testing
