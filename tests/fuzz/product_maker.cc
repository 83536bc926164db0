// Random convolutions and matrix products on bytes.
#include <bit>
#include <cmath>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "isa/functions.h"
#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

int32_t Word(float value) { return std::bit_cast<int32_t>(value); }

// A multiplier and rshift as the rounding has them.
ChannelRequant Words(Maker& m, Rounding rounding) {
  ChannelRequant record{static_cast<int32_t>(m.random.Int(-5000, 5000)), 0, 0};
  switch (rounding) {
    case Rounding::kFloatEven:
      record.multiplier = Word(m.random.Float(0.0f, 0.1f));
      break;
    case Rounding::kFloatZeroEven:
    case Rounding::kHalfFloat:
      record.multiplier = Word(m.random.Float(0.0f, 0.1f));
      record.rshift = Word(m.random.Float(-10.0f, 10.0f));
      break;
    case Rounding::kDoubleAway: {
      const auto bits = std::bit_cast<uint64_t>(std::abs(double{m.random.Float(0.0f, 0.1f)}));
      record.multiplier = static_cast<int32_t>(bits >> 32);
      record.rshift = static_cast<int32_t>(bits);
      break;
    }
    default:
      record.multiplier = static_cast<int32_t>(m.Multiplier());
      record.rshift =
          static_cast<int32_t>(m.Chance(6) ? m.random.Int(0, 62) : m.random.Int(31, 45));
  }
  return record;
}

// Post-operations, one of which may add src2.
void AddPostOps(Maker& m, Command c, size_t index) {
  std::vector<float> ops;
  bool sums = false;
  for (int64_t i = m.random.Int(1, 3); i > 0; --i) {
    const int64_t kind = m.random.Int(0, 9);
    sums |= kind == 0;
    for (const float number : {static_cast<float>(kind), m.random.Float(-1, 1),
                               m.random.Float(0, 2), m.random.Float(0.5f, 2)}) {
      ops.push_back(number);
    }
  }
  const auto size = static_cast<int64_t>(ops.size());
  c.Set(Field::kList, m.b.Const(DType::kF32, {size}, ops));
  if (sums) {
    c.Set(Field::kSrc2, m.Src(m.ByteSpec(m.b[c.Tensor(Field::kDst)].shape)));
  }
  m.b.image.commands[index] = c;
}

// Weights, records, weight zero points, rounding, clamp and what follows it.
void AddWeights(Maker& m, std::span<const int8_t> packed, int64_t channels) {
  const size_t index = m.b.image.commands.size() - 1;
  Command c = m.b.image.commands[index];
  const bool real = m.b[c.Tensor(Field::kDst)].dtype == DType::kF32;
  const auto rounding =
      real ? Rounding::kFloatZeroEven : static_cast<Rounding>(m.random.Int(0, kRoundingCount - 1));
  std::vector<ChannelRequant> records;
  for (int64_t i = 0; i < channels; ++i) records.push_back(Words(m, rounding));
  if (rounding == Rounding::kHalfUp && m.Chance(2)) {  // of accumulators below 0
    for (int64_t i = 0; i < channels; ++i) {
      records.push_back(Words(m, rounding));
      records.back().bias = 0;
    }
  }
  const auto bytes = static_cast<int64_t>(packed.size());
  c.Set(Field::kWeights, m.b.ConstBytes(DType::kBytes, {bytes}, packed.data()));
  const auto count = static_cast<int64_t>(records.size());
  c.Set(Field::kRequant, m.b.Const(DType::kBytes, {12 * count}, records));
  if (m.Chance(4)) {
    std::vector<int32_t> zeros(static_cast<size_t>(channels));
    for (int32_t& zero : zeros) zero = static_cast<int32_t>(m.random.Int(-128, 127));
    c.Set(Field::kZeroW, m.b.Const(DType::kS32, {channels}, zeros));
  }
  SetRounding(c, rounding);
  if (!real) m.Clamp(c);
  if (rounding == Rounding::kHalfFloat) {
    c.SetFloat(Field::kScaleF, m.random.Float(0.1f, 10.0f)).SetFloat(Field::kOffsetF, m.Number());
    c.Set(Field::kFlags, m.random.Int(0, 7)).Set(Field::kMode, m.random.Int(0, 4));
  }
  m.b.image.commands[index] = c;
  if (rounding == Rounding::kFloatZeroEven && m.Chance(2)) AddPostOps(m, c, index);
}

