// Random commands on 16-bit integers.
#include <algorithm>

#include "isa/attributes.h"
#include "quantize/numerics/int16_terms.h"
#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

// s16 or a byte.
TensorSpec NarrowSpec(Maker& m, const Shape& shape) {
  return m.Chance(2) ? m.ByteSpec(shape) : TensorSpec{DType::kS16, shape, 0.1f};
}
TensorSpec S16Spec(const Shape& shape) { return {DType::kS16, shape, 0.1f}; }

Command& Make(Maker& m, Opcode opcode, const TensorSpec& x, const TensorSpec& y) {
  const int32_t src = m.Src(x), dst = m.Dst(y);
  Command& c = m.b.Add(opcode, dst, src);
  m.Clamp(c);
  return c;
}

// Seldom one that is refused.
Rounding RoundingOf(Maker& m, std::initializer_list<Rounding> allowed) {
  if (m.Chance(50)) return Rounding::kFloatEven;
  return allowed.begin()[m.random.Int(0, static_cast<int64_t>(allowed.size()) - 1)];
}

// Weights and records of `channels`, each with `products` products; seldom one that is refused.
void SetProducts(Maker& m, Command& c, int64_t channels, int64_t products, bool bytes) {
  const Rounding rounding = bytes ? Rounding::kHalfUp
                                  : RoundingOf(m, {Rounding::kHalfUp, Rounding::kTwoStep,
                                                   Rounding::kTwoStepUp, Rounding::kDoubleAway});
  const bool wide = rounding == Rounding::kHalfUp || rounding == Rounding::kDoubleAway;
  std::vector<ChannelRequant> records;
  for (int64_t i = 0; i < channels; ++i) {
    const auto multiplier = static_cast<int32_t>(m.random.Int(1 << 30, INT32_MAX)) & ~127;
    const auto rshift = static_cast<int32_t>(m.random.Int(7, wide ? 69 : 62));
    records.push_back({static_cast<int32_t>(wide && !bytes ? m.random.Int(INT32_MIN, INT32_MAX)
                                                           : m.random.Int(-(1 << 20), 1 << 20)),
                       m.Chance(200) ? 1 : multiplier, rshift});
    if (rounding == Rounding::kDoubleAway) {  // a double from 2^-30 on
      records.back().multiplier = static_cast<int32_t>(m.random.Int(0x3e100000, 0x3ff00000));
      records.back().rshift = static_cast<int32_t>(m.random.Int(INT32_MIN, INT32_MAX));
    }
  }
  c.Set(Field::kRounding, static_cast<int64_t>(rounding));
  const int32_t weights =
      m.b.Const(DType::kBytes, {channels * products}, m.random.Data(channels * products));
  const int32_t requant = m.b.Const(DType::kBytes, {channels * 12}, records);
  c.Set(Field::kWeights, weights).Set(Field::kRequant, requant);
}

void MakeConv(Maker& m) {
  RandomWindow w(m, true);
  const int64_t groups = m.Chance(2) ? 1 : w.src[3];
  w.dst[3] = groups == 1 ? std::max<int64_t>(m.Dim(), 1) : w.src[3];
  const bool bytes = m.Chance(3);
  Command c = bytes ? Make(m, Opcode::kConvS16, m.ByteSpec(w.src), S16Spec(w.dst))
                    : Make(m, Opcode::kConvS16, S16Spec(w.src), NarrowSpec(m, w.dst));
  w.SetFields(c);
  c.Set(Field::kGroups, groups);
  SetProducts(m, c, w.dst[3], w.kernel[0] * w.kernel[1] * (w.src[3] / groups), bytes);
  m.b.image.commands.back() = c;
}

void MakeMatMul(Maker& m) {
  const int64_t k = std::max<int64_t>(m.Dim(), 1), n = std::max<int64_t>(m.Dim(), 1);
  Shape x = m.Dims(1, 3), y;
  x.back() = k;
  y = x;
  y.back() = n;
  const bool bytes = m.Chance(3);
  Command c = bytes ? Make(m, Opcode::kMatMulS16, m.ByteSpec(x), S16Spec(y))
                    : Make(m, Opcode::kMatMulS16, S16Spec(x), NarrowSpec(m, y));
  SetProducts(m, c, n, k, bytes);
  m.b.image.commands.back() = c;
}

