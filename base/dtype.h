// Element types of tensors, in models and in program files. The numeric values are part of the file
// format: never renumber, only append.
#ifndef RSHIFT_BASE_DTYPE_H_
#define RSHIFT_BASE_DTYPE_H_

#include <cstddef>
#include <cstdint>

namespace rshift {

enum class DType : uint8_t {
  kInvalid = 0,
  kF32 = 1,
  kF16 = 2,  // model inputs, outputs and weights; in programs what casts and kHalfFloat write
  kS8 = 3,
  kU8 = 4,
  kS16 = 5,
  kS32 = 6,
  kS64 = 7,
  kBool = 8,    // one byte, 0 or 1
  kF64 = 9,     // model constants only
  kBytes = 10,  // opaque constant data of a command (packed weights, requant records); size =
                // element count
  kU16 = 11,    // model inputs, outputs and constants; casts read and write it
  kU32 = 12,    // model constants only
  kU64 = 13,    // model constants only
};
inline constexpr int kDTypeCount = 14;

// Bytes per element; 0 for kInvalid.
size_t SizeOf(DType type);
// "f32", "s8", ...
const char* Name(DType type);

}  // namespace rshift

#endif  // RSHIFT_BASE_DTYPE_H_
