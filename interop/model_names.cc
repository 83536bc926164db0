#include "interop/model_names.h"

#include "base/error.h"
#include "base/mapped_file.h"
#include "graph/onnx/model.h"
#include "graph/onnx/proto.h"
#include "graph/tflite/model.h"

namespace rshift {
namespace {

WeightReader ReaderOf(const onnx::NodeProto& node) {
  WeightReader reader{.node = node.name().empty() ? node.output(0) : node.name()};
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "transB") reader.transposed = attribute.i() != 0;
    if (attribute.name() == "alpha") reader.scaled = attribute.f() != 1.0f;
  }
  return reader;
}

bool TakesWeights(const std::string& type) {
  return type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type == "MatMul";
}

onnx::ModelProto ReadProto(std::span<const uint8_t> model) {
  try {
    return IsTflite(model) ? TranslateTflite(model, false) : ParseModel(model);
  } catch (const Error&) {
    return {};  // of another kind, which the importer reads
  }
}

}  // namespace

ModelNames ReadModelNames(std::span<const uint8_t> model) {
  const onnx::ModelProto proto = ReadProto(model);
  ModelNames names;
  names.producer = proto.producer_name();
  for (const auto& node : proto.graph().node()) {
    if (node.output().empty()) continue;
    for (const std::string& output : node.output()) names.operators[output] = node.op_type();
    if (!TakesWeights(node.op_type()) || node.input_size() < 2) continue;
    names.weights[node.input(1)].push_back(ReaderOf(node));
  }
  return names;
}

ModelNames ReadModelNamesOf(const std::string& path) {
  const MappedFile file = MappedFile::Map(path);
  return ReadModelNames(file.bytes());
}

}  // namespace rshift
