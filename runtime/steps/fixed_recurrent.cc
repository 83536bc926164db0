// Cells of an LSTM in 16-bit fixed point: rows of the batch, in blocks of columns that threads do
// not share.
#include "runtime/kernels/fixed_recurrent.h"

#include <algorithm>

#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class FixedCellStep : public Step {
 public:
  // a, b: the fields of the gates' products.
  template <typename C>
  FixedCellStep(const StepContext& context, const C& c, FixedCellFn run, Field a, Field b)
      : run_(run) {
    args_.loops = &FixedCellLoopsFor(context.isa);
    const Shape& shape = context.Record(Field::kDst).shape;
    args_.hidden = shape.back();
    args_.gates = context.Record(a).shape.back() / args_.hidden;
    rows_ = NumElements(shape) / args_.hidden;
    args_.a = context.In<int32_t>(a) + c.row * args_.gates * args_.hidden;
    if (context.Has(b)) args_.b = context.In<int32_t>(b);
    args_.biases = context.In<int32_t>(Field::kList);
    args_.gate_words = context.In<int32_t>(Field::kList2);
    args_.state_bits = c.state_bits;
    args_.bounds = {context.Record(Field::kDst).zero_point, c.clamp.lo, c.clamp.hi};
  }

  FixedCellArgs& args() { return args_; }

  void Run(const Team& team) noexcept override {
    const int64_t blocks = (args_.hidden + kFixedCellBlock - 1) / kFixedCellBlock;
    const int64_t width = args_.gates * args_.hidden;
    const Range part = ThreadRange(rows_ * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t row = item / blocks, begin = item % blocks * kFixedCellBlock;
      const int64_t at = row * args_.hidden;
      FixedCellArgs args = args_;
      args.a += row * width;
      if (args.b != nullptr) args.b += row * width;
      if (args.state != nullptr) args.state += at;
      if (args.next != nullptr) args.next += at;
      if (args.y != nullptr) args.y += at;
      run_(args, begin, std::min(args.hidden, begin + kFixedCellBlock));
    }
  }

 private:
  FixedCellFn run_;
  FixedCellArgs args_;
  int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::FixedLstmCell& c) {
  auto step =
      std::make_unique<FixedCellStep>(context, c, RunFixedLstmCell, Field::kSrc, Field::kSrc2);
  if (context.Has(Field::kSrc3)) step->args().state = context.In<int16_t>(Field::kSrc3);
  step->args().next = context.Out<int16_t>(Field::kDst);
  return step;
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::FixedGatedOutput& c) {
  auto step =
      std::make_unique<FixedCellStep>(context, c, RunFixedGatedOutput, Field::kSrc2, Field::kSrc3);
  step->args().state = context.In<int16_t>(Field::kSrc);
  step->args().y = context.Out<uint8_t>(Field::kDst);
  step->args().words = c.words;
  return step;
}

}  // namespace rshift
