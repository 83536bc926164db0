// Conv, Depthwise and MatMul against the formula written out, on random shapes: every rounding,
// with and without weight zero points.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "tests/runtime/rounding_oracle.h"

namespace rshift::testing {
namespace {

struct ConvCase {
  int64_t n, ih, iw, ic, oc, groups, kh, kw, sh, sw, dh, dw, pt, pl, pb, pr, oh, ow;
  bool zero_w;
  DType src_type, dst_type;
  int32_t zero_x, zero_y, lo, hi;
  Bytes src;
  std::vector<int8_t> weights;  // [OC, IC/groups, KH, KW]
  std::vector<ChannelRequant> requant;
  std::vector<ChannelRequant> negative;  // kHalfUp: of accumulators below 0; empty: the same
  std::vector<int32_t> weight_zeros;
  Bytes pads;  // empty: zero_x; else what those of each input channel hold
  Rounding rounding;
  std::vector<OraclePostOp> post_ops;  // kFloatZeroEven; a sum adds `old`
  Bytes old;
  OracleEpilogue epilogue;  // kHalfFloat
  bool sums() const { return !post_ops.empty() && post_ops[0].kind == 0; }
};

int64_t OutSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  const int64_t room = in + pads - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

void FillTail(Random& random, ConvCase* c) {
  c->post_ops.clear();
  if (c->rounding == Rounding::kFloatZeroEven) {
    for (int64_t i = random.Int(0, 3); i > 0; --i) {
      const auto kind =
          static_cast<int>(random.Int(c->post_ops.empty() ? 0 : 1, kPostOpKindCount - 1));
      OraclePostOp op{kind, random.Float(-2.0f, 2.0f), random.Float(2.0f, 90.0f),
                      random.Float(-9.0f, 9.0f)};
      const int lists = ChannelLists(static_cast<PostOpKind>(kind));
      for (int64_t channel = 0; channel < lists * c->oc; ++channel) {
        (channel < c->oc ? op.alphas : op.betas).push_back(random.Float(-40.0f, 90.0f));
      }
      c->post_ops.push_back(std::move(op));
    }
  }
  c->old = c->sums() ? random.Data(c->n * c->oh * c->ow * c->oc) : Bytes();
  c->epilogue = {random.Int(0, 1) == 1,
                 random.Int(0, 3) == 0,
                 random.Int(0, 3) == 0,
                 random.Float(0.01f, 2.0f),
                 static_cast<float>(random.Int(-128, 127)),
                 static_cast<RealRounding>(random.Int(0, kRealRoundingCount - 1))};
}

void FillData(Random& random, ConvCase* c) {
  c->src_type = random.Byte();
  c->dst_type = random.Byte();
  c->zero_x = random.Zero(c->src_type);
  c->zero_y = random.Zero(c->dst_type);
  c->lo = static_cast<int32_t>(random.Int(Lowest(c->dst_type), c->zero_y));
  c->hi = static_cast<int32_t>(random.Int(c->zero_y, Highest(c->dst_type)));
  if (random.Int(0, 2) == 0) c->lo = Lowest(c->dst_type), c->hi = Highest(c->dst_type);
  c->rounding = kAllRoundings[random.Int(0, kRoundingCount - 1)];
  FillTail(random, c);
  c->src = random.Data(c->n * c->ih * c->iw * c->ic);
  for (const uint8_t byte : random.Data(c->oc * (c->ic / c->groups) * c->kh * c->kw)) {
    c->weights.push_back(static_cast<int8_t>(byte));
  }
  for (int64_t i = 0; i < c->oc; ++i) {
    const bool bias_f =
        c->rounding == Rounding::kFloatZeroEven || c->rounding == Rounding::kHalfFloat;
    Words words = RandomWords(random, c->rounding, static_cast<int>(random.Int(-1, 17)), bias_f);
    if (random.Int(0, 15) == 0) words.multiplier = 0;
    if (random.Int(0, 15) == 0 && IsInteger(c->rounding))
      words.rshift = static_cast<int32_t>(random.Int(0, 62));
    c->requant.push_back(
        {static_cast<int32_t>(random.Int(-100000, 100000)), words.multiplier, words.rshift});
    c->weight_zeros.push_back(static_cast<int32_t>(random.Int(-128, 127)));
  }
  c->negative.clear();
  if (c->rounding != Rounding::kHalfUp || random.Int(0, 1) == 0) return;
  for (int64_t i = 0; i < c->oc; ++i) {
    Words words = RandomWords(random, c->rounding, static_cast<int>(random.Int(-1, 17)), false);
    if (random.Int(0, 7) == 0) words = {0, 0};
    c->negative.push_back({0, words.multiplier, words.rshift});
  }
  if (random.Int(0, 1) == 0) return;
  // Of 24 bits and not too large, as where one fused multiply-add is the formula.
  for (std::vector<ChannelRequant>* records : {&c->requant, &c->negative}) {
    for (ChannelRequant& record : *records) {
      record.multiplier = record.multiplier / 128 * 128;
      record.rshift = static_cast<int32_t>(random.Int(41, 50));
    }
  }
}

ConvCase RandomConv(Random& random) {
  ConvCase c{};
  do {
    c.n = random.Int(1, 2), c.ih = random.Int(1, 9), c.iw = random.Int(1, 9);
    c.groups = random.Int(0, 2) == 0 ? random.Int(2, 4) : 1;
    c.ic = c.groups * random.Int(1, 9);
    c.oc = c.groups * (random.Int(0, 3) == 0 ? random.Int(60, 140) : random.Int(1, 20));
    c.kh = random.Int(1, 4), c.kw = random.Int(1, 4), c.sh = random.Int(1, 3),
    c.sw = random.Int(1, 3);
    if (random.Int(0, 14) == 0) c.kw = random.Int(20, 90), c.iw = random.Int(80, 200), c.sw = 4;
    c.dh = random.Int(1, 2), c.dw = random.Int(1, 2);
    c.pt = random.Int(0, 3), c.pl = random.Int(0, 3), c.pb = random.Int(0, 3),
    c.pr = random.Int(0, 3);
    c.oh = OutSize(c.ih, c.kh, c.sh, c.dh, c.pt + c.pb);
    c.ow = OutSize(c.iw, c.kw, c.sw, c.dw, c.pl + c.pr);
  } while (c.oh == 0 || c.ow == 0);
  c.zero_w = random.Int(0, 2) == 0;
  FillData(random, &c);
  return c;
}

uint8_t Finished(const ConvCase& c, int64_t m, int64_t oc, int32_t acc) {
  const ChannelRequant& record = acc < 0 && !c.negative.empty() ? c.negative[oc] : c.requant[oc];
  const Words words{record.multiplier, record.rshift};
  if (c.rounding == Rounding::kHalfFloat) {
    return static_cast<uint8_t>(
        ToByte(HalfChain(acc, words, c.epilogue), c.epilogue.rounding, 0, c.lo, c.hi));
  }
  if (c.post_ops.empty())
    return static_cast<uint8_t>(Requantized(c.rounding, acc, words, c.zero_y, c.lo, c.hi));
  float f = ScaledFloat(c.rounding, acc, words);
  const int32_t old = c.sums() ? Value(c.old[m * c.oc + oc], c.dst_type) : 0;
  for (const OraclePostOp& op : c.post_ops) {
    f = PostOperation(op, f, old, static_cast<size_t>(oc));
  }
  if (std::isnan(f)) return static_cast<uint8_t>(c.zero_y);
  return static_cast<uint8_t>(
      ToByte(f + static_cast<float>(c.zero_y), RealRounding::kEven, 0, c.lo, c.hi));
}

Bytes Expected(const ConvCase& c) {
  Bytes dst;
  const int64_t icg = c.ic / c.groups, ocg = c.oc / c.groups;
  for (int64_t m = 0; m < c.n * c.oh * c.ow; ++m) {
    for (int64_t oc = 0; oc < c.oc; ++oc) {
      int64_t acc = c.requant[oc].bias;
      for (int64_t tap = 0; tap < c.kh * c.kw; ++tap) {
        const int64_t y = m / c.ow % c.oh * c.sh - c.pt + tap / c.kw * c.dh;
        const int64_t x = m % c.ow * c.sw - c.pl + tap % c.kw * c.dw;
        const bool inside = y >= 0 && y < c.ih && x >= 0 && x < c.iw;
        for (int64_t i = 0; i < icg; ++i) {
          const int64_t channel = oc / ocg * icg + i;
          const int64_t at = ((m / c.ow / c.oh * c.ih + y) * c.iw + x) * c.ic + channel;
          const int32_t pad = c.pads.empty() ? c.zero_x : Value(c.pads[channel], c.src_type);
          const int32_t value = inside ? Value(c.src[at], c.src_type) : pad;
          const int32_t weight = c.weights[(oc * icg + i) * c.kh * c.kw + tap];
          acc += value * (weight - (c.zero_w ? c.weight_zeros[oc] : 0));
        }
      }
      dst.push_back(Finished(c, m, oc, static_cast<int32_t>(acc)));
    }
  }
  return dst;
}

void SetRequant(ProgramBuilder* b, Command* command, const ConvCase& c) {
  std::vector<ChannelRequant> records = c.requant;
  records.insert(records.end(), c.negative.begin(), c.negative.end());
  const auto count = static_cast<int64_t>(records.size());
  command->Set(Field::kRequant, b->Const(DType::kBytes, {count * 12}, records));
  if (c.zero_w) command->Set(Field::kZeroW, b->Const(DType::kS32, {c.oc}, c.weight_zeros));
  command->Set(Field::kClampLoQ, c.lo).Set(Field::kClampHiQ, c.hi);
  command->Set(Field::kRounding, static_cast<int64_t>(c.rounding));
  if (!c.post_ops.empty()) {
    std::vector<float> list;
    for (const OraclePostOp& op : c.post_ops) {
      list.insert(list.end(), {static_cast<float>(op.kind), op.alpha, op.beta, op.scale});
      for (const std::vector<float>* numbers : {&op.alphas, &op.betas}) {
        list.insert(list.end(), numbers->begin(), numbers->end());
        while (list.size() % 4 != 0) list.push_back(0);
      }
    }
    const auto numbers = static_cast<int64_t>(list.size());
    command->Set(Field::kList, b->Const(DType::kF32, {numbers}, list));
  }
  if (c.rounding != Rounding::kHalfFloat) return;
  command->Set(Field::kFlags, (c.epilogue.relu ? 1 : 0) | (c.epilogue.sqrt_dequant ? 2 : 0) |
                                  (c.epilogue.sqrt_quant ? 4 : 0));
  command->Set(Field::kMode, static_cast<int64_t>(c.epilogue.rounding));
  command->SetFloat(Field::kScaleF, c.epilogue.scale).SetFloat(Field::kOffsetF, c.epilogue.offset);
}

// The command of a case: its source, destination and, where a post-operation adds it, src2.
Command& AddCommand(ProgramBuilder* b, const ConvCase& c, Opcode opcode, const Shape& src_shape,
                    const Shape& dst_shape) {
  const int32_t src = b->Input({c.src_type, src_shape, 1.0f, c.zero_x});
  const TensorSpec output{c.dst_type, dst_shape, 1.0f, c.zero_y};
  const int32_t old = c.sums() ? b->Input(output) : -1;
  const int32_t dst = b->Output(output);
  return b->Add(opcode, dst, src).Set(Field::kSrc2, old);
}

std::vector<Bytes> Inputs(const ConvCase& c) {
  if (c.sums()) return {c.src, c.old};
  return {c.src};
}

void SetWindow(Command* command, const ConvCase& c) {
  command->Set(Field::kKernelH, c.kh).Set(Field::kKernelW, c.kw).Set(Field::kStrideH, c.sh);
  command->Set(Field::kStrideW, c.sw).Set(Field::kDilationH, c.dh).Set(Field::kDilationW, c.dw);
  command->Set(Field::kPadTop, c.pt).Set(Field::kPadLeft, c.pl).Set(Field::kPadBottom, c.pb);
  command->Set(Field::kPadRight, c.pr);
}

int32_t PackedWeights(ProgramBuilder* b, const ConvCase& c) {
  const int64_t taps = c.kh * c.kw, ic_per_group = c.ic / c.groups;
  const ConvDims dims{c.groups, c.oc / c.groups, ic_per_group, c.kh, c.kw, c.dw};
  const PackedShape shape = ConvPackedShape(dims);
  Bytes packed(static_cast<size_t>(shape.bytes()));
  for (int64_t oc = 0; oc < c.oc; ++oc) {
    for (int64_t ic = 0; ic < ic_per_group; ++ic) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const bool stem_im2col = UsesStemIm2col(dims);
        const int64_t channel = stem_im2col ? tap * ic_per_group + ic : ic;
        const int64_t at = oc / shape.oc_per_group * shape.group_bytes() +
                           shape.Offset(oc % shape.oc_per_group, stem_im2col ? 0 : tap, channel);
        packed[at] = static_cast<uint8_t>(c.weights[(oc * ic_per_group + ic) * taps + tap]);
      }
    }
  }
  return b->Const(DType::kBytes, {shape.bytes()}, packed);
}

