// Operators that make constants.
#include <cmath>

#include "graph/fold/fold.h"
#include "graph/onnx/table.h"

namespace rshift {
namespace {

template <typename T>
Value MakeValue(DType type, Shape shape, const std::vector<T>& elements) {
  Value value;
  value.dtype = type;
  value.shape = std::move(shape);
  value.constant = MakeConstant<T>(elements);
  return value;
}

void ImportConstant(OnnxNode& node) {
  if (node.HasAttribute("value")) return node.OutputConstant(node.Tensor("value"));
  if (node.HasAttribute("value_float")) {
    return node.OutputConstant(
        MakeValue<float>(DType::kF32, {}, {node.AnyFloat("value_float", 0.0f)}));
  }
  if (node.HasAttribute("value_int")) {
    return node.OutputConstant(MakeValue<int64_t>(DType::kS64, {}, {node.Int("value_int", 0)}));
  }
  if (node.HasAttribute("value_floats")) {
    const auto list = node.Floats("value_floats");
    return node.OutputConstant(MakeValue(DType::kF32, {static_cast<int64_t>(list.size())}, list));
  }
  if (node.HasAttribute("value_ints")) {
    const auto list = node.Ints("value_ints");
    return node.OutputConstant(MakeValue(DType::kS64, {static_cast<int64_t>(list.size())}, list));
  }
  for (const char* name : {"sparse_value", "value_string", "value_strings"}) {
    node.CheckSupported(!node.HasAttribute(name), "attribute '", name, "' is not supported");
  }
  node.Invalid("has no value");
}

void ImportConstantOfShape(OnnxNode& node) {
  const auto shape = node.ConstantInts(0, "shape");
  for (int64_t d : shape) node.Check(d >= 0, "the shape holds ", d);
  ValueId element = node.HasAttribute("value") ? ValueId() : node.Scalar(0.0f);
  if (!element.valid()) {
    Value value = node.Tensor("value");
    node.Check(NumElements(value.shape) == 1, "attribute 'value' has ", NumElements(value.shape),
               " elements, expected 1");
    value.shape.clear();
    element = node.Add(std::move(value));
  }
  node.Output(Expand{}, {element}, node.At(element).dtype, shape);
}

float OnlyFloat(const OnnxNode& node, int i, const char* role) {
  const auto elements = node.ConstantFloats(i, role);
  node.Check(elements.size() == 1, role, " has ", elements.size(), " elements, expected 1");
  return elements[0];
}

int64_t OnlyInt(const OnnxNode& node, int i, const char* role) {
  const auto elements = node.ConstantInts(i, role);
  node.Check(elements.size() == 1, role, " has ", elements.size(), " elements, expected 1");
  return elements[0];
}

int64_t RangeCount(const OnnxNode& node, double start, double limit, double delta) {
  node.Check(delta != 0.0, "delta is 0");
  const double count = std::ceil((limit - start) / delta);
  node.CheckSupported(!(count > static_cast<double>(kFoldedElements)), "has ", count,
                      " elements, expected at most ", kFoldedElements);
  node.Check(!std::isnan(count), "start, limit and delta give no number of elements");
  return count > 0.0 ? static_cast<int64_t>(count) : 0;
}

void ImportRange(OnnxNode& node) {
  const DType type = node.TypeOf(0);
  if (type == DType::kF32) {
    const float start = OnlyFloat(node, 0, "start"), delta = OnlyFloat(node, 2, "delta");
    std::vector<float> list(RangeCount(node, start, OnlyFloat(node, 1, "limit"), delta));
    for (size_t i = 0; i < list.size(); ++i) list[i] = start + static_cast<float>(i) * delta;
    return node.OutputConstant(MakeValue(type, {static_cast<int64_t>(list.size())}, list));
  }
  const int64_t start = OnlyInt(node, 0, "start"), delta = OnlyInt(node, 2, "delta");
  std::vector<int64_t> list(RangeCount(node, static_cast<double>(start),
                                       static_cast<double>(OnlyInt(node, 1, "limit")),
                                       static_cast<double>(delta)));
  auto next = static_cast<uint64_t>(start);
  for (int64_t& v : list) {
    v = static_cast<int64_t>(next);
    next += static_cast<uint64_t>(delta);
  }
  Value value = MakeValue(type, {static_cast<int64_t>(list.size())}, list);
  value.constant = StoreInts(list, type);
  node.OutputConstant(std::move(value));
}

constexpr ImportEntry kConstantImports[] = {
    {"Constant", ImportConstant},
    {"ConstantOfShape", ImportConstantOfShape},
    {"Range", ImportRange},
};

}  // namespace

std::span<const ImportEntry> ConstantImports() { return kConstantImports; }

}  // namespace rshift