// Sums of s16 in s32; seldom with a record that they have not.
void MakeSums(Maker& m) {
  const int64_t k = std::max<int64_t>(m.Dim(), 1), n = std::max<int64_t>(m.Dim(), 1);
  Shape x = m.Dims(1, 3), y;
  x.back() = k;
  y = x;
  y.back() = n;
  const int32_t src = m.Src(S16Spec(x)), dst = m.Dst({DType::kS32, y});
  std::vector<ChannelRequant> records(static_cast<size_t>(n));
  if (m.Chance(50)) records.back().rshift = 1;
  const int32_t weights = m.b.Const(DType::kBytes, {n * k}, m.random.Data(n * k));
  const int32_t requant = m.b.Const(DType::kBytes, {n * 12}, records);
  m.b.Add(Opcode::kMatMulS16, dst, src).Set(Field::kWeights, weights).Set(Field::kRequant, requant);
}

// Linear or cubic taps along one dimension or two neighbours; seldom such as amplify too much.
void MakeResize(Maker& m) {
  Shape from = m.Dims(1, 4);
  for (int64_t& dim : from) dim = std::max<int64_t>(dim, 1);
  Shape to = from;
  const auto first = static_cast<size_t>(m.random.Int(0, static_cast<int64_t>(from.size()) - 1));
  const size_t end = std::min(from.size(), first + static_cast<size_t>(m.random.Int(1, 2)));
  std::vector<int32_t> list(from.size()), pairs;
  for (size_t d = first; d < end; ++d) {
    to[d] = m.random.Int(1, 9);
    list[d] = m.Chance(2) ? 2 : 4;
    const int32_t outer = list[d] == 2 ? 0 : m.Chance(100) ? 9000 : 2000;
    for (int64_t i = 0; i < to[d]; ++i) {
      const auto part = static_cast<int32_t>(m.random.Int(0, 32768));
      const auto add = [&](int32_t weight) {
        pairs.push_back(static_cast<int32_t>(m.random.Int(0, from[d] - 1)));
        pairs.push_back(weight);
      };
      if (list[d] == 4) add(-outer);
      add(part + outer), add(32768 - part + outer);
      if (list[d] == 4) add(-outer);
    }
  }
  list.insert(list.end(), pairs.begin(), pairs.end());
  Command& c = Make(m, Opcode::kResizeS16, S16Spec(from), NarrowSpec(m, to));
  Command resize = c;
  resize.Set(Field::kList, m.b.Const(DType::kS32, {static_cast<int64_t>(list.size())}, list));
  const bool one_scale = m.Chance(2);
  resize.Set(Field::kMultiplier, one_scale ? 1 << 15 : m.random.Int(0, 65535));
  resize.Set(Field::kRshift,
             one_scale ? 15 * static_cast<int64_t>(end - first + 1) : m.random.Int(15, 62));
  m.b.image.commands.back() = resize;
}

int64_t AnyFactor(Maker& m) { return m.random.Int(1, int64_t{1} << m.random.Int(0, 45)); }

void MakeComparison(Maker& m, const Shape& shape, int32_t src2) {
  const int32_t src = m.Src(S16Spec(shape)), dst = m.Dst({DType::kBool, shape});
  m.b.Add(Opcode::kCompareS16, dst, src)
      .Set(Field::kSrc2, src2)
      .Set(Field::kMode, m.random.Int(m.Chance(50) ? 0 : 8, 12))
      .Set(Field::kMultiplier, AnyFactor(m))
      .Set(Field::kMultiplier2, AnyFactor(m));
}

void SetPow(Maker& m, Command& c) {
  std::vector<int32_t> table = numerics::PowTable();
  if (m.Chance(100)) table[static_cast<size_t>(m.random.Int(0, 1536))] = -1;
  const int64_t log = int64_t{1} << 32;
  Command pow = c;
  pow.Set(Field::kTable, m.b.Const(DType::kBytes, {4 * static_cast<int64_t>(table.size())}, table))
      .Set(Field::kMultiplier, m.random.Int(0, (1 << 24) - 1))
      .Set(Field::kRshift, m.random.Int(0, 93))
      .Set(Field::kOffset, m.random.Int(-log, log))
      .Set(Field::kCount, m.random.Int(-log, log));
  m.b.image.commands.back() = pow;
}

