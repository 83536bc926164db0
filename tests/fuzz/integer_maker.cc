// Random quantized commands but for products.
#include <bit>
#include <cmath>

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
  const int32_t constant = m.b.QuantizedConst(spec, m.random.Data(NumElements(part)));
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

int32_t Word(float value) { return std::bit_cast<int32_t>(value); }

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
  const int64_t mode = m.random.Int(0, kSoftmaxArithmeticCount - 1);
  std::vector<int32_t> fixed(256), quotient(256);
  std::vector<float> floats(256);
  for (size_t i = 0; i < 256; ++i) {
    floats[i] = std::exp(-0.05f * static_cast<float>(i));
    fixed[i] = static_cast<int32_t>(2147483647.0 * static_cast<double>(floats[i]));
    quotient[i] = static_cast<int32_t>(1073741824.0 * static_cast<double>(floats[i]));
  }
  const int32_t table = mode == 0                ? m.b.Const(DType::kBytes, {1024}, fixed)
                        : mode == 3 || mode == 4 ? m.b.Const(DType::kBytes, {1024}, quotient)
                                                 : m.b.Const(DType::kBytes, {1024}, floats);
  Unary(m, Opcode::kSoftmax, shape).Set(Field::kTable, table).Set(Field::kMode, mode);
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

// Cells, and the output of a gate; now and then a state of another shape.
void MakeCell(Maker& m, Opcode opcode) {
  const bool output = opcode == Opcode::kGatedOutput, gated = !output || m.Chance(2);
  const int64_t gates = opcode == Opcode::kGruCell || (output && m.Chance(2)) ? 3 : 4;
  const int64_t batch = m.Dim(), hidden = std::max<int64_t>(m.Dim(), 1), width = gates * hidden;
  const int64_t row = m.random.Int(0, 2), rows = row + batch + m.random.Int(0, 2);
  const Shape state = {batch, m.Chance(40) ? hidden + 1 : hidden};
  std::vector<int32_t> factors, table;
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < 2 * width; ++i)
    factors.push_back(static_cast<int32_t>(m.random.Int(-(1 << 29) + 1, (1 << 29) - 1)));
  for (int64_t i = 0; i < 4 * hidden; ++i)
    offsets.push_back(m.random.Int(-(int64_t{1} << 60), int64_t{1} << 60));
  for (int64_t i = 0; i <= 1024; ++i) table.push_back(static_cast<int32_t>(i * 1024));
  const Field a = output ? Field::kSrc2 : Field::kSrc, b = output ? Field::kSrc3 : Field::kSrc2;
  const Field own = output ? Field::kSrc : Field::kSrc3;
  const bool bytes = output && m.Chance(2);
  const int32_t dst =
      m.Dst(bytes ? m.ByteSpec({batch, hidden}) : TensorSpec{DType::kS16, {batch, hidden}});
  Command c = NewCommand(opcode);
  c.Set(Field::kDst, dst);
  for (const Field f : {Field::kSrc2, Field::kSrc3}) c.Set(f, -1);
  if (output || m.Chance(2)) c.Set(own, m.Src({DType::kS16, state}));
  if (gated) {
    c.Set(a, m.Src({DType::kS32, {rows, width}}));
    if (m.Chance(2)) c.Set(b, m.Src({DType::kS32, {batch, width}}));
    c.Set(Field::kOffset, row).Set(Field::kRshift, m.random.Int(0, 32));
    c.Set(Field::kList, m.b.Const(DType::kS64, {4 * hidden}, offsets));
    c.Set(Field::kList2, m.b.Const(DType::kS32, {2 * width}, factors));
  }
  c.Set(Field::kTable, m.b.Const(DType::kBytes, {4100}, table));
  c.Set(Field::kRshift2, m.random.Int(0, 15));
  if (opcode != Opcode::kLstmCell) c.Set(Field::kFlags, m.random.Int(0, 1));
  if (output) {
    if (gated) c.Set(Field::kMode, m.random.Int(0, gates - 1));
    c.Set(Field::kMultiplier3, m.Multiplier()).Set(Field::kRshift3, m.random.Int(0, 62));
    m.Clamp(c);
  }
  m.b.image.commands.push_back(c);
}

