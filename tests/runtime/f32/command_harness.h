// One command as a whole program: written to a container, loaded, verified and run. Used by the
// tests of runtime/f32 and runtime/onednn.
#ifndef RSHIFT_TESTS_RUNTIME_F32_COMMAND_HARNESS_H_
#define RSHIFT_TESTS_RUNTIME_F32_COMMAND_HARNESS_H_

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/container/image.h"
#include "runtime/runtime.h"
#include "tests/base/error_of.h"

namespace rshift::testing {

// A C++ type's element type; bool tensors are made by BoolTensor().
template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kS8;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kS16;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kU16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kS32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kS64;
}

struct TestTensor {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<uint8_t> bytes;
  bool constant = false;  // lies in the file instead of being an input
  Layout layout = Layout::kPlain;

  template <typename T>
  std::vector<T> As() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

template <typename T>
TestTensor Make(Shape shape, const std::vector<T>& values) {
  TestTensor tensor{DTypeOf<T>(), std::move(shape), std::vector<uint8_t>(values.size() * sizeof(T)),
                    false, Layout::kPlain};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TestTensor BoolTensor(Shape shape, const std::vector<uint8_t>& values);
template <typename T>
TestTensor ConstantList(const std::vector<T>& values) {
  TestTensor tensor = Make<T>({static_cast<int64_t>(values.size())}, values);
  tensor.constant = true;
  return tensor;
}
TestTensor Constant(TestTensor tensor);
TestTensor Nhwc(TestTensor tensor);
TestTensor RandomFloats(const Shape& shape, std::mt19937& random, float lo = -2.0f,
                        float hi = 2.0f);

struct CommandCase {
  Command command;  // without its tensors
  std::vector<std::pair<Field, TestTensor>> inputs;
  TestTensor dst;  // type, shape and layout of what is written

  CommandCase(Opcode opcode, std::vector<std::pair<Field, TestTensor>> tensors, DType dst_type,
              Shape dst_shape, Layout dst_layout = Layout::kPlain);
  CommandCase& Set(Field field, int64_t value);
  CommandCase& SetFloat(Field field, float value);
  const TestTensor& Input(Field field) const;
};

ProgramImage ImageOf(const CommandCase& test);
// The destination's bytes after a run.
TestTensor RunCommand(const CommandCase& test, int threads, Isa isa = BestIsa(),
                      bool portable = false);
// Runs with 1, 2 and 3 threads, expects equal bytes, and returns them.
TestTensor RunOnAnyThreads(const CommandCase& test);
// The same with every instruction set that this CPU has and with 1 to 4 threads.
TestTensor RunOnAnyIsa(const CommandCase& test, bool portable = false);

// The message of the Error that making the program and its session throws; kNoError when it does
// not.
std::string ErrorOf(const CommandCase& test);

// Every index of `shape`, last dimension fastest.
template <typename F>
void ForEachIndex(const Shape& shape, const F& visit) {
  Shape index(shape.size(), 0);
  for (int64_t count = NumElements(shape); count > 0; --count) {
    visit(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
// Row-major position of `index`, a leading dimension or a dimension of size 1 in `shape` being
// broadcast.
int64_t BroadcastOffset(const Shape& shape, const Shape& index);

// Of portable products, whose sums run in double: what one rounding leaves.
inline constexpr double kPortableTolerance = 6.1e-8;
// Compares every element: |got - want| <= tolerance * max(1, |want|); NaN equals NaN.
void ExpectClose(const std::vector<float>& got, const std::vector<double>& want, double tolerance);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_RUNTIME_F32_COMMAND_HARNESS_H_
