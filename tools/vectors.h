// Test vectors for hardware teams: what every command of a program reads, holds and writes.
#ifndef RSHIFT_TOOLS_VECTORS_H_
#define RSHIFT_TOOLS_VECTORS_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "runtime/runtime.h"

namespace rshift {

// Whether UnpackWeights knows the command.
bool HasIntegerWeights(const Command& command);
// The weights of a conv, depthwise or matmul command, or one of their 16-bit forms, in ONNX order:
// [OC, IC/groups, KH, KW], [C, 1, KH, KW], [K, N]. `packed`: as the program holds them.
NumpyArray UnpackWeights(const ProgramImage& image, const Command& command,
                         std::span<const uint8_t> packed);
// The records of its output channels as arrays of s32: bias, multiplier, rshift, and where
// accumulators below 0 have words of their own multiplier_below_0 and rshift_below_0.
std::vector<NumpyArray> UnpackRequant(const ProgramImage& image, const Command& command,
                                      std::span<const uint8_t> records);

// One command: its entry in manifest.json and the arrays of its .npz. `values`: of each tensor of
// the arena, in ONNX order, once it is complete; nothing of a tensor that is not.
struct CommandVectors {
  nlohmann::ordered_json entry;
  std::vector<NumpyArray> arrays;
};
CommandVectors DescribeCommand(const Program& program, int command,
                               const std::vector<NumpyArray>& values);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_VECTORS_H_
