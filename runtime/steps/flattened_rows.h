// Element-wise work on tensors whose rows may lie apart (TensorRecord::pitch): row by row, or as
// one long row when all of them are dense.
#ifndef RSHIFT_RUNTIME_STEPS_FLATTENED_ROWS_H_
#define RSHIFT_RUNTIME_STEPS_FLATTENED_ROWS_H_

#include <algorithm>
#include <initializer_list>

#include "runtime/step.h"

namespace rshift {

inline int64_t RowPitch(const StepContext& context, Field f) {
  return static_cast<int64_t>(context.Record(f).row_pitch());
}

struct FlattenedRows {
  int64_t count = 1, elements = 0;  // of a row

  // Of tensors of equal shape.
  FlattenedRows(const StepContext& context, std::initializer_list<Field> fields) {
    const TensorRecord& first = context.Record(*fields.begin());
    const bool dense = std::all_of(fields.begin(), fields.end(),
                                   [&](Field f) { return context.Record(f).pitch == 0; });
    elements = dense ? NumElements(first.shape) : first.shape.back();
    count = dense ? 1 : static_cast<int64_t>(first.rows());
  }

  int64_t total() const { return count * elements; }

  // f(row, begin, end) for the pieces of rows that are this thread's: elements [begin, end).
  template <typename F>
  void ForEach(const Team& team, const F& f) const {
    const Range part = ThreadRange(total(), kCacheLine, team);
    for (int64_t at = part.begin; at < part.end;) {
      const int64_t row = at / elements, begin = at % elements;
      const int64_t end = std::min(elements, begin + part.end - at);
      f(row, begin, end);
      at += end - begin;
    }
  }
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_FLATTENED_ROWS_H_
