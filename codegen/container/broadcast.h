// Constants of element-wise integer commands that are kept in their own shape, smaller than that of
// the tensors they meet: one number for each channel of a map, for one.
#ifndef RSHIFT_CODEGEN_CONTAINER_BROADCAST_H_
#define RSHIFT_CODEGEN_CONTAINER_BROADCAST_H_

#include <cstdint>

#include "codegen/container/image.h"

namespace rshift {

// By the rules of NumPy: dimensions are compared from the last one on; each is 1 or that of `to`.
bool BroadcastsTo(const Shape& from, const Shape& to);
// Is the operand of a command that may have such a constant (OpTraits) of another shape than dst?
bool IsBroadcast(const ProgramImage& image, const Command& command, Field operand);
// Elements after which a constant that is broadcast to `to` begins anew: the product of the
// dimensions of `to` from the first one on that the constant has; at least 1.
int64_t BroadcastPeriod(const Shape& constant, const Shape& to);
// A session keeps the constant of one period, of several where these are no more elements than
// this.
inline constexpr int64_t kBroadcastBlock = 4096;

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_BROADCAST_H_
