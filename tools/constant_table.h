// The constants of a program or a model, for model_tool weights.
#ifndef RSHIFT_TOOLS_CONSTANT_TABLE_H_
#define RSHIFT_TOOLS_CONSTANT_TABLE_H_

#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "graph/graph.h"
#include "runtime/runtime.h"

namespace rshift {

struct ConstantRow {
  std::string name, op, node;  // op and node: the first that reads it
  NumpyArray values;           // as ONNX has them: [OC, IC / groups, KH, KW] ...
  std::vector<float> scales;   // one, one for each channel, or none known
  bool has_numbers = true;     // false: data of a command that are no array of numbers
  int bits = 8;                // of s8 and u8: 4 where the file holds two to a byte
};

// Weights as ONNX has them, and of the words of output channels bias, multiplier and rshift apart.
// A program holds no scales of weights: they follow from the words, scale of output * multiplier /
// 2^rshift / scale of input, where these are integers.
std::vector<ConstantRow> ConstantsOf(const Program& program);
// As the model holds them, before any pass.
std::vector<ConstantRow> ConstantsOf(const Graph& graph);

struct ConstantFigures {
  double min = 0, max = 0;
  double zeros = 0;  // share of all elements
  // Of 8-bit integers: share at -128, -127 and 127 (unsigned: 0 and 255); of 4 bits at -8, -7 and 7
  // (0 and 15).
  double ends = 0;
  bool has_ends = false;
};
ConstantFigures FiguresOf(const NumpyArray& array, int bits = 8);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CONSTANT_TABLE_H_
