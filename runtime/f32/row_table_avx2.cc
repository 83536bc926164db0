// Compiled with AVX2, entered only where the CPU has it.
#if defined(__AVX2__)
#include "runtime/f32/make_row_table.h"

namespace rshift::f32 {

extern const RowTable kAvx2RowTable;
constexpr RowTable kAvx2RowTable = MakeRowTable();

}  // namespace rshift::f32
#endif
