// Random quantized commands.
#include <bit>
#include <cmath>

#include "codegen/packing/packing.h"
#include "isa/attributes.h"
#include "isa/functions.h"
#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

Rounding Pick(Maker& m, std::initializer_list<Rounding> of) {
  return of.begin()[m.random.Int(0, static_cast<int64_t>(of.size()) - 1)];
}

Command& Unary(Maker& m, Opcode opcode, const Shape& shape) {
  const int32_t src = m.Src(m.ByteSpec(shape)), dst = m.Dst(m.ByteSpec(shape));
  Command& c = m.b.Add(opcode, dst, src);
  m.Clamp(c);
  return c;
}

// With a tensor and, on either side, a constant that broadcasts.
Command& WithConstant(Maker& m, Opcode opcode, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  Shape part(shape.begin() + m.random.Int(0, rank), shape.end());
  for (int64_t& dim : part) dim = m.Chance(3) ? 1 : dim;
  const TensorSpec spec = m.ByteSpec(part);
  const int32_t constant = m.b.Const(spec.dtype, part, m.random.Data(NumElements(part)));
  m.b[constant].quantized = true;
  m.b[constant].scale = spec.scale;
  m.b[constant].zero_point = spec.zero_point;
  Command& c = Unary(m, opcode, shape);
  const bool first = m.Chance(2);
  const int32_t tensor = c.Tensor(Field::kSrc);
  return c.Set(Field::kSrc, first ? constant : tensor).Set(Field::kSrc2, first ? tensor : constant);
}

Command& Binary(Maker& m, Opcode opcode) {
  const Shape shape = m.Dims(0, 4);
  if (m.Chance(3)) return WithConstant(m, opcode, shape);
  const int32_t src2 = m.Src(m.ByteSpec(shape));
  return Unary(m, opcode, shape).Set(Field::kSrc2, src2);
}

void SetRounding(Command& c, Rounding rounding) {
  c.Set(Field::kRounding, static_cast<int64_t>(rounding));
}

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
  const auto bytes = static_cast<int64_t>(packed.size());
  c.Set(Field::kWeights, m.b.ConstBytes(DType::kBytes, {bytes}, packed.data()));
  c.Set(Field::kRequant, m.b.Const(DType::kBytes, {12 * channels}, records));
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

void MakeAddShifted(Maker& m) {
  Command& c = Binary(m, Opcode::kAddShifted);
  SetRounding(c, Pick(m, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kTwoStepUp}));
  c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(31, 40));
  c.Set(Field::kMultiplier2, m.Multiplier()).Set(Field::kRshift2, m.random.Int(31, 40));
  c.Set(Field::kMultiplier3, m.Multiplier()).Set(Field::kRshift3, m.random.Int(0, 62));
  c.Set(Field::kCount, m.random.Int(0, 20));
}

void MakeAveragePool(Maker& m) {
  const int64_t mode = m.random.Int(0, 5);
  const RandomWindow w(m, mode != 3 && mode != 5);
  const int32_t src = m.Src(m.ByteSpec(w.src)), dst = m.Dst(m.ByteSpec(w.dst));
  Command& c = m.b.Add(Opcode::kAveragePool, dst, src);
  w.SetFields(c);
  m.Clamp(c);
  c.Set(Field::kMode, mode);
  if (mode == 0 || mode == 4) c.SetFloat(Field::kScaleF, m.random.Float(0.1f, 2.0f));
  if (mode == 0) c.SetFloat(Field::kOffsetF, m.random.Float(-50, 50));
  if (mode == 5) c.SetFloat(Field::kOffsetF, static_cast<float>(m.random.Int(-200, 200)));
  if (mode != 3 && mode != 5) return;
  const Rounding rounding =
      mode == 3 ? Pick(m, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kFloatEven,
                           Rounding::kHalfAway})
                : Pick(m, {Rounding::kTwoStep, Rounding::kFloatZeroEven, Rounding::kTwoStepUp});
  SetRounding(c, rounding);
  const bool floats = rounding == Rounding::kFloatEven || rounding == Rounding::kFloatZeroEven;
  c.Set(Field::kMultiplier, floats ? Word(m.random.Float(0.0f, 1.0f)) : m.Multiplier());
  c.Set(Field::kRshift, floats ? 0 : m.random.Int(31, 40));
}

