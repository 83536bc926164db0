// Conv, Depthwise and MatMul against the formula written out, on random shapes.
#include <gtest/gtest.h>

#include "codegen/packing/packing.h"
#include "tests/runtime/program_builder.h"

namespace rshift::testing {
namespace {

struct ConvCase {
  int64_t n, ih, iw, ic, oc, groups, kh, kw, sh, sw, dh, dw, pt, pl, pb, pr, oh, ow;
  bool zero_w;
  DType src_type, dst_type;
  int32_t zero_x, zero_y, lo, hi;
  Bytes src;
  std::vector<int8_t> weights;  // [OC, IC/groups, KH, KW]
  std::vector<RequantRecord> requant;
  std::vector<int32_t> weight_zeros;
};

int64_t OutSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  const int64_t room = in + pads - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

void FillData(Random& random, ConvCase* c) {
  c->src_type = random.Byte();
  c->dst_type = random.Byte();
  c->zero_x = random.Zero(c->src_type);
  c->zero_y = random.Zero(c->dst_type);
  c->lo = static_cast<int32_t>(random.Int(Lowest(c->dst_type), c->zero_y));
  c->hi = static_cast<int32_t>(random.Int(c->zero_y, Highest(c->dst_type)));
  c->src = random.Data(c->n * c->ih * c->iw * c->ic);
  for (const uint8_t byte : random.Data(c->oc * (c->ic / c->groups) * c->kh * c->kw)) {
    c->weights.push_back(static_cast<int8_t>(byte));
  }
  for (int64_t i = 0; i < c->oc; ++i) {
    RequantRecord record;
    record.bias = static_cast<int32_t>(random.Int(-100000, 100000));
    record.multiplier = static_cast<int32_t>(random.Int(int64_t{1} << 30, (int64_t{1} << 31) - 1));
    record.rshift = static_cast<uint8_t>(random.Int(30, 48));
    if (random.Int(0, 15) == 0) record.multiplier = 0;
    if (random.Int(0, 15) == 0) record.rshift = static_cast<uint8_t>(random.Int(0, 62));
    c->requant.push_back(record);
    c->weight_zeros.push_back(static_cast<int32_t>(random.Int(-128, 127)));
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
    c.dh = random.Int(1, 2), c.dw = random.Int(1, 2);
    c.pt = random.Int(0, 3), c.pl = random.Int(0, 3), c.pb = random.Int(0, 3),
    c.pr = random.Int(0, 3);
    c.oh = OutSize(c.ih, c.kh, c.sh, c.dh, c.pt + c.pb);
    c.ow = OutSize(c.iw, c.kw, c.sw, c.dw, c.pl + c.pr);
  } while (c.oh == 0 || c.ow == 0);
  c.zero_w = random.Int(0, 4) == 0;
  FillData(random, &c);
  return c;
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
          const int64_t at = ((m / c.ow / c.oh * c.ih + y) * c.iw + x) * c.ic + oc / ocg * icg + i;
          const int32_t value = inside ? Value(c.src[at], c.src_type) : c.zero_x;
          const int32_t weight = c.weights[(oc * icg + i) * c.kh * c.kw + tap];
          acc += value * (weight - (c.zero_w ? c.weight_zeros[oc] : 0));
        }
      }
      const int64_t y =
          ShiftedProduct(acc, c.requant[oc].multiplier, c.requant[oc].rshift) + c.zero_y;
      dst.push_back(static_cast<uint8_t>(Saturate(y, c.lo, c.hi)));
    }
  }
  return dst;
}

void SetRequant(ProgramBuilder* b, Command* command, const ConvCase& c) {
  command->Set(Field::kRequant, b->Const(DType::kBytes, {c.oc * 12}, c.requant));
  if (c.zero_w) command->Set(Field::kZeroW, b->Const(DType::kS32, {c.oc}, c.weight_zeros));
  command->Set(Field::kClampLoQ, c.lo).Set(Field::kClampHiQ, c.hi);
}

