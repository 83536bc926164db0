#include "graph/onnx/number_product.h"

#include <algorithm>
#include <cmath>

namespace rshift {
namespace {

constexpr double kExact = 16777216.0;  // 2^24
constexpr double kLargest = 255.0;     // |q - zero point| of a byte
constexpr int64_t kMostParts = 64;

const Value& ValueOf(Expansion& e, const std::string& name) {
  return e.node().At(e.node().state().values.at(name));
}

// How many parts of dimension K (the last but one of b) have sums below 2^24 each.
int64_t PartsOf(Expansion& e, const std::string& b) {
  const Value& value = ValueOf(e, b);
  const int64_t k = value.shape[value.shape.size() - 2], n = value.shape.back();
  if (!value.is_constant()) {
    return static_cast<int64_t>(std::ceil(static_cast<double>(k) * kLargest * kLargest / kExact));
  }
  const auto elements = value.constant->As<float>();
  const auto fits = [&](int64_t parts) {
    const int64_t length = (k + parts - 1) / parts;
    for (int64_t row = 0, rows = NumElements(value.shape) / n; row < rows; row += k) {
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i) {
          if (i % length == 0) sum = 0;
          sum += std::fabs(static_cast<double>(elements[(row + i) * n + c]));
          if (sum * kLargest >= kExact) return false;
        }
      }
    }
    return true;
  };
  int64_t parts = 1;
  while (parts <= kMostParts && !fits(parts)) ++parts;
  return parts;
}

std::string Ints(Expansion& e, std::vector<int64_t> elements) {
  Value constant;
  constant.dtype = DType::kS64;
  constant.shape = {static_cast<int64_t>(elements.size())};
  constant.constant = MakeConstant(std::span<const int64_t>(elements));
  const ValueId id = e.node().Add(std::move(constant));
  std::string name = e.node().At(id).name;
  e.node().state().values[name] = id;
  return name;
}

}  // namespace

std::string CastTo(Expansion& e, const std::string& x, int64_t type) {
  return e.With("to", type).Make("Cast", {x});
}

std::string Centered(Expansion& e, const std::string& q, const std::string& zero) {
  std::string real = CastTo(e, q, onnx::TensorProto::FLOAT);
  if (zero.empty()) return real;
  return e.Make("Sub", {real, CastTo(e, zero, onnx::TensorProto::FLOAT)});
}

std::string ProductOf(Expansion& e, const std::string& a, const std::string& b) {
  const int64_t parts = PartsOf(e, b);
  e.node().CheckSupported(parts <= kMostParts, "its sums need ", parts,
                          " parts below 2^24, at most ", kMostParts, " are supported");
  if (parts <= 1) return CastTo(e, e.Make("MatMul", {a, b}), onnx::TensorProto::INT32);
  const auto rank_a = static_cast<int64_t>(ValueOf(e, a).shape.size());
  const auto rank_b = static_cast<int64_t>(ValueOf(e, b).shape.size());
  const int64_t k = ValueOf(e, b).shape[rank_b - 2], length = (k + parts - 1) / parts;
  std::string sum;
  for (int64_t from = 0; from < k; from += length) {
    const std::string begin = Ints(e, {from}), end = Ints(e, {std::min(k, from + length)});
    const std::string part_a = e.Make("Slice", {a, begin, end, Ints(e, {rank_a - 1})});
    const std::string part_b = e.Make("Slice", {b, begin, end, Ints(e, {rank_b - 2})});
    const std::string part =
        CastTo(e, e.Make("MatMul", {part_a, part_b}), onnx::TensorProto::INT32);
    sum = sum.empty() ? part : e.Make("Add", {sum, part});
  }
  return sum;
}

void GiveReal(Expansion& e, const std::string& sum, const std::string& scale,
              const std::string& bias) {
  const std::string real = CastTo(e, sum, onnx::TensorProto::FLOAT);
  if (bias.empty()) return e.Give("Mul", {real, scale});
  e.Give("Add", {e.Make("Mul", {real, scale}), bias});
}

void GiveConvOfNumbers(OnnxNode& node) {
  Expansion e(node);
  const std::string x = Centered(e, e.In(0), e.In(2));
  std::string zero = e.In(3);
  if (!zero.empty() && node.ShapeOf(3).size() == 1 && node.ShapeOf(3)[0] > 1) {
    std::vector<int64_t> shape(node.ShapeOf(1).size(), 1);
    shape[0] = node.ShapeOf(3)[0];
    zero = e.Make("Reshape", {zero, Ints(e, shape)});
  }
  const std::string w = Centered(e, e.In(1), zero);
  const Value& weights = ValueOf(e, w);
  const int64_t channels = weights.shape[0], products = NumElements(weights.shape) / channels;
  double most = static_cast<double>(products) * kLargest;
  if (weights.is_constant()) {
    most = 0;
    const auto elements = weights.constant->As<float>();
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t i = 0; i < products; ++i) sum += std::fabs(elements[c * products + i]);
      most = std::max(most, sum);
    }
  }
  node.CheckSupported(most * kLargest < kExact, "its sums may reach ", most * kLargest,
                      "; only those below 2^24 are supported");
  const std::string sum = e.KeepAll().Make("Conv", {x, w});
  e.With("to", int64_t{onnx::TensorProto::INT32}).Give("Cast", {sum});
}

}  // namespace rshift