void MakeSoftmax(Maker& m) {
  const Shape shape = m.Dims(1, 4);
  const int64_t mode = m.random.Int(0, 3);
  std::vector<int32_t> fixed(256), quotient(256);
  std::vector<float> floats(256);
  for (size_t i = 0; i < 256; ++i) {
    floats[i] = std::exp(-0.05f * static_cast<float>(i));
    fixed[i] = static_cast<int32_t>(2147483647.0 * static_cast<double>(floats[i]));
    quotient[i] = static_cast<int32_t>(1073741824.0 * static_cast<double>(floats[i]));
  }
  const int32_t table = mode == 0   ? m.b.Const(DType::kBytes, {1024}, fixed)
                        : mode == 3 ? m.b.Const(DType::kBytes, {1024}, quotient)
                                    : m.b.Const(DType::kBytes, {1024}, floats);
  Unary(m, Opcode::kSoftmax, shape).Set(Field::kTable, table).Set(Field::kMode, mode);
}

void MakeBatchedMatMul(Maker& m) {
  const int64_t rows = std::max<int64_t>(m.Dim(), 1), k = std::max<int64_t>(m.Dim(), 1);
  const int64_t n = std::max<int64_t>(m.Dim(), 1), batch = m.random.Int(1, 3);
  const bool broadcast = m.Chance(3);
  const int32_t src = m.Src(m.ByteSpec({batch, rows, k}));
  const int32_t src2 = m.Src(m.ByteSpec(broadcast ? Shape{k, n} : Shape{batch, k, n}));
  Command& c = m.b.Add(Opcode::kBatchedMatMul, m.Dst(m.ByteSpec({batch, rows, n})), src);
  c.Set(Field::kSrc2, src2).Set(Field::kMultiplier, m.Multiplier());
  c.Set(Field::kRshift, m.Chance(6) ? m.random.Int(0, 62) : m.random.Int(31, 45));
  m.Clamp(c);
}

void MakeNormalize(Maker& m) {
  Shape shape = m.Dims(2, 4);
  for (int64_t& dim : shape) dim = std::max<int64_t>(dim, 1);
  const bool channels = m.Chance(2);
  const int64_t axis = m.random.Int(0, static_cast<int64_t>(shape.size()) - (channels ? 2 : 1));
  const int64_t count =
      channels ? shape.back() : NumElements(Shape(shape.begin() + axis, shape.end()));
  std::vector<int32_t> factors;
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i) {
    factors.push_back(static_cast<int32_t>(m.random.Int(-(1 << 30) + 1, (1 << 30) - 1)));
    offsets.push_back(m.random.Int(-(int64_t{1} << 61), int64_t{1} << 61));
  }
  Command c = Unary(m, Opcode::kNormalize, shape);
  c.Set(Field::kSrc2, m.b.Const(DType::kS32, {count}, factors));
  c.Set(Field::kList, m.b.Const(DType::kS64, {count}, offsets));
  c.Set(Field::kAxis, axis).Set(Field::kFlags, m.random.Int(0, 1) + (channels ? 2 : 0));
  c.Set(Field::kOffset, m.random.Int(0, m.Chance(2) ? 1 << 20 : (int64_t{1} << 60)));
  c.Set(Field::kRshift, m.random.Int(0, 10) * 2).Set(Field::kRshift2, m.random.Int(1, 62));
  m.b.image.commands.back() = c;
}