TEST(ConvStep, MatchesTheFormulaOnRandomShapes) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ConvCase c = RandomConv(random);
    ProgramBuilder b;
    Command& command =
        AddCommand(&b, c, Opcode::kConv, {c.n, c.ih, c.iw, c.ic}, {c.n, c.oh, c.ow, c.oc});
    command.Set(Field::kWeights, PackedWeights(&b, c)).Set(Field::kGroups, c.groups);
    SetWindow(&command, c);
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, Inputs(c)), Expected(c));
  }
}

TEST(DepthwiseStep, MatchesTheFormulaOnRandomShapes) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ConvCase c = RandomConv(random);
    c.groups = c.ic = c.oc = random.Int(0, 2) == 0 ? random.Int(60, 200) : random.Int(1, 40);
    c.weights.clear();
    c.requant.clear();
    c.weight_zeros.clear();
    FillData(random, &c);
    ProgramBuilder b;
    Command& command =
        AddCommand(&b, c, Opcode::kDepthwise, {c.n, c.ih, c.iw, c.ic}, {c.n, c.oh, c.ow, c.oc});
    const int64_t row = RoundUp(c.oc, 64), taps = c.kh * c.kw;
    Bytes packed(static_cast<size_t>(taps * row));
    for (int64_t i = 0; i < c.oc * taps; ++i) {
      packed[i % taps * row + i / taps] = static_cast<uint8_t>(c.weights[i]);
    }
    command.Set(Field::kWeights, b.Const(DType::kBytes, {taps * row}, packed));
    if (random.Int(0, 2) == 0) {
      c.pads = random.Data(c.ic);
      command.Set(Field::kZeroX, b.Const(c.src_type, {c.ic}, c.pads));
    }
    SetWindow(&command, c);
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, Inputs(c)), Expected(c));
  }
}

