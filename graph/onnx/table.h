// Which ONNX operators can be imported, and what to tell the user about the others.
#ifndef RSHIFT_GRAPH_ONNX_TABLE_H_
#define RSHIFT_GRAPH_ONNX_TABLE_H_

#include <span>
#include <string>

#include "graph/onnx/node.h"

namespace rshift {

// Operators of the domain com.microsoft are "com.microsoft:Gelu".
struct ImportEntry {
  const char* op_type;
  ImportFunction import;
};

// One list per operator family, each in the file of that name.
std::span<const ImportEntry> ActivationImports();
std::span<const ImportEntry> AttentionImports();
std::span<const ImportEntry> AttentionMicrosoftImports();
std::span<const ImportEntry> BitsImports();
std::span<const ImportEntry> CacheImports();
std::span<const ImportEntry> ClassicalImports();
std::span<const ImportEntry> ConstantImports();
std::span<const ImportEntry> ControlImports();
std::span<const ImportEntry> ConvImports();
std::span<const ImportEntry> CumulateImports();
std::span<const ImportEntry> DetImports();
std::span<const ImportEntry> DetectionImports();
std::span<const ImportEntry> DynamicQuantizationImports();
std::span<const ImportEntry> EinsumImports();
std::span<const ImportEntry> EltwiseImports();
std::span<const ImportEntry> FakeQuantizeImports();
std::span<const ImportEntry> FlexAttentionImports();
std::span<const ImportEntry> GatherImports();
std::span<const ImportEntry> LegacyImports();
std::span<const ImportEntry> LinearAttentionImports();
std::span<const ImportEntry> LossImports();
std::span<const ImportEntry> LpPoolImports();
std::span<const ImportEntry> MaskImports();
std::span<const ImportEntry> MatMulImports();
std::span<const ImportEntry> MicrosoftImports();
std::span<const ImportEntry> MovementImports();
std::span<const ImportEntry> NewestImports();
std::span<const ImportEntry> NormImports();
std::span<const ImportEntry> PoolImports();
std::span<const ImportEntry> QOperatorImports();
std::span<const ImportEntry> QuantImports();
std::span<const ImportEntry> FixedLstmImports();
std::span<const ImportEntry> QuantizedRecurrentImports();
std::span<const ImportEntry> RecurrentImports();
std::span<const ImportEntry> ReduceImports();
std::span<const ImportEntry> ResizeImports();
std::span<const ImportEntry> RoiImports();
std::span<const ImportEntry> RoiPoolImports();
std::span<const ImportEntry> RotaryImports();
std::span<const ImportEntry> SampleImports();
std::span<const ImportEntry> ScatterImports();
std::span<const ImportEntry> SelectImports();
std::span<const ImportEntry> ShapeImports();
std::span<const ImportEntry> SignalImports();
std::span<const ImportEntry> SliceImports();
std::span<const ImportEntry> SpatialImports();
std::span<const ImportEntry> TopKImports();
std::span<const ImportEntry> UnpoolImports();

// Byte tensors that only move data take the parameters of their neighbours (graph/onnx/quant.cc).
// Throws kUnsupported where those differ.
void SpreadQuantParams(Graph& graph);

// Null when the operator is not supported.
ImportFunction FindImport(const onnx::NodeProto& node, const onnx::ModelProto& model);

// Why a node is not supported by its type alone, and what to do. `reason` is empty when it is
// supported.
struct Refusal {
  std::string reason, advice;
};
Refusal RefuseByType(const onnx::NodeProto& node, const onnx::ModelProto& model);
// What to do about a node that was refused for another reason.
std::string GeneralAdvice();

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_TABLE_H_
