// A program run by portable steps on inputs that it makes itself; for each command a line with the
// checksum of what it wrote, and at last one with that of the statistics of two samples: the bytes
// of a .stats file. Two machines that print the same have computed the same bytes.
//
//     portable_run PROGRAM [instruction set] [threads]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#include "base/checksum.h"
#include "calibrate/statistics.h"
#include "calibrate/tensor_counter.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

uint32_t random_state = 1;
uint32_t Random() {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

// Floats in [-2, 2), other types bytes of 0 and 1.
void Fill(DType type, std::span<std::byte> bytes) {
  if (type != DType::kF32) {
    std::memset(bytes.data(), 0, bytes.size());
    for (size_t i = 0; i < bytes.size(); i += SizeOf(type))
      bytes[i] = static_cast<std::byte>(Random() & 1);
    return;
  }
  for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    const float value = static_cast<float>(Random()) * 0x1p-22f - 2.0f;
    std::memcpy(bytes.data() + i, &value, sizeof value);
  }
}

// What calibration counts: every tensor of floats that a command writes.
class Counts {
 public:
  explicit Counts(const Program& program) : image_(program.image()) {}
  void Add(int32_t tensor, std::span<const std::byte> bytes, int sample) {
    const TensorRecord& record = image_.tensors[static_cast<size_t>(tensor)];
    if (record.dtype != DType::kF32) return;
    const auto [place, is_new] = places_.try_emplace(tensor, file_.tensors.size());
    if (is_new) file_.tensors.emplace_back().name = record.name;
    const std::span<const float> values{reinterpret_cast<const float*>(bytes.data()),
                                        bytes.size() / sizeof(float)};
    const std::string name = std::to_string(sample);
    constexpr InfinityRule kAny{.negative = true, .positive = true};
    counter_.Count(values, kAny, record.name, name, memories_[tensor]);
    RecordedSample recorded;
    recorded.name = name;
    counter_.AddTo(file_.tensors[place->second], recorded, memories_[tensor]);
  }
  uint32_t Checksum() const { return Crc32c(WriteStatistics(file_)); }

 private:
  const ProgramImage& image_;
  StatisticsFile file_;
  std::map<int32_t, size_t> places_;
  std::map<int32_t, TensorMemory> memories_;
  TensorCounter counter_;
};

int Run(const std::string& path, const std::string& isa, int threads) {
  const Program program = Program::Load(path);
  Session session(program, {.threads = threads,
                            .isa = isa.empty() ? BestIsa() : ParseIsa(isa),
                            .least_share_ns = 0,
                            .one_by_one = true,
                            .portable = true});
  const ProgramImage& image = program.image();
  Counts counts(program);
  for (int sample = 0; sample < 2; ++sample) {
    for (size_t i = 0; i < image.inputs.size(); ++i)
      Fill(image.tensors[static_cast<size_t>(image.inputs[i].tensor)].dtype,
           session.Input(static_cast<int>(i)));
    session.RunObserved([&](int command) {
      const int32_t dst = image.commands[static_cast<size_t>(command)].Tensor(Field::kDst);
      const std::span<const std::byte> bytes = session.Tensor(dst);
      counts.Add(dst, bytes, sample);
      if (sample > 0) return;
      std::printf("%08x %s %zu\n",
                  Crc32c({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}),
                  image.tensors[static_cast<size_t>(dst)].name.c_str(), bytes.size());
    });
  }
  std::printf("%08x statistics\n", counts.Checksum());
  return 0;
}

}  // namespace
}  // namespace rshift

int main(int argc, char** argv) {
  try {
    return rshift::Run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "",
                       argc > 3 ? std::atoi(argv[3]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
