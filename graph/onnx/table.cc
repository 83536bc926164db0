#include "graph/onnx/table.h"

#include <map>

#include "graph/onnx/opset.h"

namespace rshift {
namespace {

std::map<std::string, ImportFunction> BuildTable() {
  std::map<std::string, ImportFunction> table;
  for (const auto& family :
       {ActivationImports(), ConstantImports(), ConvImports(), EltwiseImports(), MatMulImports(),
        MovementImports(), NormImports(), PoolImports(), QuantImports(), ReduceImports(),
        ResizeImports(), ShapeImports(), SliceImports()}) {
    for (const ImportEntry& entry : family) table.emplace(entry.op_type, entry.import);
  }
  return table;
}

constexpr const char* kQuantized =
    "of the quantized forms only QuantizeLinear and DequantizeLinear are supported";
constexpr const char* kGiveFloat = "export the model in the QDQ format, or give the float model";
constexpr const char* kControl = "control flow and subgraphs are not supported";
constexpr const char* kUnroll =
    "freeze the condition with --bind and simplify the model (onnxsim), or export without the "
    "branch or loop";
constexpr const char* kRecurrent = "recurrent layers are not supported";
constexpr const char* kSplitModel = "deploy the part before it and run the rest in the application";
constexpr const char* kDynamic = "the size of its result depends on the data";

struct KnownRefusal {
  const char *op_type, *reason, *advice;
};
constexpr KnownRefusal kKnown[] = {
    {"If", kControl, kUnroll},
    {"Loop", kControl, kUnroll},
    {"Scan", kControl, kUnroll},
    {"LSTM", kRecurrent, kSplitModel},
    {"GRU", kRecurrent, kSplitModel},
    {"RNN", kRecurrent, kSplitModel},
    {"DynamicQuantizeLinear", kQuantized, kGiveFloat},
    {"QLinearConv", kQuantized, kGiveFloat},
    {"QLinearMatMul", kQuantized, kGiveFloat},
    {"ConvInteger", kQuantized, kGiveFloat},
    {"MatMulInteger", kQuantized, kGiveFloat},
    {"NonMaxSuppression", kDynamic, kSplitModel},
    {"NonZero", kDynamic, kSplitModel},
    {"Unique", kDynamic, kSplitModel},
    {"Compress", kDynamic, kSplitModel},
};

bool IsLocalFunction(const onnx::NodeProto& node, const onnx::ModelProto& model) {
  for (const auto& function : model.functions()) {
    if (function.name() == node.op_type() && function.domain() == node.domain()) return true;
  }
  return false;
}

}  // namespace

ImportFunction FindImport(const std::string& op_type) {
  static const std::map<std::string, ImportFunction> kTable = BuildTable();
  auto found = kTable.find(op_type);
  return found == kTable.end() ? nullptr : found->second;
}

std::string GeneralAdvice() {
  return "export the model without it, or deploy the part before it and run the rest in the "
         "application";
}

Refusal RefuseByType(const onnx::NodeProto& node, const onnx::ModelProto& model) {
  if (IsLocalFunction(node, model)) {
    return {"calls a function that is defined inside the model",
            "inline it with onnx.inliner.inline_local_functions"};
  }
  if (node.domain() == "ai.onnx.ml") {
    return {"operator of classical machine learning (domain 'ai.onnx.ml')",
            "deploy the neural part of the model alone"};
  }
  if (!node.domain().empty() && node.domain() != "ai.onnx") {
    return {"operator of the custom domain " + Quoted(node.domain()),
            "export the model with standard ONNX operators only"};
  }
  if (FindImport(node.op_type())) {
    const std::string newer = NewerThanSupported(node, OpsetOf(model));
    return newer.empty() ? Refusal{} : Refusal{newer, GeneralAdvice()};
  }
  for (const KnownRefusal& known : kKnown) {
    if (node.op_type() == known.op_type) return {known.reason, known.advice};
  }
  return {"operator is not supported", GeneralAdvice()};
}

}  // namespace rshift
