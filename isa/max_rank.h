// How many dimensions a tensor of a program may have.
#ifndef RSHIFT_ISA_MAX_RANK_H_
#define RSHIFT_ISA_MAX_RANK_H_

namespace rshift {

inline constexpr int kMaxRank = 8;

}  // namespace rshift

#endif  // RSHIFT_ISA_MAX_RANK_H_
