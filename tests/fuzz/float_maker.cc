// Random F32 commands, of the runtime and of rshift_float.
#include <algorithm>
#include <cmath>

#include "tests/fuzz/program_maker.h"

namespace rshift::testing {
namespace {

constexpr DType kF32 = DType::kF32;

// A shape that broadcasts to `dst`.
Shape Broadcastable(Maker& m, const Shape& dst) {
  const auto lead = m.Chance(2) ? 0 : m.random.Int(0, static_cast<int64_t>(dst.size()));
  Shape shape(dst.begin() + lead, dst.end());
  for (int64_t& dim : shape) dim = m.Chance(3) ? 1 : dim;
  return shape;
}

Command& Unary(Maker& m, Opcode opcode, const Shape& shape, DType type = kF32) {
  const int32_t src = m.Src({type, shape});
  return m.b.Add(opcode, m.Dst({type, shape}), src);
}

int64_t AnyAxis(Maker& m, const Shape& shape) {
  return m.random.Int(0, static_cast<int64_t>(shape.size()) - 1);
}

void MakeBinary(Maker& m) {
  const int64_t mode = m.random.Int(0, 15);
  const DType type = mode >= 13 ? DType::kBool : m.Chance(4) ? DType::kS64 : kF32;
  const Shape dst = m.Dims(0, 5);
  const int32_t a = m.Src({type, Broadcastable(m, dst)}), b = m.Src({type, Broadcastable(m, dst)});
  Command& c = m.b.Add(Opcode::kBinaryF32, m.Dst({mode >= 8 ? DType::kBool : type, dst}), a);
  c.Set(Field::kSrc2, b).Set(Field::kMode, mode);
  c.SetFloat(Field::kClampLoF, -INFINITY).SetFloat(Field::kClampHiF, m.Chance(4) ? 6.0f : INFINITY);
}

void MakeWhere(Maker& m) {
  const Shape dst = m.Dims(0, 5);
  const DType type = m.Chance(3)   ? DType::kS64
                     : m.Chance(3) ? DType::kU8
                     : m.Chance(3) ? DType::kS16
                                   : kF32;
  const int32_t condition = m.Src({DType::kBool, Broadcastable(m, dst)});
  const int32_t a = m.Src({type, Broadcastable(m, dst)}), b = m.Src({type, Broadcastable(m, dst)});
  m.b.Add(Opcode::kWhere, m.Dst({type, dst}), condition).Set(Field::kSrc2, a).Set(Field::kSrc3, b);
}

void MakeLayerNorm(Maker& m) {
  const Shape shape = m.Dims(1, 4);
  const int64_t axis = AnyAxis(m, shape),
                size = NumElements(Shape(shape.begin() + axis, shape.end()));
  const int32_t scale = m.Floats(size, -2, 2);
  const int32_t bias = m.Chance(2) ? -1 : m.Floats(size, -2, 2);
  Unary(m, Opcode::kLayerNormF32, shape).Set(Field::kAxis, axis).Set(Field::kSrc2, scale);
  m.b.image.commands.back().Set(Field::kSrc3, bias).SetFloat(Field::kEpsilonF, 1e-5f);
  m.b.image.commands.back().Set(Field::kFlags, m.Chance(2) ? 1 : 0);
}

void MakeInstanceNorm(Maker& m) {
  const bool nhwc = m.Chance(2);
  const Shape shape = nhwc ? m.Dims(4, 4) : m.Dims(3, 5);
  const int64_t channels = nhwc ? shape.back() : shape[1];
  const int32_t scale = m.Floats(channels, -2, 2), bias = m.Floats(channels, -2, 2);
  Command& c = Unary(m, Opcode::kInstanceNormF32, shape);
  c.Set(Field::kSrc2, scale).Set(Field::kSrc3, bias).SetFloat(Field::kEpsilonF, 1e-5f);
  if (nhwc) m.b[c.Tensor(Field::kSrc)].layout = Layout::kNhwc;
}

void MakeReduce(Maker& m) {
  const Shape shape = m.Dims(1, 6);
  std::vector<int64_t> axes;
  Shape kept;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool reduced = m.Chance(2);
    if (!reduced) kept.push_back(shape[d]);
    if (reduced)
      axes.push_back(static_cast<int64_t>(d) -
                     (m.Chance(2) ? static_cast<int64_t>(shape.size()) : 0));
  }
  const int mode = m.random.Int(0, 9);
  DType type = kF32;
  if (kReduceOperands[mode] != ReduceOperands::kFloats && m.Chance(3))
    type = m.Chance(2) ? DType::kS32 : DType::kS64;
  const int32_t list = m.b.List(axes), src = m.Src({type, shape});
  m.b.Add(Opcode::kReduceF32, m.Dst({type, kept}), src)
      .Set(Field::kList, list)
      .Set(Field::kMode, mode);
}

void MakeArgMax(Maker& m) {
  const Shape shape = m.Dims(1, 5);
  const int64_t axis = AnyAxis(m, shape);
  Shape dst = shape;
  dst.erase(dst.begin() + axis);
  const int32_t src = m.Src({kF32, shape});
  m.b.Add(Opcode::kArgMax, m.Dst({DType::kS64, dst}), src).Set(Field::kAxis, axis);
}

void MakeNonMaxSuppression(Maker& m) {
  const int64_t batches = m.random.Int(0, 2), classes = m.random.Int(0, 4), boxes = m.Dim();
  const int64_t most = m.Chance(8) ? int64_t{1} << 40 : m.random.Int(0, 9);
  const int64_t rows = batches * classes * std::min(most, boxes);
  const int32_t src = m.Src({kF32, {batches, boxes, 4}});
  const int32_t scores = m.Src({kF32, {batches, classes, boxes}});
  m.b.Add(Opcode::kNonMaxSuppression, m.Dst({DType::kS64, {1 + rows, 3}}), src)
      .Set(Field::kSrc2, scores)
      .Set(Field::kCount, most)
      .Set(Field::kFlags, m.random.Int(0, 3))
      .SetFloat(Field::kAlphaF, m.random.Float(0.0f, 1.0f))
      .SetFloat(Field::kBetaF, m.Number());
}

// Lists of what src has: NonZero and Unique.
void MakeList(Maker& m, Opcode opcode) {
  constexpr DType kTypes[] = {kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64, DType::kBool};
  const bool unique = opcode == Opcode::kUnique;
  const Shape shape = unique ? m.Dims(2, 2) : m.Dims(0, 4);
  const int64_t entries = unique ? 3 * shape[0] : NumElements(shape);
  const int32_t src = m.Src({kTypes[m.random.Int(0, 5)], shape});
  Command& c = m.b.Add(opcode, m.Dst({DType::kS64, {1 + entries}}), src);
  if (unique) c.Set(Field::kFlags, m.random.Int(0, 1));
}

void MakeTopK(Maker& m) {
  constexpr DType kTypes[] = {kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64};
  const Shape shape = m.Dims(2, 2);
  const int32_t src = m.Src({kTypes[m.random.Int(0, 4)], shape});
  const int32_t dst = m.Dst({DType::kS64, {shape[0], m.random.Int(0, shape[1])}});
  m.b.Add(Opcode::kTopK, dst, src).Set(Field::kFlags, m.random.Int(0, 1));
}

void MakeResize(Maker& m) {
  const Shape src = m.Dims(1, 5);
  Shape dst = src;
  std::vector<float> scales;
  for (size_t d = 0; d < src.size(); ++d) {
    if (m.Chance(2)) dst[d] = m.Dim();
    const bool odd = src[d] == 0 || dst[d] == 0 || m.Chance(20);
    const float scale =
        static_cast<float>(dst[d]) / static_cast<float>(std::max<int64_t>(src[d], 1));
    scales.push_back(odd ? m.random.Float(0.01f, 4.0f) : scale);
    if (m.Chance(40)) scales.back() = m.Number();
  }
  const int32_t list = m.b.Const(kF32, {static_cast<int64_t>(scales.size())}, scales);
  const int32_t from = m.Src({kF32, src});
  Command& c = m.b.Add(Opcode::kResizeF32, m.Dst({kF32, dst}), from);
  c.Set(Field::kList, list).Set(Field::kMode, m.random.Int(1, 2));
  c.Set(Field::kCoordinate, m.random.Int(0, 4)).SetFloat(Field::kAlphaF, -0.75f);
}

void MakeWindowed(Maker& m, Opcode opcode) {
  RandomWindow w(m, true);
  if (opcode == Opcode::kAveragePoolF32) {
    const int32_t src = m.Src({kF32, w.src});
    return w.SetFields(m.b.Add(opcode, m.Dst({kF32, w.dst}), src));
  }
  const bool transposed = opcode == Opcode::kConvTransposeF32;
  const int64_t groups = m.Chance(3) ? m.random.Int(1, 3) : 1;
  const int64_t ic = w.src[3], oc = m.scale * m.random.Int(1, 20);
  w.src[3] = groups * ic, w.dst[3] = groups * oc;
  Shape weights = transposed ? Shape{groups * ic, oc, w.kernel[0], w.kernel[1]}
                             : Shape{groups * oc, ic, w.kernel[0], w.kernel[1]};
  // Transposed, the window leads from the small image to the large one.
  Shape src = w.src, dst = w.dst;
  if (transposed) {
    for (const size_t d : {1, 2}) std::swap(src[d], dst[d]);
  }
  const int32_t constant =
      m.b.Const(kF32, weights, std::vector<float>(static_cast<size_t>(NumElements(weights)), 0.5f));
  const int32_t bias = m.Chance(2) ? -1 : m.Floats(groups * oc, -2, 2), from = m.Src({kF32, src});
  Command& c = m.b.Add(opcode, m.Dst({kF32, dst}), from);
  w.SetFields(c);
  c.Set(Field::kGroups, groups).Set(Field::kWeights, constant).Set(Field::kSrc3, bias);
  c.SetFloat(Field::kClampLoF, m.Chance(3) ? 0.0f : -INFINITY).SetFloat(Field::kClampHiF, INFINITY);
}

// One filter for each channel, or windows of one pixel.
void MakePlanar(Maker& m) {
  const bool points = m.Chance(3);
  const int64_t ic = m.scale * m.random.Int(1, 20),
                oc = points ? m.scale * m.random.Int(1, 20) : ic;
  Shape src = {m.random.Int(1, 2), ic, 1, 1}, dst = {src[0], oc, 1, 1};
  RandomWindow w(m, true);
  for (const size_t d : {0, 1}) {
    w.kernel[d] = points ? 1 : m.random.Int(1, 6);
    w.dilation[d] = m.random.Int(1, 3);
    w.stride[d] = points ? 1 : m.random.Int(1, 4);
    w.before[d] = points ? 0 : m.random.Int(0, 4);
    w.after[d] = points ? 0 : m.random.Int(0, 4);
    const int64_t reach = (w.kernel[d] - 1) * w.dilation[d] + 1;
    src[2 + d] = reach + m.random.Int(0, m.Chance(5) ? 90 : 20);
    dst[2 + d] = (src[2 + d] + w.before[d] + w.after[d] - reach) / w.stride[d] + 1;
  }
  const Shape weights = {oc, points ? ic : 1, w.kernel[0], w.kernel[1]};
  const int32_t constant =
      m.b.Const(kF32, weights, std::vector<float>(static_cast<size_t>(NumElements(weights)), 0.5f));
  const int32_t bias = m.Chance(2) ? -1 : m.Floats(oc, -2, 2), from = m.Src({kF32, src});
  Command& c = m.b.Add(Opcode::kConvPlanarF32, m.Dst({kF32, dst}), from);
  w.SetFields(c);
  c.Set(Field::kGroups, points ? 1 : ic).Set(Field::kWeights, constant).Set(Field::kSrc3, bias);
  c.SetFloat(Field::kClampLoF, m.Chance(3) ? 0.0f : -INFINITY).SetFloat(Field::kClampHiF, INFINITY);
}

void MakeMatMul(Maker& m) {
  const int64_t rows = m.scale * m.random.Int(1, 8), k = m.scale * m.random.Int(1, 40);
  const int64_t n = m.scale * m.random.Int(1, 40);
  Shape lead = m.Dims(0, 2);
  for (int64_t& dim : lead) dim = std::max<int64_t>(dim, 1);
  Shape a = Broadcastable(m, lead), b = lead, dst = lead;
  if (m.Chance(2)) a = lead, b.clear();
  a.insert(a.end(), {rows, k}), b.insert(b.end(), {k, n}), dst.insert(dst.end(), {rows, n});
  const int32_t bias = m.Chance(2) ? -1 : m.Floats(n, -2, 2), left = m.Src({kF32, a});
  const int32_t right =
      m.Chance(2)
          ? m.Src({kF32, b})
          : m.b.Const(kF32, b, std::vector<float>(static_cast<size_t>(NumElements(b)), 0.5f));
  Command& c = m.b.Add(Opcode::kMatMulF32, m.Dst({kF32, dst}), left);
  c.Set(Field::kSrc2, right).Set(Field::kSrc3, bias);
  c.SetFloat(Field::kClampLoF, -INFINITY).SetFloat(Field::kClampHiF, INFINITY);
}

}  // namespace

