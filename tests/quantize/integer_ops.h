// The integer operators of the interpreter, element by element, written from NUMERICS.md with the
// scalar functions of quantize/numerics and nothing of the runtime.
#ifndef RSHIFT_TESTS_QUANTIZE_INTEGER_OPS_H_
#define RSHIFT_TESTS_QUANTIZE_INTEGER_OPS_H_

#include <cstdint>
#include <span>

#include "graph/op.h"

namespace rshift::test {

struct ByteType {
  float scale = 1;
  int32_t zero = 0;
  bool is_signed = true;
};

// An accumulator with its bias -> y. old: the addend of kSum.
int32_t FinishAccumulator(const QLinear& op, const ChannelRequant& r, int32_t acc, int32_t old,
                          int32_t zero_y);

int32_t PairResult(const isa::Add& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);
int32_t PairResult(const isa::AddFloat& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);
// in_block: by op.blocks, before the last full vector ends.
int32_t PairResult(const isa::AddShifted& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y, bool in_block = false);
int32_t PairResult(const isa::AddFma& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);
int32_t PairResult(const isa::AddScaled& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);
int32_t PairResult(const isa::Extremum& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);
int32_t PairResult(const QDiv& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);
int32_t PairResult(const isa::Mul& op, int32_t a, int32_t b, const ByteType& type_a,
                   const ByteType& type_b, const ByteType& y);

// sum: of the bytes of `count` taps; for kDequantized of their reals.
int32_t PoolResult(const isa::AveragePool& op, double sum, int64_t count, const ByteType& x,
                   const ByteType& y);

// In place.
// scale_x: for LogSoftmax.
void SoftmaxRow(const QSoftmax& op, std::span<double> row, const ByteType& y, float scale_x = 0);

// In place, elements that are normalized together; element i has number first_number + i * step.
void NormalizeElements(const QNormalize& op, size_t first_number, size_t step,
                       std::span<double> elements, const ByteType& x);

}  // namespace rshift::test

#endif  // RSHIFT_TESTS_QUANTIZE_INTEGER_OPS_H_