TEST(MatMulStep, MatchesTheFormulaOnRandomShapes) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ConvCase c{};
    c.n = c.iw = c.ow = c.groups = c.kh = c.kw = c.sh = c.sw = c.dh = c.dw = 1;
    const int64_t batch = random.Int(1, 3), rows = random.Int(1, 9);
    c.ih = c.oh = batch * rows;
    c.ic = random.Int(1, 300);
    c.oc = random.Int(1, 150);
    c.zero_w = random.Int(0, 2) == 0;
    FillData(random, &c);
    ProgramBuilder b;
    Command& command = AddCommand(&b, c, Opcode::kMatMul, {batch, rows, c.ic}, {batch, rows, c.oc});
    command.Set(Field::kWeights, PackedWeights(&b, c));
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, Inputs(c)), Expected(c));
  }
}

// sum x * w and zero_w * sum x both leave int32; their difference, the accumulator, does not.
TEST(MatMulStep, SumsThatWrapOnTheirWayArriveAtTheAccumulator) {
  for (const DType type : {DType::kS8, DType::kU8}) {
    Random random(9);
    ConvCase c{};
    c.n = c.iw = c.ow = c.groups = c.kh = c.kw = c.sh = c.sw = c.dh = c.dw = 1;
    c.ih = c.oh = 2;
    c.ic = 140000;
    c.oc = 20;
    FillData(random, &c);
    c.src_type = type;
    c.zero_x = 0;
    c.src.assign(c.src.size(), type == DType::kS8 ? 0x80 : 0xff);
    c.zero_w = true;
    c.rounding = Rounding::kFloatEven;
    c.negative.clear();
    c.post_ops.clear();
    for (int64_t oc = 0; oc < c.oc; ++oc) {
      c.weight_zeros[oc] = oc % 2 == 0 ? -128 : 127;
      c.requant[oc] = {0, std::bit_cast<int32_t>(0x1p-20f), 0};
      for (int64_t i = 0; i < c.ic; ++i) {  // one weight in 30 is another: a visible result
        const int64_t step = i % 30 == 0 ? oc : 0;
        c.weights[oc * c.ic + i] =
            static_cast<int8_t>(c.weight_zeros[oc] + (oc % 2 == 0 ? step : -step));
      }
    }
    ProgramBuilder b;
    Command& command = AddCommand(&b, c, Opcode::kMatMul, {2, c.ic}, {2, c.oc});
    command.Set(Field::kWeights, PackedWeights(&b, c));
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, {c.src}), Expected(c));
  }
}

}  // namespace
}  // namespace rshift::testing
