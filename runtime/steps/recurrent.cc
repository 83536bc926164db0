// Cells of LSTM and GRU: rows of the batch, in blocks of columns that threads do not share.
#include "runtime/kernels/recurrent.h"

#include <algorithm>

#include "quantize/numerics/recurrent.h"
#include "runtime/steps/int16.h"
#include "runtime/steps/steps.h"

namespace rshift {
namespace {

class CellStep : public Step {
 public:
  // a, b: the fields of the gates' products.
  template <typename C>
  CellStep(const StepContext& context, const C& c, CellFn run, Field a, Field b, int64_t gates)
      : run_(run), gates_(gates) {
    args_.loops = &CellLoopsFor(context.isa);
    const Shape& shape = context.Record(Field::kDst).shape;
    args_.hidden = shape.back();
    rows_ = args_.hidden == 0 ? 0 : NumElements(shape) / args_.hidden;
    const int64_t width = gates * args_.hidden;
    if (context.Has(a)) args_.a = context.In<int32_t>(a) + c.row * width;
    if (context.Has(b)) args_.b = context.In<int32_t>(b);
    if (context.Has(Field::kList2)) args_.first_factors = context.In<int32_t>(Field::kList2);
    args_.second_factors = args_.first_factors + width;
    if (context.Has(Field::kList)) args_.offsets = context.In<int64_t>(Field::kList);
    if (context.Has(Field::kTable)) args_.table = context.In<int32_t>(Field::kTable);
    args_.rshift = c.rshift;
    args_.state_bits = c.state_bits;
  }

  CellArgs& args() { return args_; }
  void WriteTo(const StepContext& context, const ClampQ& clamp) {
    const DType type = context.Record(Field::kDst).dtype;
    args_.y = context.Out<uint8_t>(Field::kDst);
    args_.y_type = NarrowTypeOf(type);
    y_size_ = static_cast<int64_t>(SizeOf(type));
    args_.bounds = {context.Record(Field::kDst).zero_point, clamp.lo, clamp.hi};
  }

  void Run(const Team& team) noexcept override {
    const int64_t blocks = (args_.hidden + kCellBlock - 1) / kCellBlock;
    const int64_t width = gates_ * args_.hidden;
    const Range part = ThreadRange(rows_ * blocks, 1, team);
    for (int64_t item = part.begin; item < part.end; ++item) {
      const int64_t row = item / blocks, begin = item % blocks * kCellBlock;
      const int64_t at = row * args_.hidden;
      CellArgs args = args_;
      if (args.a != nullptr) args.a += row * width;
      if (args.b != nullptr) args.b += row * width;
      if (args.state != nullptr) args.state += at;
      if (args.next != nullptr) args.next += at;
      if (args.y != nullptr) args.y = static_cast<uint8_t*>(args.y) + at * y_size_;
      run_(args, begin, std::min(args.hidden, begin + kCellBlock));
    }
  }

 private:
  CellFn run_;
  CellArgs args_;
  int64_t y_size_ = 1;
  int64_t gates_, rows_ = 0;
};

template <typename C>
std::unique_ptr<CellStep> MakeCell(const StepContext& context, const C& c, CellFn run,
                                   int64_t gates) {
  auto step = std::make_unique<CellStep>(context, c, run, Field::kSrc, Field::kSrc2, gates);
  if (context.Has(Field::kSrc3)) step->args().state = context.In<int16_t>(Field::kSrc3);
  step->args().next = context.Out<int16_t>(Field::kDst);
  return step;
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LstmCell& c) {
  return MakeCell(context, c, RunLstmCell, 4);
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::GruCell& c) {
  auto step = MakeCell(context, c, RunGruCell, 3);
  step->args().resets_product = c.resets_product;
  return step;
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::GatedOutput& c) {
  const int64_t hidden = context.Record(Field::kDst).shape.back();
  const int64_t gates =
      context.Has(Field::kSrc2) ? context.Record(Field::kSrc2).shape.back() / hidden : 0;
  auto step =
      std::make_unique<CellStep>(context, c, RunGatedOutput, Field::kSrc2, Field::kSrc3, gates);
  CellArgs& args = step->args();
  args.gated = context.Has(Field::kSrc2);
  args.gate = c.gate;
  args.tanh = c.tanh;
  args.state = context.In<int16_t>(Field::kSrc);
  args.words = c.words;
  step->WriteTo(context, c.clamp);
  return step;
}

}  // namespace rshift