void SetWindow(Command* command, const ConvCase& c) {
  command->Set(Field::kKernelH, c.kh).Set(Field::kKernelW, c.kw).Set(Field::kStrideH, c.sh);
  command->Set(Field::kStrideW, c.sw).Set(Field::kDilationH, c.dh).Set(Field::kDilationW, c.dw);
  command->Set(Field::kPadTop, c.pt).Set(Field::kPadLeft, c.pl).Set(Field::kPadBottom, c.pb);
  command->Set(Field::kPadRight, c.pr);
}

int32_t PackedWeights(ProgramBuilder* b, const ConvCase& c) {
  const PackedShape shape{c.groups, c.oc / c.groups, c.ic / c.groups, c.kh * c.kw};
  Bytes packed(static_cast<size_t>(shape.bytes()));
  for (int64_t oc = 0; oc < c.oc; ++oc) {
    for (int64_t ic = 0; ic < shape.ic_per_group; ++ic) {
      for (int64_t tap = 0; tap < shape.taps; ++tap) {
        const int64_t at = oc / shape.oc_per_group * shape.group_bytes() +
                           shape.Offset(oc % shape.oc_per_group, tap, ic);
        packed[at] =
            static_cast<uint8_t>(c.weights[(oc * shape.ic_per_group + ic) * shape.taps + tap]);
      }
    }
  }
  return b->Const(DType::kBytes, {shape.bytes()}, packed);
}

TEST(ConvStep, MatchesTheFormulaOnRandomShapes) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ConvCase c = RandomConv(random);
    ProgramBuilder b;
    const int32_t src = b.Input({c.src_type, {c.n, c.ih, c.iw, c.ic}, 1.0f, c.zero_x});
    const int32_t dst = b.Output({c.dst_type, {c.n, c.oh, c.ow, c.oc}, 1.0f, c.zero_y});
    Command& command = b.Add(Opcode::kConv, dst, src);
    command.Set(Field::kWeights, PackedWeights(&b, c)).Set(Field::kGroups, c.groups);
    SetWindow(&command, c);
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, {c.src}), Expected(c));
  }
}

TEST(DepthwiseStep, MatchesTheFormulaOnRandomShapes) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ConvCase c = RandomConv(random);
    c.groups = c.ic = c.oc = random.Int(0, 2) == 0 ? random.Int(60, 200) : random.Int(1, 40);
    c.weights.clear();
    c.requant.clear();
    c.weight_zeros.clear();
    FillData(random, &c);
    ProgramBuilder b;
    const int32_t src = b.Input({c.src_type, {c.n, c.ih, c.iw, c.ic}, 1.0f, c.zero_x});
    const int32_t dst = b.Output({c.dst_type, {c.n, c.oh, c.ow, c.oc}, 1.0f, c.zero_y});
    Command& command = b.Add(Opcode::kDepthwise, dst, src);
    const int64_t row = RoundUp(c.oc, 64), taps = c.kh * c.kw;
    Bytes packed(static_cast<size_t>(taps * row));
    for (int64_t i = 0; i < c.oc * taps; ++i) {
      packed[i % taps * row + i / taps] = static_cast<uint8_t>(c.weights[i]);
    }
    command.Set(Field::kWeights, b.Const(DType::kBytes, {taps * row}, packed));
    SetWindow(&command, c);
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, {c.src}), Expected(c));
  }
}

TEST(MatMulStep, MatchesTheFormulaOnRandomShapes) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ConvCase c{};
    c.n = c.iw = c.ow = c.groups = c.kh = c.kw = c.sh = c.sw = c.dh = c.dw = 1;
    const int64_t batch = random.Int(1, 3), rows = random.Int(1, 9);
    c.ih = c.oh = batch * rows;
    c.ic = random.Int(1, 300);
    c.oc = random.Int(1, 150);
    c.zero_w = random.Int(0, 4) == 0;
    FillData(random, &c);
    ProgramBuilder b;
    const int32_t src = b.Input({c.src_type, {batch, rows, c.ic}, 1.0f, c.zero_x});
    const int32_t dst = b.Output({c.dst_type, {batch, rows, c.oc}, 1.0f, c.zero_y});
    Command& command = b.Add(Opcode::kMatMul, dst, src);
    command.Set(Field::kWeights, PackedWeights(&b, c));
    SetRequant(&b, &command, c);
    ASSERT_EQ(RunEverywhere(b, {c.src}), Expected(c));
  }
}

}  // namespace
}  // namespace rshift::testing
