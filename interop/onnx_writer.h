// Writes an ONNX model node by node.
#ifndef RSHIFT_INTEROP_ONNX_WRITER_H_
#define RSHIFT_INTEROP_ONNX_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "graph/graph.h"
#include "graph/onnx/proto.h"

namespace rshift {

// Of the models that it writes.
inline constexpr const char* kOnnxProducer = "rshift";

class OnnxWriter {
 public:
  explicit OnnxWriter(const std::string& name);

  void AddInput(const std::string& name, DType dtype, const Shape& shape);
  void AddOutput(const std::string& name, DType dtype, const Shape& shape);
  // Each initializer once; returns `name`.
  std::string Floats(const std::string& name, const Shape& shape, std::span<const float> numbers);
  std::string Integers(const std::string& name, const Shape& shape,
                       std::span<const int64_t> numbers);
  // `type`: of ONNX; `bytes`: its elements.
  std::string Raw(const std::string& name, int type, const Shape& shape,
                  std::span<const uint8_t> bytes);
  // Returns the node, for its attributes.
  onnx::NodeProto* Node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output);

  // An operator of another domain than ONNX's; version 1 of it.
  onnx::NodeProto* Node(const std::string& op, const char* domain,
                        const std::vector<std::string>& inputs, const std::string& output);

  static void Set(onnx::NodeProto* node, const char* name, int64_t value);
  static void Set(onnx::NodeProto* node, const char* name, float value);
  static void Set(onnx::NodeProto* node, const char* name, const char* value);
  static void Set(onnx::NodeProto* node, const char* name, std::span<const int64_t> values);

  // The model's bytes.
  std::string Finish() const;

 private:
  onnx::ModelProto model_;
};

}  // namespace rshift

#endif  // RSHIFT_INTEROP_ONNX_WRITER_H_
