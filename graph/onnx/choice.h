// Attributes that choose one of the functions of isa/functions.def by name.
#ifndef RSHIFT_GRAPH_ONNX_CHOICE_H_
#define RSHIFT_GRAPH_ONNX_CHOICE_H_

#include <string>

#include "graph/onnx/node.h"
#include "isa/function_names.h"

namespace rshift {

// `absent` where the node does not have the attribute; refuses names that are not E's.
template <typename E>
E ReadChoice(const OnnxNode& node, const char* attribute, E absent) {
  const std::string text = node.String(attribute, Name(absent));
  const std::optional<E> parsed = ParseFunction<E>(text);
  node.Check(parsed.has_value(), "attribute '", attribute, "' is ", Quoted(text), ", expected ",
             FunctionChoices<E>());
  return *parsed;
}

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_CHOICE_H_
