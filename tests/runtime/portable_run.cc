// A program run by portable steps on inputs that it makes itself; for each command a line with the
// checksum of what it wrote. Two machines that print the same have computed the same bytes, and
// statistics count nothing but the bits of these.
//
//     portable_run PROGRAM [instruction set] [threads]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "base/checksum.h"
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

int Run(const std::string& path, const std::string& isa, int threads) {
  const Program program = Program::Load(path);
  Session session(program, {.threads = threads,
                            .isa = isa.empty() ? BestIsa() : ParseIsa(isa),
                            .least_share_ns = 0,
                            .one_by_one = true,
                            .portable = true});
  const ProgramImage& image = program.image();
  for (size_t i = 0; i < image.inputs.size(); ++i)
    Fill(image.tensors[static_cast<size_t>(image.inputs[i].tensor)].dtype,
         session.Input(static_cast<int>(i)));
  session.RunObserved([&](int command) {
    const int32_t dst = image.commands[static_cast<size_t>(command)].Tensor(Field::kDst);
    const std::span<const std::byte> bytes = session.Tensor(dst);
    std::printf("%08x %s %zu\n",
                Crc32c({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}),
                image.tensors[static_cast<size_t>(dst)].name.c_str(), bytes.size());
  });
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
