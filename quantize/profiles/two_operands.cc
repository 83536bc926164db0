#include "quantize/profiles/two_operands.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "isa/function_names.h"
#include "quantize/numerics/compare.h"
#include "quantize/numerics/divide.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/table.h"

namespace rshift {
namespace {

// What each byte of an operand stands for.
std::vector<double> RealsOf(const IntType& type, const std::vector<double>& listed) {
  if (!listed.empty()) return listed;
  std::vector<double> reals;
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t q = numerics::ValueOfByte(byte, type.dtype == DType::kS8);
    reals.push_back(static_cast<double>(type.quant.scale) * (q - type.quant.zero_point));
  }
  return reals;
}

QBinaryTable EachPair(const BinaryLayer& layer,
                      const std::function<int32_t(double, double)>& entry) {
  const std::vector<double> a = RealsOf(layer.a, layer.listed_a);
  const std::vector<double> b = RealsOf(layer.b, layer.listed_b);
  QBinaryTable table;
  table.entries.reserve(65536);
  for (const double real_a : a) {
    for (const double real_b : b) {
      table.entries.push_back(static_cast<uint8_t>(entry(real_a, real_b)));
    }
  }
  return table;
}

}  // namespace

bool Compare(BinaryOp op, float a, float b) {
  RSHIFT_REQUIRE(numerics::IsComparison(op), ErrorCode::kInternal, Name(op), " is no comparison");
  return numerics::Compare(op, a, b);
}

double Evaluate(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kPow:
      return portable::Pow(a, b);
    case BinaryOp::kMin:
      return std::fmin(a, b);
    case BinaryOp::kMax:
      return std::fmax(a, b);
    case BinaryOp::kMod:
      return std::fmod(a, b);
    case BinaryOp::kSquaredDifference:
      return (a - b) * (a - b);
    case BinaryOp::kEqual:
    case BinaryOp::kLess:
    case BinaryOp::kLessOrEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterOrEqual:
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      break;
  }
  Fail(ErrorCode::kInternal, Name(op), " has no integer table: SupportBinary() lets none through");
}

isa::Extremum ExtremumOf(const BinaryLayer& layer, const ClampQ& clamp) {
  return {.min = layer.op == BinaryOp::kMin, .clamp = clamp};
}

QDiv QuotientOf(const BinaryLayer& layer, const ClampQ& clamp) {
  const double factor =
      static_cast<double>(layer.a.quant.scale) / static_cast<double>(layer.y.quant.scale);
  QDiv op;
  op.clamp = clamp;
  for (const double divisor : RealsOf(layer.b, layer.listed_b)) {
    op.reciprocals.push_back(numerics::DivisionReciprocal(factor, divisor));
  }
  return op;
}

QBinaryTable TableOfIntegers(const BinaryLayer& layer,
                             const std::function<int32_t(int32_t, int32_t)>& entry) {
  const auto difference = [](const IntType& type, int byte) {
    return numerics::ValueOfByte(byte, type.dtype == DType::kS8) - type.quant.zero_point;
  };
  QBinaryTable table;
  table.entries.reserve(65536);
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const int32_t y = entry(difference(layer.a, a), difference(layer.b, b));
      table.entries.push_back(static_cast<uint8_t>(y));
    }
  }
  return table;
}

QBinaryTable TableOfPairs(const BinaryLayer& layer,
                          const std::function<double(double, double)>& function) {
  const double lo = layer.clamp.lo, hi = layer.clamp.hi;
  return EachPair(layer, [&](double a, double b) {
    const double v = function(a, b);
    return numerics::QuantizeReal(v < lo   ? lo
                                  : v > hi ? hi
                                           : v,
                                  layer.y.quant.scale, layer.y.quant.zero_point, layer.y.qmin(),
                                  layer.y.qmax());
  });
}

QBinaryTable TableOfFloatPairs(const BinaryLayer& layer,
                               const std::function<float(float, float)>& function) {
  const float lo = layer.clamp.lo, hi = layer.clamp.hi;
  return EachPair(layer, [&](double a, double b) {
    const float v = function(static_cast<float>(a), static_cast<float>(b));
    if (v != v) return layer.y.qmin();
    return numerics::QuantizeValue(v < lo   ? lo
                                   : v > hi ? hi
                                            : v,
                                   layer.y.quant.scale, layer.y.quant.zero_point, layer.y.qmin(),
                                   layer.y.qmax());
  });
}

QBinaryTable TableOfComparison(const BinaryLayer& layer) {
  return EachPair(layer, [&](double a, double b) {
    return Compare(layer.op, static_cast<float>(a), static_cast<float>(b)) ? 1 : 0;
  });
}

}  // namespace rshift
