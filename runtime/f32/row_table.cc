// The loops for any CPU, and the choice.
#include "runtime/f32/row_table.h"

#include "runtime/f32/make_row_table.h"
#include "runtime/runtime.h"

namespace rshift::f32 {

#if defined(__x86_64__)
extern const RowTable kAvx2RowTable;  // row_table_avx2.cc
#endif

namespace {
constexpr RowTable kPlainRowTable = MakeRowTable();
}  // namespace

const RowTable& RowTableFor(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx2 || isa == Isa::kAvxVnni || isa == Isa::kAvx512Vnni) return kAvx2RowTable;
#endif
  (void)isa;
  return kPlainRowTable;
}

}  // namespace rshift::f32