void MakePair(Maker& m, Opcode opcode) {
  const Shape shape = m.Dims(1, 4);
  int32_t src2;
  if (m.Chance(3)) {
    Shape part = shape;
    for (int64_t d = m.random.Int(0, static_cast<int64_t>(shape.size())); d-- > 0;)
      part[static_cast<size_t>(d)] = 1;
    src2 = m.b.QuantizedConst(S16Spec(part), m.random.Data(2 * NumElements(part)));
  } else {
    src2 = m.Src(opcode == Opcode::kExtremumS16 ? S16Spec(shape) : NarrowSpec(m, shape));
  }
  if (opcode == Opcode::kCompareS16) return MakeComparison(m, shape, src2);
  Command& c =
      Make(m, opcode, opcode == Opcode::kExtremumS16 ? S16Spec(shape) : NarrowSpec(m, shape),
           S16Spec(shape));
  c.Set(Field::kSrc2, src2);
  if (opcode == Opcode::kExtremumS16) {
    c.Set(Field::kFlags, m.random.Int(0, 1));
    return;
  }
  if (opcode == Opcode::kMulS16) {
    c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(0, 62));
    const Rounding rounding = RoundingOf(m, {Rounding::kHalfUp, Rounding::kTwoStep});
    c.Set(Field::kRounding, static_cast<int64_t>(rounding));
    return;
  }
  if (opcode == Opcode::kAddShiftedS16) {
    c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(30, 62));
    c.Set(Field::kMultiplier2, m.Multiplier()).Set(Field::kRshift2, m.random.Int(31, 62));
    c.Set(Field::kMultiplier3, m.Multiplier()).Set(Field::kRshift3, m.random.Int(0, 62));
    c.Set(Field::kCount, m.random.Int(0, 15)).Set(Field::kFlags, m.random.Int(0, 1));
    return;
  }
  if (opcode == Opcode::kModS16) {
    c.Set(Field::kMultiplier, AnyFactor(m)).Set(Field::kMultiplier2, AnyFactor(m));
    c.Set(Field::kMultiplier3, m.random.Int(0, INT32_MAX));
    c.Set(Field::kRshift3, m.random.Int(0, 93));
    return;
  }
  if (opcode == Opcode::kPowS16) return SetPow(m, c);
  if (opcode == Opcode::kDivS16) {
    c.Set(Field::kMultiplier, m.random.Int(0, INT32_MAX));
    c.Set(Field::kRshift, m.random.Int(0, m.Chance(50) ? 62 : 46));
    return;
  }
  c.Set(Field::kMultiplier, m.random.Int(INT32_MIN, INT32_MAX));
  c.Set(Field::kMultiplier2, m.random.Int(INT32_MIN, INT32_MAX));
  c.Set(Field::kRshift, m.random.Int(0, 46));
}

// Of bytes, too.
void MakeProduct(Maker& m) {
  const Shape rows = {m.random.Int(1, 3), m.random.Int(1, 6), 1, m.random.Int(1, 70)};
  const TensorSpec x = NarrowSpec(m, rows);
  TensorSpec y = NarrowSpec(m, {rows[0], 1, 1, rows[3]});
  if (!m.Chance(50)) y.dtype = x.dtype, y.zero_point = x.zero_point;
  Make(m, Opcode::kProduct, x, y)
      .Set(Field::kMultiplier, m.random.Int(0, 32767))
      .Set(Field::kRshift, m.random.Int(0, 46));
}

void MakeSquares(Maker& m) {
  const Shape rows = {m.random.Int(1, 3), m.random.Int(1, 600), 1, m.random.Int(1, 70)};
  Make(m, Opcode::kReduceSquares, NarrowSpec(m, rows), NarrowSpec(m, {rows[0], 1, 1, rows[3]}))
      .Set(Field::kMultiplier, m.random.Int(0, (1 << 24) - 1))
      .Set(Field::kRshift, m.random.Int(0, 62))
      .Set(Field::kFlags, m.random.Int(0, 1));
}

