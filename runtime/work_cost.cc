#include "runtime/work_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/functions.h"

namespace rshift {
namespace {

struct WorkCost {
  double mac_ns = 0;
  double element_ns = 0;
};

constexpr double kCommandNs = 1000;

// Measured by tests/bench/work_test.cc on one thread of a Zen 4 with AVX512-VNNI (g++ 12, oneDNN
// 2.7): 24 random programs of each opcode, 10^5 to 2 * 10^7 elements. The numbers are near the
// ninth tenth of what was seen, so that few programs take more than twice what is predicted; in
// brackets the median and the most. Programs of real networks, whose channels fill the kernels'
// tiles, take about half.
WorkCost CostOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConv:  // of padded ones; elements [0.15, 2.4]
      return {.mac_ns = 0.004, .element_ns = 0.15};
    case Opcode::kMatMul:  // [0.11, 4.5]
      return {.mac_ns = 0.004, .element_ns = 0.2};
    case Opcode::kDepthwise:  // [0.07, 2.3]
      return {.mac_ns = 0.02, .element_ns = 0.15};
    case Opcode::kConvF32:  // a multiply-accumulate [0.008, 0.015], elements [0.7, 1.3]
      return {.mac_ns = 0.012, .element_ns = 0.5};
    case Opcode::kMatMulF32:  // [0.009, 0.018], [0.3, 1.7]
      return {.mac_ns = 0.012, .element_ns = 0.5};
    case Opcode::kConvTransposeF32:  // [0.035, 0.55]; few channels by oneDNN's reference [2.5, 20]
      return {.mac_ns = 0.05, .element_ns = 10};
    case Opcode::kQuantize:    // [0.07, 0.18]
    case Opcode::kDequantize:  // [0.03, 0.12]
    case Opcode::kRequantize:  // [0.01, 0.1]
    case Opcode::kAddFloat:    // [0.03, 0.26]
    case Opcode::kMul:         // [0.04, 0.46]
    case Opcode::kLeakyRelu:   // [0.01, 0.25]
    case Opcode::kPRelu:       // [0.02, 0.11]
    case Opcode::kTable:       // [0.01, 0.2]
    case Opcode::kMaxPool:     // each tap [0.04, 0.5]
    case Opcode::kClipF32:     // [0.09, 0.09]
    case Opcode::kLeakyReluF32:
    case Opcode::kPReluF32:  // [0.06, 0.22]
    case Opcode::kCopyInto:  // [0.03, 0.2]
    case Opcode::kExpand:    // [0.04, 0.2]
    case Opcode::kTile:      // [0.04, 0.2]
      return {.element_ns = 0.1};
    case Opcode::kAdd:         // [0.05, 0.1]
    case Opcode::kAddShifted:  // [0.13, 0.4]
    case Opcode::kAddFma:      // [0.06, 0.26]
    case Opcode::kSlice:       // [0.01, 0.3]
    case Opcode::kCast:        // [0.11, 0.35]
      return {.element_ns = 0.2};
    case Opcode::kTranspose:        // [0.14, 1.0]
    case Opcode::kAveragePool:      // each tap [0.1, 1.3]
    case Opcode::kAveragePoolF32:   // [0.2, 0.3]
    case Opcode::kLayerNormF32:     // [0.2, 0.7]
    case Opcode::kInstanceNormF32:  // [0.2, 1.2]
    case Opcode::kResizeF32:        // each tap [0.1, 0.6]
      return {.element_ns = 0.5};
    case Opcode::kPad:            // [0.25, 1.4]
    case Opcode::kResizeNearest:  // [0.4, 1.5]
    case Opcode::kSoftmaxF32:     // [0.4, 3.3]
      return {.element_ns = 1};
    case Opcode::kGather:     // [0.02, 2.2]
    case Opcode::kSoftmax:    // [1.1, 2.9]
    case Opcode::kLrnF32:     // each tap [1.1, 2.2]
    case Opcode::kArgMax:     // [0.7, 2.9]
    case Opcode::kWhere:      // [0.8, 3.0]
    case Opcode::kReduceF32:  // [0.35, 5.9]
    case Opcode::kBinaryF32:  // [0.3, 3.1]; powers: ElementExtra
      return {.element_ns = 2};
    case Opcode::kUnaryF32:  // [2.8, 6.6]
      return {.element_ns = 5};
    case Opcode::kEnd:
      break;
  }
  return {};
}

// Nanoseconds more for an element of dst in forms of a command that run one at a time.
double ElementExtra(const Command& command) {
  const auto rounding = static_cast<Rounding>(command.Get(Field::kRounding));
  switch (command.opcode) {
    case Opcode::kConv:
    case Opcode::kDepthwise:
    case Opcode::kMatMul:  // post-operations 3 to 6, fp16 2 to 4
      return (command.Tensor(Field::kList) >= 0 ? 5 : 0) +
             (rounding == Rounding::kHalfFloat ? 3 : 0);
    case Opcode::kAdd:  // sums beyond int32: 3
      return rounding == Rounding::kHalfAway ? 3 : 0;
    case Opcode::kBinaryF32:  // pow and mod 20 to 40
      return command.Get(Field::kMode) == static_cast<int64_t>(BinaryOp::kPow) ||
                     command.Get(Field::kMode) == static_cast<int64_t>(BinaryOp::kMod)
                 ? 30
                 : 0;
    default:
      return 0;
  }
}

double CountOf(const ProgramImage& image, const Command& command, Field f) {
  return static_cast<double>(
      NumElements(image.tensors[static_cast<size_t>(command.Tensor(f))].shape));
}

double RoundedUp(double value, double to) { return std::ceil(value / to) * to; }

}  // namespace

uint64_t PaddedMacs(const ProgramImage& image, const Command& command, uint64_t macs) {
  if (command.opcode != Opcode::kConv && command.opcode != Opcode::kMatMul) return macs;
  const auto channels = [&](Field f) {
    const Shape& shape = image.tensors[static_cast<size_t>(command.Tensor(f))].shape;
    return shape.empty() ? 1.0 : static_cast<double>(std::max<int64_t>(shape.back(), 1));
  };
  const double groups = static_cast<double>(std::max<int64_t>(command.Get(Field::kGroups), 1));
  const double in = channels(Field::kSrc) / groups, out = channels(Field::kDst) / groups;
  const double factor = RoundedUp(in, 4) / in * RoundedUp(out, 16) / out;
  const double padded = static_cast<double>(macs) * std::max(factor, 1.0);
  return padded < 0x1p63 ? static_cast<uint64_t>(padded) : std::numeric_limits<uint64_t>::max();
}

uint64_t PredictNanoseconds(const ProgramImage& image, const Command& command, uint64_t macs,
                            uint64_t elements) {
  const WorkCost cost = CostOf(command.opcode);
  const double padded = static_cast<double>(PaddedMacs(image, command, macs));
  const double ns = kCommandNs + cost.mac_ns * padded +
                    cost.element_ns * static_cast<double>(elements) +
                    ElementExtra(command) * CountOf(image, command, Field::kDst);
  return ns < 0x1p63 ? static_cast<uint64_t>(ns) : std::numeric_limits<uint64_t>::max();
}

}  // namespace rshift
