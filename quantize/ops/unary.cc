// The functions behind the table activations, in binary64. A table is computed once, when a model
// is deployed, and stored in the file: the runtime needs none of this, and its bytes do not depend
// on a CPU's libm.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "isa/unary_functions.h"
#include "quantize/ops/ops.h"

namespace rshift {
double Evaluate(const Unary& op, double v) {
  return kUnaryFunctions<PortableMath<double>>[static_cast<size_t>(op.op)](v, op.alpha, op.beta);
}

size_t CountTables(const ValueFunction& function) {
  std::set<std::pair<int32_t, int32_t>> tables;
  const size_t channels =
      std::max(function.input_exponents.size(), function.output_exponents.size());
  for (size_t c = 0; c < channels; ++c) tables.insert(function.ExponentsOf(c));
  return tables.size();
}

OpSupport SupportUnary(const Unary& op) {
  if (op.op == UnaryOp::kNot) return {OpKind::kFloat, "works on bool"};
  if (CountTables({{}, {}, op.input_exponents, op.output_exponents}) > kMostTables) {
    return {OpKind::kFloat,
            "equalization gives its channels more than 256 pairs of scales; calibrate with "
            "--equalize weights"};
  }
  return {OpKind::kFunction, ""};
}

std::vector<uint8_t> TableOfChannel(const ValueFunction& function, size_t channels,
                                    const std::function<void(int32_t, int32_t)>& append) {
  std::map<std::pair<int32_t, int32_t>, uint8_t> numbers;  // by the exponents of input and output
  std::vector<uint8_t> of_channel;
  for (size_t c = 0; c < channels; ++c) {
    const std::pair<int32_t, int32_t> exponents = function.ExponentsOf(c);
    const auto [at, is_new] = numbers.try_emplace(exponents, static_cast<uint8_t>(numbers.size()));
    of_channel.push_back(at->second);
    if (is_new) append(exponents.first, exponents.second);
  }
  return of_channel;
}

}  // namespace rshift