std::vector<int8_t> RandomWeights(Maker& m, int64_t count) {
  std::vector<int8_t> weights(static_cast<size_t>(count));
  for (int8_t& w : weights) w = static_cast<int8_t>(m.random.Int(-128, 127));
  return weights;
}

// Bytes, or a real result.
int32_t LinearDst(Maker& m, const Shape& shape) {
  return m.Chance(6) ? m.Dst({DType::kF32, shape}) : m.Dst(m.ByteSpec(shape));
}

void MakeConv(Maker& m) {
  RandomWindow w(m, true);
  const int64_t groups = m.Chance(3) ? m.random.Int(1, 3) : 1;
  const int64_t ic = w.src[3], oc = std::max<int64_t>(m.Dim(), 1);
  w.src[3] = groups * ic, w.dst[3] = groups * oc;
  const int32_t src = m.Src(m.ByteSpec(w.src)), dst = LinearDst(m, w.dst);
  Command& c = m.b.Add(Opcode::kConv, dst, src);
  w.SetFields(c);
  c.Set(Field::kGroups, groups);
  const ConvDims dims{groups, oc, ic, w.kernel[0], w.kernel[1], w.dilation[1]};
  const int64_t count = groups * oc * ic * w.kernel[0] * w.kernel[1];
  AddWeights(m, PackConvolution(dims, RandomWeights(m, count)), groups * oc);
}

void MakeDepthwise(Maker& m) {
  const RandomWindow w(m, true);
  const int32_t src = m.Src(m.ByteSpec(w.src)), dst = LinearDst(m, w.dst);
  w.SetFields(m.b.Add(Opcode::kDepthwise, dst, src));
  const int64_t taps = w.kernel[0] * w.kernel[1], channels = w.src[3];
  AddWeights(m, PackDepthwiseWeights(channels, taps, RandomWeights(m, taps * channels)), channels);
}

void MakeMatMul(Maker& m) {
  Shape shape = m.Dims(1, 4);
  const int64_t k = std::max<int64_t>(m.Dim(), 1), n = std::max<int64_t>(m.Dim(), 1);
  shape.back() = k;
  const int32_t src = m.Src(m.ByteSpec(shape));
  shape.back() = n;
  m.b.Add(Opcode::kMatMul, LinearDst(m, shape), src);
  AddWeights(m, PackConvWeights({1, n, k, 1}, RandomWeights(m, n * k)), n);
}

void MakeBatchedMatMul(Maker& m) {
  const int64_t rows = std::max<int64_t>(m.Dim(), 1), k = std::max<int64_t>(m.Dim(), 1);
  const int64_t n = std::max<int64_t>(m.Dim(), 1), batch = m.scale * m.scale * m.random.Int(1, 3);
  const bool broadcast = m.Chance(3);
  const int32_t src = m.Src(m.ByteSpec({batch, rows, k}));
  const int32_t src2 = m.Src(m.ByteSpec(broadcast ? Shape{k, n} : Shape{batch, k, n}));
  Command& c = m.b.Add(Opcode::kBatchedMatMul, m.Dst(m.ByteSpec({batch, rows, n})), src);
  const auto rounding = static_cast<Rounding>(m.random.Int(0, 2));  // half_up to float_even
  SetRounding(c, rounding);
  c.Set(Field::kSrc2, src2);
  const ChannelRequant words = Words(m, rounding);
  c.Set(Field::kMultiplier, words.multiplier).Set(Field::kRshift, words.rshift);
  m.Clamp(c);
}

