// The element types in which a program's inputs arrive and its outputs leave.
#ifndef RSHIFT_QUANTIZE_INTERFACE_H_
#define RSHIFT_QUANTIZE_INTERFACE_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rshift {

// How pixels become the values of an input: value = (pixel - mean) * scale, both operations in
// binary32. One number each, or one for each of the channels along `axis` of the input's shape.
struct PixelRule {
  std::vector<float> mean, scale;
  int64_t axis = 1;
};

// f32, u8, s8 or s16 for each input, or each output.
struct ElementTypes {
  DType all = DType::kF32;             // of those without a type of their own
  std::map<std::string, DType> named;  // by input, by output

  DType Of(const std::string& name) const {
    const auto found = named.find(name);
    return found == named.end() ? all : found->second;
  }
  bool AllF32() const;
};

struct InterfaceOptions {
  ElementTypes input, output;
  std::map<std::string, PixelRule> pixels;  // by input
};

// Changes the f32 inputs and outputs of a final graph (after QuantizeGraph, or an f32 graph after
// RunPasses) to the types of the options. What the program computes stays the same, bit for bit,
// for the same values:
// * An input with a PixelRule takes pixels of 0 to 255 (s8: pixel - 128; its scale is 1). A
//   Quantize of it becomes a table of the 256 pixels for each distinct rule of a channel; F32 nodes
//   read (pixel - mean) * scale.
// * Any other input takes the integers of its own scale and zero point, in place of its Quantize.
// * An output gives the integers that its Dequantize would have read.
// s8 and u8 differ from what the graph holds by 128 in value and zero point; s16 is for what has 16
// bits in the graph. Inputs and outputs of other element types stay. Throws kInvalidInput for an
// input or output that has no integers or those of another size, for a name that is none of theirs,
// and for a type for all where every one is of 8 or 16 bits in the model.
Graph WithInterface(Graph graph, const InterfaceOptions& options);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_INTERFACE_H_