void MakeTable(Maker& m) {
  const Shape shape = m.Dims(0, 4);
  std::vector<int32_t> entries((size_t{1} << m.random.Int(9, 13)) + 1);
  for (int32_t& e : entries) e = static_cast<int32_t>(m.random.Int(-(1 << 24) + 1, (1 << 24) - 1));
  if (m.Chance(100)) entries[7] = 1 << 24;
  const int32_t table =
      m.Chance(2) ? m.b.Const(DType::kBytes, {131072}, m.random.Data(131072))
                  : m.b.Const(DType::kBytes, {4 * static_cast<int64_t>(entries.size())}, entries);
  Make(m, Opcode::kTableS16, S16Spec(shape), NarrowSpec(m, shape)).Set(Field::kTable, table);
}

void MakeChannelTables(Maker& m) {
  const Shape shape = m.Dims(1, 4);
  const int64_t tables = m.random.Int(1, 5), channels = shape.back();
  std::vector<int32_t> entries(static_cast<size_t>(513 * tables));
  for (int32_t& e : entries) e = static_cast<int32_t>(m.random.Int(-(1 << 24) + 1, (1 << 24) - 1));
  if (m.Chance(100)) entries[7] = 1 << 24;
  std::vector<uint8_t> numbers;
  for (int64_t c = 0; c < channels; ++c)
    numbers.push_back(static_cast<uint8_t>(m.random.Int(0, tables - (m.Chance(50) ? 0 : 1))));
  const int32_t table = m.b.Const(DType::kBytes, {2052 * tables}, entries);
  const int32_t of_channel = m.b.Const(DType::kU8, {channels}, numbers);
  Make(m, Opcode::kChannelTablesS16, S16Spec(shape), NarrowSpec(m, shape))
      .Set(Field::kTable, table)
      .Set(Field::kSrc2, of_channel);
}

void MakeSoftmax(Maker& m) {
  std::vector<int16_t> entries(2 * 513);
  for (int16_t& e : entries) e = static_cast<int16_t>(m.random.Int(0, 32767));
  entries[511] = entries[512] = 2;
  if (m.Chance(50)) entries[512] = 1;
  const Shape shape = m.Dims(1, 4);
  const int32_t src = m.Src(S16Spec(shape)), dst = m.Dst(S16Spec(shape));
  const int32_t table = m.b.Const(DType::kBytes, {2052}, entries);
  m.b.Add(Opcode::kSoftmaxS16, dst, src)
      .Set(Field::kTable, table)
      .Set(Field::kMultiplier, m.Multiplier())
      .Set(Field::kRshift, m.random.Int(0, 62));
}

void MakeQuotientSoftmax(Maker& m) {
  std::vector<int32_t> entries(512);
  for (int32_t& e : entries) e = static_cast<int32_t>(m.random.Int(0, 1 << 30));
  entries[0] = entries[256] = 1 << 30;
  if (m.Chance(50)) entries[256] -= 1;
  const Shape shape = m.Dims(1, 4);
  Command c = Make(m, Opcode::kQuotientSoftmaxS16, S16Spec(shape), NarrowSpec(m, shape));
  c.Set(Field::kTable, m.b.Const(DType::kBytes, {2048}, entries));
  c.Set(Field::kMultiplier, m.Multiplier()).Set(Field::kRshift, m.random.Int(0, 31));
  c.Set(Field::kFlags, m.Chance(2) ? 1 : 0);
  m.b.image.commands.back() = c;
}

// Seldom a multiplier of too many bits.
void MakeBatchedMatMul(Maker& m) {
  const auto dim = [&m] { return std::max<int64_t>(m.Dim(), 1); };
  const int64_t k = m.Chance(12) ? m.random.Int(250, 600) : dim();
  Shape a = {dim(), dim(), k}, b = {a[0], k, dim()};
  if (m.Chance(3)) b[0] = 1;
  const TensorSpec y = NarrowSpec(m, {a[0], a[1], b[2]});
  const int32_t src = m.Src(S16Spec(a)), src2 = m.Src(S16Spec(b)), dst = m.Dst(y);
  const int zeros = m.Chance(30) ? 3 : 11;
  Command& c = m.b.Add(Opcode::kBatchedMatMulS16, dst, src);
  m.Clamp(c);
  c.Set(Field::kSrc2, src2).Set(Field::kRshift, m.random.Int(20, 62 + zeros));
  c.Set(Field::kMultiplier, m.Multiplier() >> zeros << zeros);
}

