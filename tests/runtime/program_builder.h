// Programs by hand, command by command, for the tests of the runtime: each goes through
// WriteContainer and Program::FromBytes, so what runs is what a file would hold. `image` is open: a
// negative test spoils one thing.
#ifndef RSHIFT_TESTS_RUNTIME_PROGRAM_BUILDER_H_
#define RSHIFT_TESTS_RUNTIME_PROGRAM_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "codegen/container/image.h"
#include "runtime/runtime.h"
#include "tests/base/error_of.h"

namespace rshift::testing {

using Bytes = std::vector<uint8_t>;

struct TensorSpec {
  DType dtype = DType::kS8;
  Shape shape;
  float scale = 1.0f;
  int32_t zero_point = 0;
};

class ProgramBuilder {
 public:
  ProgramImage image;

  // Each returns the tensor's index. Arena tensors get room of their own, one after the other.
  int32_t Arena(const TensorSpec& spec);
  int32_t Input(const TensorSpec& spec);
  int32_t Output(const TensorSpec& spec);
  int32_t ConstBytes(DType dtype, const Shape& shape, const void* data);
  template <typename T>
  int32_t Const(DType dtype, const Shape& shape, const std::vector<T>& values) {
    return ConstBytes(dtype, shape, values.data());
  }
  int32_t QuantizedConst(const TensorSpec& spec, const Bytes& data);
  int32_t List(const std::vector<int64_t>& values) {
    return Const(DType::kS64, {static_cast<int64_t>(values.size())}, values);
  }
  // A command with its destination and source; optional tensors are absent.
  Command& Add(Opcode opcode, int32_t dst, int32_t src);

  TensorRecord& operator[](int32_t tensor) { return image.tensors[static_cast<size_t>(tensor)]; }
  Bytes File() const;
  Program Build() const;

 private:
  int32_t Append(TensorRecord record);
};

struct RunOptions {
  int threads = 1;
  Isa isa = Isa::kScalar;
};
// All outputs, one after the other. Expects that a run on one thread takes
// nothing from the heap.
Bytes RunProgram(const Program& program, const std::vector<Bytes>& inputs,
                 const RunOptions& options = {});
// Runs with 1, 2 and 3 threads and on every instruction set of this CPU, also with every tensor a
// view of another one (view_program.h), expects equal bytes and returns them.
Bytes RunEverywhere(const ProgramBuilder& builder, const std::vector<Bytes>& inputs);

// The message with which building or loading fails; kNoError when it does not.
std::string LoadError(const ProgramBuilder& builder);
// Loading fails with a message that has the part, and does not before the program is spoilt.
void ExpectRefused(const ProgramBuilder& b, const std::string& part);
void ExpectRefused(ProgramBuilder b, const std::string& part,
                   const std::function<void(ProgramBuilder*)>& spoil);

// A generator that says its seed when a test fails is made by SCOPED_TRACE(seed) in the test.
struct Random {
  explicit Random(uint32_t seed) : engine(seed) {}
  int64_t Int(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(engine);
  }
  float Float(float lo, float hi) { return std::uniform_real_distribution<float>(lo, hi)(engine); }
  DType Byte() { return Int(0, 1) == 0 ? DType::kS8 : DType::kU8; }
  int32_t Zero(DType type) {
    return static_cast<int32_t>(type == DType::kS8 ? Int(-128, 127) : Int(0, 255));
  }
  Bytes Data(int64_t count);
  std::mt19937 engine;
};

// The integer a byte stands for, the lowest and highest of a type.
inline int32_t Value(uint8_t byte, DType type) {
  return type == DType::kS8 ? static_cast<int8_t>(byte) : byte;
}
inline int32_t Lowest(DType type) {
  return type == DType::kS16 ? -32768 : type == DType::kS8 ? -128 : 0;
}
inline int32_t Highest(DType type) {
  return type == DType::kS16 ? 32767 : type == DType::kS8 ? 127 : 255;
}

// floor(value * multiplier / 2^rshift + 1/2) and the saturation, written out in wide arithmetic.
int32_t Saturate(int64_t value, int32_t lo, int32_t hi);
int64_t ShiftedProduct(int64_t value, int64_t multiplier, int rshift);

template <typename T>
Bytes AsBytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_PROGRAM_BUILDER_H_
