// TFLite's addition: both operands rescaled, added, rescaled.
#include <algorithm>
#include <array>

#include "quantize/numerics/add_forms.h"
#include "runtime/steps/lut.h"
#include "runtime/steps/steps.h"
#include "runtime/steps/uniform_requant.h"

namespace rshift {
namespace {

using Terms = std::array<int32_t, 256>;

// Each operand's rescaled value is a table of its byte; one rescaling is left for an element.
struct Operands {
  Terms a{}, b{};
};

class AddShiftedOp : public ByteOp {
 public:
  AddShiftedOp(const StepContext& context, const isa::AddShifted& add)
      : rounding_(add.rounding),
        requantize_(context.isa,
                    {add.rounding, add.words3, context.Record(Field::kDst).zero_point, add.clamp}) {
    const int64_t size = kAddBlockSize[static_cast<size_t>(add.blocks)];
    const bool subtracts = add.blocks == AddBlocks::kSubtract;
    blocks_ = MakeOperands(context, add, add.blocks);
    remainder_ = MakeOperands(context, add, subtracts ? add.blocks : AddBlocks::kNone);
    remainder_begin_ = NumElements(context.Record(Field::kDst).shape) / size * size;
  }

  void Run(const ByteBlock& block) const noexcept override {
    const int64_t count = block.rows.count;
    for (int64_t r = 0; r < block.rows.rows; ++r) {
      const ByteBlock row = block.Row(r, 0, count);
      const int64_t n = std::clamp<int64_t>(remainder_begin_ - row.at, 0, count);
      RunPart(blocks_, row.a, row.b, row.y, n);
      RunPart(remainder_, row.a + n, row.b + n, row.y + n, count - n);
    }
  }

 private:
  Operands MakeOperands(const StepContext& context, const isa::AddShifted& add,
                        AddBlocks mode) const {
    Operands made{MakeTerms(context.Record(Field::kSrc), add, add.words, mode),
                  MakeTerms(context.Record(Field::kSrc2), add, add.words2, mode)};
    if (mode == AddBlocks::kSubtract) {
      for (int32_t& term : made.b) term = -term;
    }
    return made;
  }

  Terms MakeTerms(const TensorRecord& record, const isa::AddShifted& add, const RequantWords& words,
                  AddBlocks mode) const {
    Terms terms{};
    for (int byte = 0; byte < 256; ++byte) {
      const int32_t v = ValueOf(static_cast<uint8_t>(byte), record.dtype) - record.zero_point;
      terms[static_cast<size_t>(byte)] =
          Term(mode, v, add.left_shift, words.multiplier, words.rshift);
    }
    return terms;
  }

  int32_t Term(AddBlocks mode, int32_t v, int32_t left, int32_t m, int32_t rshift) const {
    switch (mode) {
      case AddBlocks::kSixteen:
        return numerics::AddBlockOf16Term(v, left, m, rshift);
      case AddBlocks::kEight:
        return numerics::AddBlockOf8Term(v, left, m, rshift);
      case AddBlocks::kNone:
      case AddBlocks::kSubtract:
        break;
    }
    return numerics::AddShiftedTerm(rounding_, v, left, m, rshift);
  }

  void RunPart(const Operands& terms, const uint8_t* a, const uint8_t* b, uint8_t* y,
               int64_t count) const noexcept {
    alignas(64) int32_t sums[kRequantBlock + kRequantSlack];
    for (int64_t at = 0; at < count; at += kRequantBlock) {
      const int64_t block = std::min(kRequantBlock, count - at);
      for (int64_t i = 0; i < block; ++i) sums[i] = terms.a[a[at + i]] + terms.b[b[at + i]];
      requantize_(sums, block, y + at);
    }
  }

  Rounding rounding_;
  UniformRequant requantize_;
  int64_t remainder_begin_ = 0;  // where the last full block of the tensor ends
  Operands blocks_, remainder_;
};

}  // namespace

std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddShifted& c) {
  return std::make_unique<AddShiftedOp>(context, c);
}

}  // namespace rshift