void MakeSlopes(Maker& m, Opcode opcode) {
  const Shape shape = m.Dims(1, 4);
  Command c = Unary(m, opcode, shape);
  if (opcode == Opcode::kPRelu) {
    const int64_t count = m.Chance(3) ? 1 : shape.back();
    c.Set(Field::kSrc2, m.b.Const(DType::kS8, {count}, m.random.Data(count)));
  } else {
    c.Set(Field::kMultiplier,
          m.Chance(3) ? m.random.Int(INT32_MIN, INT32_MAX) : m.random.Int(-127, 127));
  }
  c.Set(Field::kRshift, m.Chance(4) ? m.random.Int(0, 62) : m.random.Int(0, 12));
  if (m.Chance(2))
    c.Set(Field::kMultiplier2, m.Multiplier()).Set(Field::kRshift2, m.random.Int(0, 62));
  m.b.image.commands.back() = c;
}

// Linear taps along one dimension of bytes.
void MakeResize(Maker& m) {
  Shape from = m.Dims(1, 4);
  for (int64_t& dim : from) dim = std::max<int64_t>(dim, 1);
  const auto axis = static_cast<size_t>(m.random.Int(0, static_cast<int64_t>(from.size()) - 1));
  Shape to = from;
  to[axis] = m.random.Int(1, 9);
  std::vector<int32_t> list(from.size());
  list[axis] = 2;
  for (int64_t i = 0; i < to[axis]; ++i) {
    const auto c = static_cast<int32_t>(m.random.Int(0, 2048));
    for (const int32_t coefficient : {c, 2048 - c}) {
      list.push_back(static_cast<int32_t>(m.random.Int(0, from[axis] - 1)));
      list.push_back(coefficient);
    }
  }
  const TensorSpec x = m.ByteSpec(from);
  TensorSpec y = x;
  y.shape = to;
  const int32_t src = m.Src(x), dst = m.Dst(y);
  const int32_t taps = m.b.Const(DType::kS32, {static_cast<int64_t>(list.size())}, list);
  Command& c = m.b.Add(Opcode::kResize, dst, src).Set(Field::kList, taps);
  if (m.Chance(2))
    c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(30, 62));
  m.Clamp(c);
}

