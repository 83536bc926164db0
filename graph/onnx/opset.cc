#include "graph/onnx/opset.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"

namespace rshift {
namespace {

// Every operator that can be imported and whose attributes, inputs, outputs or description changed
// in an opset from 24 on; tests/e2e/test_opsets.py compares the list with the onnx package. Where
// an attribute is named, any value of it but `accepted` is refused. Those without change nothing
// here, for the reason beside them. Operators that only take more element types are not listed:
// types are refused by name wherever they appear.
struct OpsetChange {
  const char* op_type;
  int64_t opset;
  const char* attribute;
  const char* accepted;
};
constexpr OpsetChange kChanges[] = {
    {"Attention", 24, nullptr, nullptr},       // lengths of an external cache
    {"Attention", 25, nullptr, nullptr},       // windows, the place of the causal diagonal
    {"BitShift", 28, nullptr, nullptr},        // signed types
    {"Cast", 24, nullptr, nullptr},            // round_mode is for float8e8m0, which is refused
    {"CastLike", 24, nullptr, nullptr},        // the same
    {"QuantizeLinear", 25, nullptr, nullptr},  // the ranges of int2 and uint2, which are refused
    {"Range", 27, "stash_type", "1"},          // the precision in which f16 ranges are computed
    {"Mod", 28, nullptr, nullptr},             // fmod = 0 for floats: ImportMod has both
    {"SpaceToDepth", 28, nullptr, nullptr},    // mode: both are read
};

constexpr std::string_view kUnchanged[] = {
    "And",           "ArgMax",  "ArgMin",        "AveragePool",
    "Constant",      "Conv",    "ConvTranspose", "DepthToSpace",
    "Equal",         "Flatten", "Gather",        "GlobalAveragePool",
    "GlobalMaxPool", "Greater", "Hardmax",       "Identity",
    "LRN",           "Less",    "LogSoftmax",    "LpNormalization",
    "MatMul",        "MaxPool", "Not",           "Or",
    "Shape",         "Size",    "Slice",         "Softmax",
    "SpaceToDepth",  "Squeeze", "TopK",          "Transpose",
    "Unsqueeze",     "Xor"};

std::string ValueOf(const onnx::AttributeProto& attribute) {
  return attribute.type() == onnx::AttributeProto::INT ? std::to_string(attribute.i())
                                                       : attribute.s();
}

}  // namespace

bool IsUnchangedToOldest(const std::string& op_type) {
  return std::find(std::begin(kUnchanged), std::end(kUnchanged), op_type) != std::end(kUnchanged);
}

int64_t OpsetOf(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") return import.version();
  }
  return 0;
}

std::string NewerThanSupported(const onnx::NodeProto& node, int64_t opset) {
  for (const OpsetChange& change : kChanges) {
    if (change.attribute == nullptr || node.op_type() != change.op_type || opset < change.opset)
      continue;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() != change.attribute || ValueOf(attribute) == change.accepted) continue;
      return Cat("attribute '", change.attribute, "' of opset ", change.opset, " is supported as ",
                 change.accepted, " only");
    }
  }
  return "";
}

}  // namespace rshift
