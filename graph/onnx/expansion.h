// An operator as several standard ones: nodes that its import function writes and imports in its
// place.
#ifndef RSHIFT_GRAPH_ONNX_EXPANSION_H_
#define RSHIFT_GRAPH_ONNX_EXPANSION_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/onnx/node.h"

namespace rshift {

// The nodes are read by the rules of opset `opset`, whatever the model's.
class Expansion {
 public:
  explicit Expansion(OnnxNode& node, int64_t opset = 13);
  ~Expansion();
  Expansion(const Expansion&) = delete;
  Expansion& operator=(const Expansion&) = delete;

  OnnxNode& node() { return node_; }
  // The name of input i; empty where it is left out.
  std::string In(int i) const;
  // Attributes of the next node: the operator's own of these names, or given here.
  Expansion& Keep(std::initializer_list<const char*> names);
  Expansion& KeepAll();
  Expansion& With(const char* name, int64_t value);
  Expansion& With(const char* name, float value);
  // The result's name; the node is imported at once.
  std::string Make(const char* op, const std::vector<std::string>& inputs);
  // The node that makes output i.
  void Give(const char* op, const std::vector<std::string>& inputs, int i = 0);
  // A constant number of a type.
  std::string Number(float value, DType type = DType::kF32);

  // DequantizeLinear of inputs i, i + 1, i + 2: integers, scale, zero point. `axis`: of scales.
  std::string Dequantized(int i, int64_t axis = 1);
  // Output 0 is QuantizeLinear of x by inputs i, i + 1.
  void GiveQuantized(const std::string& x, int i);

 private:
  std::string Name();
  std::string Import(const char* op, const std::vector<std::string>& inputs, std::string output);

  OnnxNode& node_;
  const int64_t opset_;  // of the model
  onnx::NodeProto next_;
  int count_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_GRAPH_ONNX_EXPANSION_H_
