#include "graph/onnx/table.h"

#include <map>

#include "graph/onnx/body.h"
#include "graph/onnx/opset.h"
#include "graph/tflite/model.h"

namespace rshift {
namespace {

std::map<std::string, ImportFunction> BuildTable() {
  std::map<std::string, ImportFunction> table;
  for (const auto& family : {ActivationImports(),
                             AttentionImports(),
                             AttentionMicrosoftImports(),
                             BitsImports(),
                             CacheImports(),
                             ClassicalImports(),
                             ConstantImports(),
                             ControlImports(),
                             ConvImports(),
                             CumulateImports(),
                             DetImports(),
                             DetectionImports(),
                             DynamicQuantizationImports(),
                             EinsumImports(),
                             EltwiseImports(),
                             FakeQuantizeImports(),
                             FlexAttentionImports(),
                             GatherImports(),
                             LegacyImports(),
                             LinearAttentionImports(),
                             LossImports(),
                             LpPoolImports(),
                             MaskImports(),
                             MatMulImports(),
                             MicrosoftImports(),
                             MovementImports(),
                             NewestImports(),
                             NormImports(),
                             PoolImports(),
                             QOperatorImports(),
                             QuantImports(),
                             RecurrentImports(),
                             ReduceImports(),
                             ResizeImports(),
                             RoiImports(),
                             RoiPoolImports(),
                             RotaryImports(),
                             SampleImports(),
                             ScatterImports(),
                             SelectImports(),
                             ShapeImports(),
                             SignalImports(),
                             SliceImports(),
                             SpatialImports(),
                             TopKImports(),
                             UnpoolImports(),
                             QuantizedRecurrentImports(),
                             FixedLstmImports()}) {
    for (const ImportEntry& entry : family) table.emplace(entry.op_type, entry.import);
  }
  return table;
}

// "com.microsoft:Gelu", "Conv": what an entry is called.
std::string EntryName(const onnx::NodeProto& node) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  return standard ? node.op_type() : node.domain() + ":" + node.op_type();
}

}  // namespace

ImportFunction FindImport(const onnx::NodeProto& node, const onnx::ModelProto& model) {
  static const std::map<std::string, ImportFunction> kTable = BuildTable();
  if (FindFunction(node, model) != nullptr) return ImportFunctionCall;
  const auto found = kTable.find(EntryName(node));
  return found == kTable.end() ? nullptr : found->second;
}

std::string GeneralAdvice() {
  return "export the model without it, or deploy the part before it and run the rest in the "
         "application";
}

Refusal RefuseByType(const onnx::NodeProto& node, const onnx::ModelProto& model) {
  if (FindImport(node, model)) {
    const std::string newer = NewerThanSupported(node, OpsetOf(model));
    return newer.empty() ? Refusal{} : Refusal{newer, GeneralAdvice()};
  }
  if (node.domain() == kTfliteDomain) return {node.doc_string(), GeneralAdvice()};
  if (node.domain() == "ai.onnx.ml") {
    return {"operator of classical machine learning (domain 'ai.onnx.ml')",
            "deploy the neural part of the model alone"};
  }
  if (node.domain() == "openvino") {
    return {"layer of an OpenVINO IR that is not supported", GeneralAdvice()};
  }
  if (!node.domain().empty() && node.domain() != "ai.onnx") {
    return {"operator of the custom domain " + Quoted(node.domain()),
            "export the model with standard ONNX operators only"};
  }
  return {"operator is not supported", GeneralAdvice()};
}

}  // namespace rshift
