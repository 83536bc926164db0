// Bytes through a table of 256, and through one that depends on the channel, for each instruction
// set.
#ifndef RSHIFT_RUNTIME_KERNELS_LUT_H_
#define RSHIFT_RUNTIME_KERNELS_LUT_H_

#include <cstdint>

#include "runtime/kernels/elementwise.h"

namespace rshift {

// y[i] = table[x[i]] for the rows of a block (b is not looked at); y may be x.
using LutFn = void (*)(const uint8_t* table, const uint8_t* x, uint8_t* y,
                       const RowBlock& rows) noexcept;

// Isa::kAvx512Vnni also asks the CPU for VBMI: the table in four registers, 64 bytes at a time.
LutFn LutFor(Isa isa);

// Tables of channels. A position is a channel, or one of those that follow when the channels are
// written behind each other again and again, as rows lie in memory: where rows have gaps between
// them, so have the positions.
struct ChannelLutArgs {
  const uint8_t* tables = nullptr;
  const int32_t* places = nullptr;  // by position: where its table begins; -1 in a gap

  // The same by groups of 64 positions: the tables that group g uses are uses[first_use[g]] up to
  // uses[first_use[g + 1]], each with a bit for every position that has it.
  struct Use {
    uint64_t positions;
    int32_t place;
  };
  const Use* uses = nullptr;
  const int32_t* first_use = nullptr;
};

// y[i] = tables[places[first + i] + x[i]] for i in [0, n), or as it was in a gap; y may be x.
using ChannelLutFn = void (*)(const ChannelLutArgs& args, int64_t first, const uint8_t* x,
                              uint8_t* y, int64_t n) noexcept;

// Isa::kAvx512Vnni and VBMI: 64 bytes at a time, through every table that they use.
ChannelLutFn ChannelLutFor(Isa isa);

// numerics::PRelu of the rows of a block (b is not looked at); y may be x. Element i of a row has
// slope i.
struct PReluArgs {
  const uint8_t* positive = nullptr;  // table for x >= zero
  const int8_t* slopes = nullptr;     // of the row's elements
  uint8_t flip = 0;                   // (x ^ flip) - zero, as in ByteOperand
  int32_t zero = 0;                   // [0, 255]
  int32_t rshift = 0, zero_y = 0, lo = 0, hi = 0;
};
using PReluFn = void (*)(const PReluArgs& args, const uint8_t* x, uint8_t* y,
                         const RowBlock& rows) noexcept;

// Null where no kernel is faster than a table of 256 bytes for each channel.
PReluFn PReluFor(Isa isa);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_KERNELS_LUT_H_
