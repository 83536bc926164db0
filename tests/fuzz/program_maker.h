// Random programs, small and mostly valid, one for every opcode of the ISA table.
#ifndef RSHIFT_TESTS_FUZZ_PROGRAM_MAKER_H_
#define RSHIFT_TESTS_FUZZ_PROGRAM_MAKER_H_

#include "isa/functions.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {

// A program around one command of `opcode` (a Concat has two), with random shapes, types, numbers
// and modes. Now and then it is one that the verifier must refuse. Between the tensors lie inputs
// that no command may touch: IsGuard. Throws kInternal for an opcode that has no maker: write one.
// `scale`: of all dimensions, for programs that take time.
ProgramBuilder MakeProgram(Opcode opcode, Random& random, int64_t scale = 1);
bool IsGuard(const Binding& input);

// --- for the makers, in five files ---
struct Maker {
  ProgramBuilder& b;
  Random& random;
  int64_t scale = 1;

  bool Chance(int64_t one_in) { return random.Int(1, one_in) == 1; }
  // Dimensions of 1..6 times scale, seldom 0 or a few dozens.
  int64_t Dim();
  Shape Dims(int64_t least_rank, int64_t most_rank);
  TensorSpec ByteSpec(const Shape& shape) {
    const DType type = random.Byte();
    return {type, shape, random.Float(0.01f, 2.0f), random.Zero(type)};
  }
  int32_t Dst(const TensorSpec& spec);  // an output between guards
  int32_t Src(const TensorSpec& spec) { return b.Input(spec); }
  // Any finite number, mostly near 1; seldom infinite.
  float Number();
  int64_t Multiplier() { return Chance(6) ? 0 : random.Int(1 << 30, INT32_MAX); }
  // clamp_lo <= clamp_hi, within dst's type.
  void Clamp(Command& command);
  int32_t Floats(int64_t count, float lo, float hi);  // a constant
};

inline void SetRounding(Command& c, Rounding rounding) {
  c.Set(Field::kRounding, static_cast<int64_t>(rounding));
}

// Each gives false for an opcode that is not its own.
bool MakeIntegerCommand(Opcode opcode, Maker& maker);
bool MakeInt16Command(Opcode opcode, Maker& maker);
bool MakeProductCommand(Opcode opcode, Maker& maker);
bool MakeMoveCommand(Opcode opcode, Maker& maker);
bool MakeFloatCommand(Opcode opcode, Maker& maker);

// [N, H, W, C] before and after a window, with the window's fields.
struct RandomWindow {
  Shape src, dst;  // dst's channels are src's
  int64_t kernel[2], stride[2], dilation[2], before[2], after[2];

  RandomWindow(Maker& maker, bool pads);
  void SetFields(Command& command) const;
};

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_FUZZ_PROGRAM_MAKER_H_
