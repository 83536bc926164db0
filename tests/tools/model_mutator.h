// Alters ONNX models the way hostile and unlucky files do: attributes, weights, shapes, operators
// and edges. The same seed gives the same model.
#ifndef RSHIFT_TESTS_TOOLS_MODEL_MUTATOR_H_
#define RSHIFT_TESTS_TOOLS_MODEL_MUTATOR_H_

#include <random>
#include <string>
#include <vector>

#include "graph/onnx/proto.h"

namespace rshift::testing {

struct NamedModel {
  std::string name;
  onnx::ModelProto model;
};

// Small float models which together hold most operators that can be deployed.
std::vector<NamedModel> ModelsToMutate();

// Changes one to three things in the model; says what, for the test's message.
std::string MutateModel(onnx::ModelProto& model, std::mt19937& random);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_TOOLS_MODEL_MUTATOR_H_