void MakeNormalize(Maker& m) {
  Shape shape = m.Dims(1, 4);
  for (int64_t& dim : shape) dim = std::max<int64_t>(dim, 1);
  const auto rank = static_cast<int64_t>(shape.size());
  const bool channels = rank > 1 && m.Chance(3);
  const int64_t axis = m.random.Int(0, rank - (channels ? 2 : 1));
  const int64_t count =
      channels ? shape.back() : NumElements(Shape(shape.begin() + axis, shape.end()));
  std::vector<int32_t> factors;
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i) {
    factors.push_back(static_cast<int32_t>(m.random.Int(-(1 << 30) + 1, (1 << 30) - 1)));
    offsets.push_back(m.random.Int(-(int64_t{1} << 61), int64_t{1} << 61));
  }
  Command c = Make(m, Opcode::kNormalizeS16, S16Spec(shape), NarrowSpec(m, shape));
  c.Set(Field::kSrc2, m.b.Const(DType::kS32, {count}, factors));
  c.Set(Field::kList, m.b.Const(DType::kS64, {count}, offsets));
  c.Set(Field::kAxis, axis).Set(Field::kFlags, m.random.Int(0, 1) | (channels ? 2 : 0));
  c.Set(Field::kOffset, m.random.Int(0, m.Chance(2) ? 1 << 20 : (int64_t{1} << 60)));
  c.Set(Field::kRshift, m.random.Int(0, 6) * 2).Set(Field::kRshift2, m.random.Int(1, 62));
  m.b.image.commands.back() = c;
}

}  // namespace

bool MakeInt16Command(Opcode opcode, Maker& m) {
  switch (opcode) {
    case Opcode::kRequantizeS16: {
      const Shape shape = m.Dims(0, 4);
      Make(m, opcode, S16Spec(shape), NarrowSpec(m, shape))
          .Set(Field::kMultiplier, m.Multiplier())
          .Set(Field::kRshift, m.random.Int(0, 62))
          .Set(Field::kRounding,
               static_cast<int64_t>(RoundingOf(m, {Rounding::kHalfUp, Rounding::kTwoStep})));
      return true;
    }
    case Opcode::kConvS16:
      return MakeConv(m), true;
    case Opcode::kMatMulS16:
      return m.Chance(4) ? MakeSums(m) : MakeMatMul(m), true;
    case Opcode::kResizeS16:
      return MakeResize(m), true;
    case Opcode::kAddS16:
    case Opcode::kMulS16:
    case Opcode::kDivS16:
    case Opcode::kCompareS16:
    case Opcode::kModS16:
    case Opcode::kPowS16:
    case Opcode::kAddShiftedS16:
    case Opcode::kExtremumS16:
      return MakePair(m, opcode), true;
    case Opcode::kProduct:
      return MakeProduct(m), true;
    case Opcode::kReduceSquares:
      return MakeSquares(m), true;
    case Opcode::kTableS16:
      return MakeTable(m), true;
    case Opcode::kChannelTablesS16:
      return MakeChannelTables(m), true;
    case Opcode::kAveragePoolS16: {
      const RandomWindow w(m, true);
      Command& c = Make(m, opcode, S16Spec(w.src), NarrowSpec(m, w.dst));
      w.SetFields(c);
      c.Set(Field::kMultiplier, m.random.Int(0, (1 << 24) - 1));
      c.Set(Field::kRshift, m.random.Int(0, 41)).Set(Field::kFlags, m.random.Int(0, 1));
      c.Set(Field::kRounding,
            static_cast<int64_t>(
                RoundingOf(m, {Rounding::kHalfUp, Rounding::kHalfAway, Rounding::kTwoStep})));
      return true;
    }
    case Opcode::kNormalizeS16:
      return MakeNormalize(m), true;
    case Opcode::kSoftmaxS16:
      return MakeSoftmax(m), true;
    case Opcode::kQuotientSoftmaxS16:
      return MakeQuotientSoftmax(m), true;
    case Opcode::kBatchedMatMulS16:
      return MakeBatchedMatMul(m), true;
    default:
      return false;
  }
}

}  // namespace rshift::testing
