// OpenVINO IR -> the importer's vocabulary: an ONNX model in memory, whose weights lie in the .bin
// beside the .xml.
#ifndef RSHIFT_GRAPH_OPENVINO_TRANSLATE_H_
#define RSHIFT_GRAPH_OPENVINO_TRANSLATE_H_

#include <cstdint>
#include <span>
#include <string>

#include "graph/onnx/proto.h"

namespace rshift {

// `folder`, `file`: of the .xml; "" for bytes in memory, whose constants nobody has. Layers that
// have no translation become operators of the domain "openvino", which the importer lists with all
// that it does not support. Throws kInvalidInput for a damaged file.
onnx::ModelProto TranslateIr(std::span<const uint8_t> bytes, const std::string& folder,
                             const std::string& file);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_OPENVINO_TRANSLATE_H_
