// Maximum, minimum, quotient and tables of two quantized tensors.
#include "quantize/numerics/divide.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

// function(byte of a, byte of b) for each element; each row by a loop of its own.
template <typename Function>
void ForEachPair(const ByteBlock& block, const Function& function) {
  for (int64_t r = 0; r < block.rows.rows; ++r) {
    const ByteBlock row = block.Row(r, 0, block.rows.count);
    const uint8_t *a = row.a, *b = row.b;
    uint8_t* y = row.y;
#pragma omp simd
    for (int64_t i = 0; i < row.rows.count; ++i) y[i] = function(a[i], b[i]);
  }
}

// Bytes ordered as their values are: those of s8 tensors with the sign bit flipped.
template <bool kMin>
class ExtremumOp : public ByteOp {
 public:
  ExtremumOp(uint8_t flip, const ClampQ& clamp)
      : flip_(flip),
        lo_(static_cast<uint8_t>(static_cast<uint8_t>(clamp.lo) ^ flip)),
        hi_(static_cast<uint8_t>(static_cast<uint8_t>(clamp.hi) ^ flip)) {}

  void Run(const ByteBlock& block) const noexcept override {
    const uint8_t flip = flip_, lo = lo_, hi = hi_;
    ForEachPair(block, [=](uint8_t byte_a, uint8_t byte_b) {
      const auto a = static_cast<uint8_t>(byte_a ^ flip), b = static_cast<uint8_t>(byte_b ^ flip);
      uint8_t v = kMin ? (a < b ? a : b) : (a > b ? a : b);
      v = v < lo ? lo : v;
      v = v > hi ? hi : v;
      return static_cast<uint8_t>(v ^ flip);
    });
  }

 private:
  uint8_t flip_, lo_, hi_;
};

class DivOp : public ByteOp {
 public:
  DivOp(const StepContext& context, const ClampQ& clamp)
      : a_(OperandOf(context, Field::kSrc)),
        zero_y_(context.Record(Field::kDst).zero_point),
        clamp_(clamp),
        reciprocals_(context.In<int32_t>(Field::kTable)) {}

  void Run(const ByteBlock& block) const noexcept override {
    const ByteOperand a = a_;
    const int32_t zero_y = zero_y_, lo = clamp_.lo, hi = clamp_.hi;
    const int32_t* reciprocals = reciprocals_;
    ForEachPair(block, [=](uint8_t byte_a, uint8_t byte_b) {
      return static_cast<uint8_t>(
          numerics::Divide((byte_a ^ a.flip) - a.zero, reciprocals[byte_b], zero_y, lo, hi));
    });
  }

 private:
  ByteOperand a_;
  int32_t zero_y_;
  ClampQ clamp_;
  const int32_t* reciprocals_;  // in the program
};

class BinaryTableOp : public ByteOp {
 public:
  explicit BinaryTableOp(const uint8_t* table) : table_(table) {}

  void Run(const ByteBlock& block) const noexcept override {
    const uint8_t* table = table_;
    ForEachPair(block, [=](uint8_t a, uint8_t b) { return table[256 * size_t{a} + b]; });
  }

 private:
  const uint8_t* table_;  // in the program
};

}  // namespace

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Extremum& c) {
  const uint8_t flip = OperandOf(context, Field::kSrc).flip;
  if (c.min) return std::make_unique<ExtremumOp<true>>(flip, c.clamp);
  return std::make_unique<ExtremumOp<false>>(flip, c.clamp);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Div& c) {
  return std::make_unique<DivOp>(context, c.clamp);
}

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::BinaryTable&) {
  return std::make_unique<BinaryTableOp>(context.In<uint8_t>(Field::kTable));
}

}  // namespace rshift