// All tensors of one type.
void MakeExtremum(Maker& m) {
  Command& c = Binary(m, Opcode::kExtremum);
  const DType type = m.random.Byte();
  for (const Field f : {Field::kDst, Field::kSrc, Field::kSrc2}) {
    TensorRecord& record = m.b[c.Tensor(f)];
    record.dtype = type;
    record.zero_point = 7;
  }
  m.Clamp(c);
  c.Set(Field::kFlags, m.random.Int(0, 1));
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

void MakeDynamic(Opcode opcode, Maker& m) {
  if (opcode == Opcode::kDynamicConv || opcode == Opcode::kDynamicMatMul)
    return MakeDynamicProduct(opcode, m);
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

bool MakeIntegerCommand(Opcode opcode, Maker& m) {
  switch (opcode) {
    case Opcode::kQuantize: {
      const Shape shape = m.Dims(0, 4);
      const int32_t src = m.Src({DType::kF32, shape});
      m.b.Add(opcode, m.Dst(m.ByteSpec(shape)), src).Set(Field::kMode, m.random.Int(0, 4));
      return true;
    }
    case Opcode::kDequantize: {
      const Shape shape = m.Dims(0, 4);
      const int32_t src = m.Src(m.ByteSpec(shape));
      m.b.Add(opcode, m.Dst({DType::kF32, shape}), src);
      return true;
    }
    case Opcode::kRequantize: {
      Command& c = Unary(m, opcode, m.Dims(0, 4));
      c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(0, 62));
      SetRounding(c, Pick(m, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kHalfAway,
                              Rounding::kTwoStepUp}));
      return true;
    }
    case Opcode::kConv:
      return MakeConv(m), true;
    case Opcode::kDepthwise:
      return MakeDepthwise(m), true;
    case Opcode::kMatMul:
      return MakeMatMul(m), true;
    case Opcode::kAdd: {
      Command& c = Binary(m, opcode);
      SetRounding(c, Pick(m, {Rounding::kHalfUp, Rounding::kHalfAway}));
      const int64_t most = m.Chance(3) ? INT32_MAX : 1 << 21;
      c.Set(Field::kMultiplier, m.random.Int(-most, most)).Set(Field::kRshift, m.random.Int(0, 30));
      c.Set(Field::kMultiplier2, m.random.Int(-most, most));
      return true;
    }
    case Opcode::kAddFloat:
      return Binary(m, opcode), true;
    case Opcode::kAddShifted:
      return MakeAddShifted(m), true;
    case Opcode::kAddFma:
      Binary(m, opcode).SetFloat(Field::kScaleF, m.Number()).SetFloat(Field::kAlphaF, m.Number());
      m.b.image.commands.back().SetFloat(Field::kOffsetF, m.Number());
      return true;
    case Opcode::kAddScaled:
      Binary(m, opcode).SetFloat(Field::kScaleF, m.Number()).SetFloat(Field::kAlphaF, m.Number());
      m.b.image.commands.back()
          .SetFloat(Field::kOffsetF, m.Number())
          .SetFloat(Field::kBetaF, m.Number())
          .Set(Field::kOffset, m.random.Int(0, 128));
      return true;
    case Opcode::kMul: {
      Command& c = Binary(m, opcode);
      c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(0, 62));
      SetRounding(c, Pick(m, {Rounding::kHalfUp, Rounding::kTwoStep, Rounding::kHalfAway,
                              Rounding::kTwoStepUp}));
      return true;
    }
    case Opcode::kResize:
      return MakeResize(m), true;
    case Opcode::kExtremum:
      return MakeExtremum(m), true;
    case Opcode::kDiv: {
      std::vector<int32_t> reciprocals(256);
      for (int32_t& r : reciprocals) r = static_cast<int32_t>(m.random.Int(-INT32_MAX, INT32_MAX));
      const int32_t table = m.b.Const(DType::kBytes, {1024}, reciprocals);
      Binary(m, opcode).Set(Field::kTable, table);
      return true;
    }
    case Opcode::kBinaryTable: {
      const int32_t table = m.b.Const(DType::kBytes, {65536}, m.random.Data(65536));
      Binary(m, opcode).Set(Field::kTable, table).Set(Field::kClampLoQ, 0).Set(Field::kClampHiQ, 0);
      return true;
    }
    case Opcode::kAveragePool:
      return MakeAveragePool(m), true;
    case Opcode::kMaxPool: {
      const RandomWindow w(m, true);
      const DType type = m.Chance(3) ? DType::kF32 : m.random.Byte();
      const int32_t src = m.Src({type, w.src});
      w.SetFields(m.b.Add(opcode, m.Dst({type, w.dst}), src));
      return true;
    }
    case Opcode::kLeakyRelu:
    case Opcode::kPRelu:
      return MakeSlopes(m, opcode), true;
    case Opcode::kTable: {
      const int32_t table = m.b.Const(DType::kBytes, {256}, m.random.Data(256));
      Unary(m, opcode, m.Dims(0, 4)).Set(Field::kTable, table);
      m.b.image.commands.back().Set(Field::kClampLoQ, 0).Set(Field::kClampHiQ, 0);
      return true;
    }
    case Opcode::kSoftmax:
      return MakeSoftmax(m), true;
    case Opcode::kBatchedMatMul:
      return MakeBatchedMatMul(m), true;
    case Opcode::kNormalize:
      return MakeNormalize(m), true;
    case Opcode::kDynamicRange:
    case Opcode::kDynamicQuantize:
    case Opcode::kDynamicConv:
    case Opcode::kDynamicMatMul:
      return MakeDynamic(opcode, m), true;
    default:
      return false;
  }
}

}  // namespace rshift::testing
