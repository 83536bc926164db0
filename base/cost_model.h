// What a machine's time is spent on: the constants of runtime/cost.h. They come from the `cost:`
// block of configs/targets/*.yaml, travel in the program ("cost" in its metadata), so that every
// session begins with the same division of the work, and are fitted by tools/bench/fit_cost.py.
#ifndef RSHIFT_BASE_COST_MODEL_H_
#define RSHIFT_BASE_COST_MODEL_H_

#include <span>
#include <string>
#include <string_view>

namespace rshift {

// One thread. The values are those of configs/targets/cpu.yaml.
struct CostModel {
  // Multiply-accumulates per nanosecond: integer by kind, and F32 of any kind.
  double conv_macs_per_ns = 215, depthwise_macs_per_ns = 104, matmul_macs_per_ns = 230;
  double f32_macs_per_ns = 51.6;
  // Caches in KiB, and bytes per nanosecond from them and from memory.
  double l2_kib = 1024, l3_kib = 32768;
  double l2_bytes_per_ns = 35.3, l3_bytes_per_ns = 32.5, dram_bytes_per_ns = 11.9;
  // Nanoseconds: from an accumulator to an output byte; of an F32 element that is more than moved;
  // of every command.
  double requant_ns = 0.0454, f32_element_ns = 0.446, command_ns = 600;

  bool operator==(const CostModel&) const = default;
};

struct CostKey {
  const char* name;
  double CostModel::*value;
};
// Every constant under its name in YAML, in the order of the struct.
std::span<const CostKey> CostKeys();
// All names, "a, b, c": for messages.
std::string CostKeyNames();

// Null when `name` is none of them.
double* FindCost(CostModel* model, std::string_view name);
// What a constant may be: finite, > 0 and at most 1e9.
bool IsCost(double value);

// "conv_macs_per_ns=230 depthwise_macs_per_ns=75 ...": shortest text that reads back equal.
std::string ToText(const CostModel& model);
// Its inverse; constants that are not there keep their defaults. Throws kCorrupt, naming `where`,
// for anything else.
CostModel ReadCostModel(std::string_view text, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_BASE_COST_MODEL_H_
