// Constants of a .tflite file as initializers of the ONNX model.
#ifndef RSHIFT_GRAPH_TFLITE_CONSTANTS_H_
#define RSHIFT_GRAPH_TFLITE_CONSTANTS_H_

#include <string>

#include "graph/tflite/op.h"

namespace rshift::tflite {

// Without elements.
onnx::TensorProto& NewInitializer(Translation& state, const std::string& name, int type,
                                  const Shape& shape);

// Writes the initializer of a constant tensor, once. `where` begins the messages of damage.
void StoreConstant(Translation& state, int tensor, const std::string& where);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_CONSTANTS_H_