// The same in 16-bit fixed point.
void MakeFixedCell(Maker& m, Opcode opcode) {
  const bool output = opcode == Opcode::kFixedGatedOutput;
  const int64_t gates = m.random.Int(3, 4), batch = m.Dim(), hidden = std::max<int64_t>(m.Dim(), 1);
  const int64_t width = gates * hidden, row = m.random.Int(0, 2);
  const int64_t rows = row + batch + m.random.Int(0, 2);
  const Shape state = {batch, m.Chance(40) ? hidden + 1 : hidden};
  std::vector<int32_t> biases, words;
  for (int64_t i = 0; i < width; ++i)
    biases.push_back(static_cast<int32_t>(m.random.Int(INT32_MIN, INT32_MAX)));
  for (int64_t i = 0; i < 2 * gates; ++i) {
    words.push_back(static_cast<int32_t>(m.random.Int(1 << 30, INT32_MAX)));
    words.push_back(static_cast<int32_t>(m.random.Int(0, 62)));
  }
  const Field a = output ? Field::kSrc2 : Field::kSrc, b = output ? Field::kSrc3 : Field::kSrc2;
  const Field own = output ? Field::kSrc : Field::kSrc3;
  const int32_t dst =
      m.Dst(output ? m.ByteSpec({batch, hidden}) : TensorSpec{DType::kS16, {batch, hidden}});
  Command c = NewCommand(opcode);
  c.Set(Field::kDst, dst);
  for (const Field f : {Field::kSrc2, Field::kSrc3}) c.Set(f, -1);
  if (output || m.Chance(2)) c.Set(own, m.Src({DType::kS16, state}));
  c.Set(a, m.Src({DType::kS32, {rows, width}}));
  if (m.Chance(2)) c.Set(b, m.Src({DType::kS32, {batch, width}}));
  c.Set(Field::kOffset, row).Set(Field::kRshift2, m.random.Int(9, 15));
  c.Set(Field::kList, m.b.Const(DType::kS32, {width}, biases));
  c.Set(Field::kList2, m.b.Const(DType::kS32, {4 * gates}, words));
  if (output) {
    c.Set(Field::kMultiplier3, m.Multiplier()).Set(Field::kRshift3, m.random.Int(31, 62));
    m.Clamp(c);
  } else {
    const int64_t most = m.random.Int(0, 32767);
    c.Set(Field::kClampLoQ, -most).Set(Field::kClampHiQ, most);
  }
  m.b.image.commands.push_back(c);
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

// LiteRT's interpolation along one or two dimensions; now and then by a wrong coefficient.
void MakeResizeLinear(Maker& m) {
  const auto arithmetic =
      static_cast<ResizeArithmetic>(m.random.Int(0, kResizeArithmeticCount - 1));
  const bool whole = arithmetic == ResizeArithmetic::kHalfAway;
  Shape from = m.Dims(1, 4);
  for (int64_t& dim : from) dim = std::max<int64_t>(dim, 1);
  Shape to = from;
  std::vector<int32_t> list(from.size()), pairs;
  const auto first = static_cast<size_t>(m.random.Int(0, static_cast<int64_t>(from.size()) - 1));
  for (size_t d = first; d < from.size() && d < first + static_cast<size_t>(m.random.Int(1, 2));
       ++d) {
    to[d] = m.random.Int(1, 9);
    list[d] = 2;
    for (int64_t i = 0; i < to[d]; ++i) {
      const auto c = static_cast<int32_t>(m.random.Int(0, 1024 + (m.Chance(1000) ? 1 : 0)));
      const float part = m.random.Float(-0.9f, 1.9f);
      for (const bool high : {false, true}) {
        pairs.push_back(static_cast<int32_t>(m.random.Int(0, from[d] - 1)));
        pairs.push_back(whole ? (high ? c : 1024 - c) : Word(high ? part : 1 - part));
      }
    }
  }
  list.insert(list.end(), pairs.begin(), pairs.end());
  TensorSpec x = m.ByteSpec(from);
  if (!whole) x.dtype = DType::kU8;
  if (whole && m.Chance(3)) x = {DType::kS16, from, 0.5f, 0};
  if (x.dtype == DType::kU8) x.zero_point = static_cast<int32_t>(m.random.Int(0, 255));
  TensorSpec y = x;
  y.shape = to;
  const int32_t src = m.Src(x), dst = m.Dst(y);
  const int32_t taps = m.b.Const(DType::kS32, {static_cast<int64_t>(list.size())}, list);
  m.b.Add(Opcode::kResizeLinear, dst, src)
      .Set(Field::kList, taps)
      .Set(Field::kMode, static_cast<int64_t>(arithmetic));
}

void MakeL2Normalize(Maker& m) {
  TensorSpec x = m.ByteSpec(m.Dims(1, 4));
  TensorSpec y = x;
  y.scale = m.Chance(30) ? 0.5f : 0x1p-7f;
  y.zero_point = x.dtype == DType::kS8 ? 0 : 128;
  const int32_t src = m.Src(x);
  m.b.Add(Opcode::kL2Normalize, m.Dst(y), src);
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
    case Opcode::kResizeLinear:
      return MakeResizeLinear(m), true;
    case Opcode::kL2Normalize:
      return MakeL2Normalize(m), true;
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
    case Opcode::kChannelTables: {
      const Shape shape = m.Dims(1, 4);
      const int64_t tables = m.random.Int(1, 5), channels = shape.back();
      Bytes numbers;
      for (int64_t c = 0; c < channels; ++c)
        numbers.push_back(static_cast<uint8_t>(m.random.Int(0, static_cast<int>(tables) - 1)));
      const int32_t table = m.b.Const(DType::kBytes, {256 * tables}, m.random.Data(256 * tables));
      const int32_t of_channel = m.b.Const(DType::kU8, {channels}, numbers);
      Unary(m, opcode, shape).Set(Field::kTable, table).Set(Field::kSrc2, of_channel);
      m.b.image.commands.back().Set(Field::kClampLoQ, 0).Set(Field::kClampHiQ, 0);
      return true;
    }
    case Opcode::kSoftmax:
      return MakeSoftmax(m), true;
    case Opcode::kNormalize:
      return MakeNormalize(m), true;
    case Opcode::kLstmCell:
    case Opcode::kGruCell:
    case Opcode::kGatedOutput:
      return MakeCell(m, opcode), true;
    case Opcode::kFixedLstmCell:
    case Opcode::kFixedGatedOutput:
      return MakeFixedCell(m, opcode), true;
    default:
      return false;
  }
}

}  // namespace rshift::testing
