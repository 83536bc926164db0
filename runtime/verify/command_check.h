// What the checks of all operator families share: one command with its tensors, which are named by
// their fields, and messages that name it. All else of a command is in its struct (rules.h).
#ifndef RSHIFT_RUNTIME_VERIFY_COMMAND_CHECK_H_
#define RSHIFT_RUNTIME_VERIFY_COMMAND_CHECK_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "codegen/container/container.h"
#include "isa/attributes.h"
#include "runtime/step.h"

namespace rshift::verify {

struct CommandCheck;

// "src 'conv1_out' (s8 1x8x8x16)" when it is printed: messages of checks that pass cost nothing.
struct Description {
  const CommandCheck& check;
  Field field;
};
std::ostream& operator<<(std::ostream& out, const Description& description);

struct CommandCheck {
  const ProgramImage& image;
  ConstantsCheck& constants;
  const Command& command;
  size_t index;  // of the command
  const std::string& where;
  std::vector<uint32_t>& weight_sums;  // Proof: for the rule to fill

  const TensorRecord& Tensor(Field f) const {
    return image.tensors[static_cast<size_t>(command.Tensor(f))];
  }
  bool Has(Field f) const { return command.Tensor(f) >= 0; }
  // Of a constant tensor.
  const uint8_t* Data(Field f) const { return constants.bytes().data() + Tensor(f).offset; }

  template <typename... Args>
  void Check(bool ok, const Args&... parts) const {
    if (!ok)
      Fail(ErrorCode::kCorrupt, where, ": ", CommandName(image, index), ": ", parts...,
           "; the file is damaged or was written by another version");
  }

  // --- tensors: each throws naming the field, the tensor, what was expected and what was found
  void CheckType(Field f, std::initializer_list<DType> types) const;
  void CheckSameType(Field a, Field b) const;
  void CheckShape(Field f, const Shape& expected) const;
  void CheckSameShape(Field a, Field b) const;
  // Rank 4 with every dimension >= 1: [N, H, W, C].
  void CheckImage(Field f) const;
  // s8 or u8 with a zero point of that type.
  void CheckByte(Field f) const;
  // CheckByte and a positive finite scale; the scale alone.
  void CheckScaled(Field f) const;
  void CheckHasScale(Field f) const;
  // Constant of exactly `bytes` bytes, kBytes or s8/u8.
  void CheckBlob(Field f, int64_t bytes) const;
  // src2: for each channel of src, the last dimension, the number of one of the tables of so many
  // bytes in Field::kTable; dst has src's shape.
  void CheckTablesOfChannels(int64_t table_bytes) const;
  // The clamp's lo <= hi, both values of dst's type.
  void CheckClamp(const ClampQ& clamp) const;
  // CheckByte of src and dst, CheckClamp.
  void CheckBytes(const ClampQ& clamp) const;
  // Each f32, where it is there.
  void CheckFloats(std::initializer_list<Field> fields) const;
  // Of an optional tensor that is there.
  void CheckElements(Field f, int64_t expected) const;
  // A constant one-dimensional list of s64 (or s32); -1 entries: any number.
  std::vector<int64_t> List(Field f, int64_t entries) const;
  // An axis of src.
  size_t Axis(int64_t axis) const;
  Description Describe(Field f) const { return {*this, f}; }
};

// Product that throws like CommandCheck::Check when it overflows; factors >= 0.
int64_t CheckedProduct(const CommandCheck& check, std::initializer_list<int64_t> factors);

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_COMMAND_CHECK_H_
