// Tests of floats (IsNaN, IsInf), and bits of integers: of constants, and shifts by a constant.
#include <bit>
#include <limits>

#include "graph/fold/fold.h"
#include "graph/onnx/expr.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void ImportIsNan(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  Give(Not(Equal(x, x)));
}

void ImportIsInf(OnnxNode& node) {
  const Expr x = FloatIn(node, 0);
  const bool negative = node.Int("detect_negative", 1) != 0;
  const bool positive = node.Int("detect_positive", 1) != 0;
  if (!negative && !positive) return Give(Filled(node, 0.0, x.shape(), DType::kBool));
  const Expr tested = negative && positive ? Abs(x) : x;
  Give(Equal(tested, Number(node, positive ? kInfinity : -kInfinity)));
}

// Both inputs constant: element by element, in the type's own width.
template <typename F>
void FoldBits(OnnxNode& node, const Expr& a, const Expr& b, F f) {
  node.CheckSupported(a.is_constant() && b.is_constant(),
                      "its inputs are computed from the model's input, expected a constant");
  const Shape shape = Broadcast(a.shape(), b.shape(), node.where());
  const DType type = a.type();
  const auto x = IntElements(Expanded(a, shape).value());
  const auto y = IntElements(Expanded(b, shape).value());
  std::vector<int64_t> result(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    result[i] = static_cast<int64_t>(f(static_cast<uint64_t>(x[i]), static_cast<uint64_t>(y[i])));
  }
  Give(Ints(node, shape, result, type));
}

void CheckIntegers(OnnxNode& node) {
  for (int i = 0; i < node.InputCount(); ++i) {
    node.Check(node.TypeOf(i) != DType::kF32 && node.TypeOf(i) == node.TypeOf(0),
               "inputs have types ", Name(node.TypeOf(0)), " and ", Name(node.TypeOf(i)),
               ", expected equal integer types");
  }
}

template <typename F>
void ImportBitwise(OnnxNode& node, F f) {
  CheckIntegers(node);
  FoldBits(node, In(node, 0), In(node, 1), f);
}

bool IsSigned(DType type) {
  return type == DType::kS8 || type == DType::kS16 || type == DType::kS32 || type == DType::kS64;
}

// ~x = -1 - x for signed, largest - x for unsigned integers.
void ImportBitwiseNot(OnnxNode& node) {
  CheckIntegers(node);
  const Expr x = In(node, 0);
  if (x.is_constant()) return FoldBits(node, x, x, [](uint64_t a, uint64_t) { return ~a; });
  if (x.type() == DType::kS32 || x.type() == DType::kS64) return Give(-1.0 - x);
  const double all =
      IsSigned(x.type()) ? -1.0 : static_cast<double>((1ull << 8 * SizeOf(x.type())) - 1);
  node.CheckSupported(SizeOf(x.type()) < 8, "input has type uint64, expected a constant");
  Give(CastTo(all - CastTo(x, DType::kS64), x.type()));
}

uint64_t Shifted(uint64_t x, uint64_t by, bool left, int64_t bits, bool is_signed) {
  const auto value = static_cast<int64_t>(x);
  const bool negative = is_signed && value < 0;
  if (by >= static_cast<uint64_t>(bits)) return !left && negative ? ~uint64_t{0} : 0;
  if (left) return x << by;
  return is_signed ? static_cast<uint64_t>(value >> by) : x >> by;
}

void ImportBitShift(OnnxNode& node) {
  CheckIntegers(node);
  const std::string direction = node.String("direction", "");
  node.Check(direction == "LEFT" || direction == "RIGHT", "attribute 'direction' is ",
             Quoted(direction), ", expected LEFT or RIGHT");
  const DType type = node.TypeOf(0);
  const bool is_signed =
      type == DType::kS8 || type == DType::kS16 || type == DType::kS32 || type == DType::kS64;
  const auto bits = static_cast<int64_t>(8 * SizeOf(type));
  FoldBits(node, In(node, 0), In(node, 1), [=](uint64_t x, uint64_t by) {
    return Shifted(x, by, direction == "LEFT", bits, is_signed);
  });
}

// The bytes of a constant, read as another type of the same width. What a double was is an f32
// here, so that only integers can be read as doubles.
void ImportBitCast(OnnxNode& node) {
  node.Check(node.HasAttribute("to"), "attribute 'to' is missing");
  const auto wanted = static_cast<int>(node.Int("to", 0));
  const DType to = ImportDType(wanted, node.where());
  const Expr x = In(node, 0);
  const bool to_double = wanted == onnx::TensorProto::DOUBLE && x.type() != DType::kF32;
  const bool to_small = to == DType::kF32 && wanted != onnx::TensorProto::FLOAT && !to_double;
  node.CheckSupported(!to_small && (to_double ? 8 : SizeOf(to)) == SizeOf(x.type()), "reads ",
                      Name(x.type()), " as ", OnnxTypeName(wanted),
                      ", expected a type of as many bits; floats of 16 and 64 bits are f32 here");
  if (to == x.type()) return Give(x);
  node.CheckSupported(x.is_constant(),
                      "its input is computed from the model's input, expected a constant");
  if (to_double) {
    std::vector<float> numbers;
    for (int64_t bits : IntElements(x.value())) {
      numbers.push_back(static_cast<float>(std::bit_cast<double>(bits)));
    }
    return Give(Floats(node, x.shape(), numbers));
  }
  if (to == DType::kBool) return Give(Not(Equal(x, Number(node, 0.0, x.type()))));
  Value result = x.value();
  result.dtype = to;
  result.name.clear();
  result.origin = nullptr;
  node.OutputConstant(std::move(result));
}

using Bits = uint64_t;
constexpr ImportEntry kBitsImports[] = {
    {"IsNaN", ImportIsNan},
    {"IsInf", ImportIsInf},
    {"BitShift", ImportBitShift},
    {"BitCast", ImportBitCast},
    {"BitwiseNot", ImportBitwiseNot},
    {"BitwiseAnd",
     [](OnnxNode& node) { ImportBitwise(node, [](Bits a, Bits b) { return a & b; }); }},
    {"BitwiseOr",
     [](OnnxNode& node) { ImportBitwise(node, [](Bits a, Bits b) { return a | b; }); }},
    {"BitwiseXor",
     [](OnnxNode& node) { ImportBitwise(node, [](Bits a, Bits b) { return a ^ b; }); }},
};

}  // namespace

std::span<const ImportEntry> BitsImports() { return kBitsImports; }

}  // namespace rshift
