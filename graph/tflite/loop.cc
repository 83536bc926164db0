#include "graph/tflite/loop.h"

#include <algorithm>

#include "graph/tflite/known_values.h"

namespace rshift::tflite {
namespace {

constexpr int kMostRuns = 10'000;
constexpr size_t kMostSteps = 2'000'000;  // tensors and operators, counted at each run

using Number = std::optional<int64_t>;
using Numbers = std::vector<Number>;

Number StoredNumber(const File& file, const Tensor& tensor) {
  const std::span<const uint8_t> data = file.DataOf(tensor);
  if (tensor.type() == TensorType_BOOL && data.size() == 1) return data[0] != 0 ? 1 : 0;
  const std::optional<KnownInts> list = StoredInts(file, tensor);
  return list && list->size() == 1 ? list->front() : Number();
}

Number Compared(BuiltinOperator code, int64_t a, int64_t b) {
  switch (code) {
    case BuiltinOperator_LESS:
      return a < b;
    case BuiltinOperator_LESS_EQUAL:
      return a <= b;
    case BuiltinOperator_GREATER:
      return a > b;
    case BuiltinOperator_GREATER_EQUAL:
      return a >= b;
    case BuiltinOperator_EQUAL:
      return a == b;
    case BuiltinOperator_NOT_EQUAL:
      return a != b;
    case BuiltinOperator_LOGICAL_AND:
      return a != 0 && b != 0;
    case BuiltinOperator_LOGICAL_OR:
      return a != 0 || b != 0;
    default:
      return CombinedInts(code, a, b);
  }
}

// The outputs of a subgraph that are single integers or truths and follow from those among its
// inputs.
Numbers Outputs(const File& file, const SubGraph& graph, const Numbers& inputs) {
  Numbers numbers;
  for (const Tensor* tensor : *graph.tensors()) {
    const bool one = NumElements(ShapeOf(*tensor)) == 1;
    numbers.push_back(one ? StoredNumber(file, *tensor) : Number());
  }
  const auto at = [&](int i) -> Number& { return numbers[static_cast<size_t>(i)]; };
  const std::vector<int> in = Indices(graph.inputs());
  for (size_t i = 0; i < in.size(); ++i) at(in[i]) = inputs[i];
  for (const Operator* op : *graph.operators()) {
    const std::vector<int> read = Indices(op->inputs()), made = Indices(op->outputs());
    for (const int i : made) at(i).reset();
    if (read.size() != 2 || made.size() != 1 || read[0] < 0 || read[1] < 0) continue;
    const Tensor& result = *graph.tensors()->Get(static_cast<uint32_t>(made[0]));
    const Number a = at(read[0]), b = at(read[1]);
    if (a && b && ShapeOf(result).empty()) at(made[0]) = Compared(file.CodeOf(*op), *a, *b);
  }
  Numbers outputs;
  for (const int i : Indices(graph.outputs())) outputs.push_back(at(i));
  return outputs;
}

}  // namespace

std::optional<int> CountRuns(const File& file, const SubGraph& condition, const SubGraph& body,
                             const std::vector<int>& inputs) {
  Numbers numbers;
  for (const int i : inputs) numbers.push_back(StoredNumber(file, file.tensor(i)));
  size_t steps = 0;
  for (int runs = 0; runs <= kMostRuns && steps <= kMostSteps; ++runs) {
    for (const SubGraph* graph : {&condition, &body})
      steps += graph->tensors()->size() + graph->operators()->size();
    const Number goes_on = Outputs(file, condition, numbers).at(0);
    if (!goes_on) return {};
    if (*goes_on == 0) return runs;
    numbers = Outputs(file, body, numbers);
  }
  return {};
}

bool HoldAlike(const Tensor& a, const Tensor& b) {
  const auto same = [](const auto* x, const auto* y) {
    const size_t n = x == nullptr ? 0 : x->size(), m = y == nullptr ? 0 : y->size();
    return n == m && (n == 0 || std::equal(x->begin(), x->end(), y->begin()));
  };
  if (a.type() != b.type() || ShapeOf(a) != ShapeOf(b)) return false;
  const auto *p = a.quantization(), *q = b.quantization();
  const bool none = p == nullptr || p->scale() == nullptr || p->scale()->size() == 0;
  if (none || q == nullptr)
    return none && (q == nullptr || same(q->scale(), decltype(q->scale())()));
  return same(p->scale(), q->scale()) && same(p->zero_point(), q->zero_point());
}

}  // namespace rshift::tflite