// Weights, records and, mostly, weight zero points of a product whose src2 is set.
void AddDynamicWeights(Maker& m, Command c, std::span<const int8_t> packed, int64_t channels) {
  const bool real = m.b[c.Tensor(Field::kDst)].dtype == DType::kF32;
  std::vector<ChannelRequant> records;
  for (int64_t i = 0; i < channels; ++i) {
    records.push_back(real ? Words(m, Rounding::kFloatZeroEven) : ChannelRequant{});
    records.back().bias = 0;
  }
  const auto bytes = static_cast<int64_t>(packed.size());
  c.Set(Field::kWeights, m.b.ConstBytes(DType::kBytes, {bytes}, packed.data()));
  c.Set(Field::kRequant, m.b.Const(DType::kBytes, {12 * channels}, records));
  if (!m.Chance(3)) {
    std::vector<int32_t> zeros(static_cast<size_t>(channels));
    for (int32_t& zero : zeros) zero = static_cast<int32_t>(m.random.Int(-128, 127));
    c.Set(Field::kZeroW, m.b.Const(DType::kS32, {channels}, zeros));
  }
  m.b.image.commands.back() = c;
}

void MakeDynamicProduct(Opcode opcode, Maker& m) {
  const DType result = m.Chance(3) ? DType::kS32 : DType::kF32, type = m.random.Byte();
  const int32_t record = m.Src({DType::kF32, {2}});
  if (opcode == Opcode::kDynamicMatMul) {
    Shape shape = m.Dims(1, 4);
    const int64_t k = std::max<int64_t>(m.Dim(), 1), n = std::max<int64_t>(m.Dim(), 1);
    shape.back() = k;
    const int32_t src = m.Src({type, shape});
    shape.back() = n;
    Command& c = m.b.Add(opcode, m.Dst({result, shape}), src).Set(Field::kSrc2, record);
    return AddDynamicWeights(m, c, PackMatMulWeights(k, n, RandomWeights(m, k * n)), n);
  }
  RandomWindow w(m, true);
  const int64_t channels = std::max<int64_t>(w.src[3], 1);
  const bool depthwise = m.Chance(3);
  const int64_t groups = depthwise ? channels : m.Chance(3) ? m.random.Int(1, 3) : 1;
  const int64_t ic = depthwise ? 1 : channels, oc = depthwise ? 1 : std::max<int64_t>(m.Dim(), 1);
  w.src[3] = groups * ic, w.dst[3] = groups * oc;
  const int32_t src = m.Src({type, w.src}), dst = m.Dst({result, w.dst});
  Command& c = m.b.Add(opcode, dst, src).Set(Field::kSrc2, record);
  w.SetFields(c);
  c.Set(Field::kGroups, groups);
  const int64_t taps = w.kernel[0] * w.kernel[1];
  const std::vector<int8_t> weights = RandomWeights(m, groups * oc * ic * taps);
  AddDynamicWeights(
      m, c,
      IsDepthwise(groups, groups * ic, groups * oc)
          ? PackDepthwiseWeights(groups, taps, weights)
          : PackConvolution({groups, oc, ic, w.kernel[0], w.kernel[1], w.dilation[1]}, weights),
      groups * oc);
}

void MakeDynamicElements(Opcode opcode, Maker& m) {
  const Shape shape = m.Dims(0, 4);
  const int32_t src = m.Src({DType::kF32, shape});
  if (opcode == Opcode::kDynamicRange) {
    m.b.Add(opcode, m.Dst({DType::kF32, {2}}), src);
    return;
  }
  const int32_t record = m.Src({DType::kF32, {2}});
  m.b.Add(opcode, m.Dst({DType::kU8, shape}), src).Set(Field::kSrc2, record);
}

}  // namespace

bool MakeProductCommand(Opcode opcode, Maker& m) {
  switch (opcode) {
    case Opcode::kConv:
      return MakeConv(m), true;
    case Opcode::kDepthwise:
      return MakeDepthwise(m), true;
    case Opcode::kMatMul:
      return MakeMatMul(m), true;
    case Opcode::kBatchedMatMul:
      return MakeBatchedMatMul(m), true;
    case Opcode::kDynamicConv:
    case Opcode::kDynamicMatMul:
      return MakeDynamicProduct(opcode, m), true;
    case Opcode::kDynamicRange:
    case Opcode::kDynamicQuantize:
      return MakeDynamicElements(opcode, m), true;
    default:
      return false;
  }
}

}  // namespace rshift::testing