bool MakeFloatCommand(Opcode opcode, Maker& m) {
  switch (opcode) {
    case Opcode::kBinaryF32:
      return MakeBinary(m), true;
    case Opcode::kUnaryF32: {
      const int64_t mode = m.random.Int(0, 37);
      Command& c = Unary(m, opcode, m.Dims(0, 4), mode == 25 ? DType::kBool : kF32);
      c.Set(Field::kMode, mode)
          .SetFloat(Field::kAlphaF, m.Number())
          .SetFloat(Field::kBetaF, m.Number());
      return true;
    }
    case Opcode::kClipF32:
      Unary(m, opcode, m.Dims(0, 4))
          .SetFloat(Field::kClampLoF, -1)
          .SetFloat(Field::kClampHiF, m.Number());
      return true;
    case Opcode::kLeakyReluF32:
      Unary(m, opcode, m.Dims(0, 4)).SetFloat(Field::kAlphaF, m.Number());
      return true;
    case Opcode::kPReluF32: {
      const Shape shape = m.Dims(0, 4);
      const int32_t slope = m.Src({kF32, Broadcastable(m, shape)});
      Unary(m, opcode, shape).Set(Field::kSrc2, slope);
      return true;
    }
    case Opcode::kSoftmaxF32: {
      const Shape shape = m.Dims(1, 4);
      Unary(m, opcode, shape)
          .Set(Field::kAxis, AnyAxis(m, shape))
          .Set(Field::kFlags, m.random.Int(0, 1));
      return true;
    }
    case Opcode::kLayerNormF32:
      return MakeLayerNorm(m), true;
    case Opcode::kReduceF32:
      return MakeReduce(m), true;
    case Opcode::kArgMax:
      return MakeArgMax(m), true;
    case Opcode::kWhere:
      return MakeWhere(m), true;
    case Opcode::kNonMaxSuppression:
      return MakeNonMaxSuppression(m), true;
    case Opcode::kNonZero:
    case Opcode::kUnique:
      return MakeList(m, opcode), true;
    case Opcode::kTopK:
      return MakeTopK(m), true;
    case Opcode::kCast: {
      constexpr DType kTypes[] = {kF32,       DType::kS64, DType::kS32, DType::kBool,
                                  DType::kU8, DType::kS8,  DType::kS16, DType::kU16};
      const Shape shape = m.Dims(0, 4);
      const int32_t src = m.Src({kTypes[m.random.Int(0, 7)], shape});
      m.b.Add(opcode, m.Dst({kTypes[m.random.Int(0, 7)], shape}), src);
      return true;
    }
    case Opcode::kResizeF32:
      return MakeResize(m), true;
    case Opcode::kLrnF32: {
      const Shape shape = m.Dims(1, 4);
      Command& c = Unary(m, opcode, shape).Set(Field::kAxis, AnyAxis(m, shape));
      c.Set(Field::kCount, m.Chance(6) ? m.random.Int(1, 1 << 20) : m.random.Int(1, 7));
      c.SetFloat(Field::kAlphaF, 1e-4f)
          .SetFloat(Field::kBetaF, 0.75f)
          .SetFloat(Field::kBiasF, m.Number());
      return true;
    }
    case Opcode::kFakeQuantizeF32: {
      const Shape shape = m.Dims(1, 4);
      const int64_t axis = AnyAxis(m, shape);
      const int64_t entries = m.Chance(2) ? 1 : shape[static_cast<size_t>(axis)];
      std::vector<float> ranges(static_cast<size_t>(entries) * 4);
      for (float& end : ranges) end = m.Number();
      const int32_t constant = m.b.Const(kF32, {entries, 4}, ranges);
      Unary(m, opcode, shape)
          .Set(Field::kSrc2, constant)
          .Set(Field::kAxis, axis)
          .Set(Field::kCount, m.random.Int(2, 65536));
      return true;
    }
    case Opcode::kInstanceNormF32:
      return MakeInstanceNorm(m), true;
    case Opcode::kConvF32:
    case Opcode::kConvTransposeF32:
    case Opcode::kAveragePoolF32:
      return MakeWindowed(m, opcode), true;
    case Opcode::kConvPlanarF32:
      return MakePlanar(m), true;
    case Opcode::kMatMulF32:
      return MakeMatMul(m), true;
    default:
      return false;
  }
}

}  // namespace rshift::testing
