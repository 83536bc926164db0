// Names of an ONNX file that its graph no longer has once it is imported: which operator makes a
// tensor, and which reads a constant as weights (a Gemm's may be transposed or scaled by then).
#ifndef RSHIFT_INTEROP_MODEL_NAMES_H_
#define RSHIFT_INTEROP_MODEL_NAMES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rshift {

// A node that reads a constant as its weights.
struct WeightReader {
  std::string node;         // its name in the graph (Node::name)
  bool transposed = false;  // Gemm with transB: output channels are the first dimension
  bool scaled = false;      // Gemm with an alpha
};

struct ModelNames {
  std::string producer;                                      // of the file: "pytorch"
  std::map<std::string, std::string> operators;              // by output tensor: "Conv"
  std::map<std::string, std::vector<WeightReader>> weights;  // by constant
};

// Of the main graph; of a .tflite file, of what the importer makes of it; of files of other kinds
// none.
ModelNames ReadModelNames(std::span<const uint8_t> model);
// Reads the file; not what lies outside of it.
ModelNames ReadModelNamesOf(const std::string& path);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_MODEL_NAMES_H_
