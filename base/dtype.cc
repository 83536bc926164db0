#include "base/dtype.h"

#include <array>

namespace rshift {
namespace {

struct DTypeInfo {
  const char* name;
  size_t size;
};

// Indexed by the enumerator's value.
constexpr std::array<DTypeInfo, kDTypeCount> kInfo = {{
    {"invalid", 0},
    {"f32", 4},
    {"f16", 2},
    {"s8", 1},
    {"u8", 1},
    {"s16", 2},
    {"s32", 4},
    {"s64", 8},
    {"bool", 1},
    {"f64", 8},
    {"bytes", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
}};

// A value read from a file may lie outside the enumeration.
const DTypeInfo& InfoOf(DType type) {
  const auto index = static_cast<size_t>(type);
  return kInfo[index < kInfo.size() ? index : 0];
}

}  // namespace

size_t SizeOf(DType type) { return InfoOf(type).size; }

const char* Name(DType type) { return InfoOf(type).name; }

}  // namespace rshift
