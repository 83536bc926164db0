// The time that runtime/limits.h predicts against the processor's, for random programs of every
// opcode: they give the numbers of runtime/work_cost.cc. RSHIFT_WORK_ROWS=1 prints each program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "runtime/onednn/float_library.h"
#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

constexpr size_t kPrograms = 8;  // of each opcode

double ProcessorNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

void FillInput(const TensorRecord& record, std::span<std::byte> input, Random& random) {
  const int most = record.dtype == DType::kBool ? 1 : 255;
  for (std::byte& byte : input) byte = static_cast<std::byte>(random.Int(0, most));
  if (record.dtype != DType::kF32) return;
  for (size_t at = 0; at + 4 <= input.size(); at += 4) {
    const float value = random.Float(-8, 8);
    std::memcpy(input.data() + at, &value, sizeof value);
  }
}

// The least of three runs.
double Measured(const Program& program, Random& random) {
  const ProgramImage& image = program.image();
  Session session(program, {.threads = 1});
  double least = 1e300;
  for (int run = 0; run < 3; ++run) {
    for (size_t i = 0; i < image.inputs.size(); ++i) {
      FillInput(image.tensors[static_cast<size_t>(image.inputs[i].tensor)],
                session.Input(static_cast<int>(i)), random);
    }
    const double start = ProcessorNanoseconds();
    session.Run();
    least = std::min(least, ProcessorNanoseconds() - start);
  }
  return least;
}

// What a random program takes; 0: it is refused, too small to tell, or too large to wait for.
double MeasuredByPredicted(Opcode opcode, uint32_t seed) {
  Random random(seed * 7919 + static_cast<uint32_t>(opcode));
  const int64_t scale = random.Int(1, 8);  // constants of 50 MB at most
  try {
    const ProgramBuilder b = MakeProgram(opcode, random, scale);
    const RunWork work = PredictWork(b.image);
    const bool fits = work.elements < 10'000'000 && work.macs < 1'000'000'000;
    if (!fits || work.elements + work.macs / 64 < 200'000) return 0;
    const double measured = Measured(b.Build(), random);
    if (std::getenv("RSHIFT_WORK_ROWS") != nullptr) {
      std::printf("%s macs %llu elements %llu ns %.0f predicted %llu\n", FindOp(opcode)->name,
                  static_cast<unsigned long long>(work.macs),
                  static_cast<unsigned long long>(work.elements), measured,
                  static_cast<unsigned long long>(work.nanoseconds));
    }
    return measured / static_cast<double>(work.nanoseconds);
  } catch (const std::exception&) {  // an Error, or memory that is not there
    return 0;
  }
}

TEST(Work, FewProgramsTakeMoreThanTwiceWhatIsPredicted) {
  RegisterFloatLibrary();
  for (const OpSpec& op : IsaTable()) {
    std::vector<double> ratios;
    for (uint32_t seed = 1; seed < 1000 && ratios.size() < kPrograms; ++seed) {
      const double ratio = MeasuredByPredicted(op.opcode, seed);
      if (ratio > 0) ratios.push_back(ratio);
    }
    ASSERT_EQ(ratios.size(), kPrograms) << op.name;
    std::sort(ratios.begin(), ratios.end());
    std::printf("%-18s measured by predicted: %.2f to %.2f, median %.2f\n", op.name, ratios.front(),
                ratios.back(), ratios[kPrograms / 2]);
    EXPECT_LT(ratios[kPrograms * 3 / 4], 2.5) << op.name;
    EXPECT_LT(ratios.back(), 10.0) << op.name;
  }
}

}  // namespace
}  // namespace rshift::testing
