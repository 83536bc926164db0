// An OpenVINO IR file as it is written: layers with their attributes, and edges between their
// ports.
#ifndef RSHIFT_GRAPH_OPENVINO_IR_H_
#define RSHIFT_GRAPH_OPENVINO_IR_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rshift::openvino {

struct Port {
  std::string id;
  std::string precision;      // "FP32"
  std::vector<int64_t> dims;  // -1: open
  std::string names;          // of the tensor, separated by commas; "" for inputs
};

struct Layer {
  std::string id, name, type, version;  // version: "opset1"
  std::map<std::string, std::string> data;
  std::vector<Port> inputs, outputs;
  // By the place of an input: the layer (an index) and the place of its output.
  struct Source {
    size_t layer = 0, output = 0;
  };
  std::vector<Source> sources;
};

struct Net {
  std::string name;
  std::vector<Layer> layers;  // in the file's order
};

// Whether the file begins as an IR does.
bool IsIr(std::span<const uint8_t> bytes);

// Throws kInvalidInput for text that is not XML, for ids that are there twice or not at all, and
// for inputs without an edge.
Net ReadIr(std::span<const uint8_t> bytes);

}  // namespace rshift::openvino

#endif  // RSHIFT_GRAPH_OPENVINO_IR_H_
