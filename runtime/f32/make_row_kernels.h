// The table of a unit's loops.
#ifndef RSHIFT_RUNTIME_F32_MAKE_ROW_KERNELS_H_
#define RSHIFT_RUNTIME_F32_MAKE_ROW_KERNELS_H_

#include "runtime/f32/function_kernels.h"
#include "runtime/f32/normalize_kernels.h"
#include "runtime/f32/pair_kernels.h"
#include "runtime/f32/plane_filter_kernels.h"
#include "runtime/f32/plane_kernels.h"
#include "runtime/f32/plane_product_kernels.h"
#include "runtime/f32/product_kernels.h"
#include "runtime/f32/reduce_kernels.h"
#include "runtime/f32/softmax_kernels.h"
#include "runtime/f32/window_kernels.h"

namespace rshift::f32 {
namespace {

constexpr RowKernels MakeRowKernels() {
  return {.sum = RowSum,
          .squares = RowSquares,
          .extreme = RowExtreme,
          .extremes = RowExtremes,
          .sum_columns = ColumnSums,
          .square_columns = ColumnSquares,
          .extreme_columns = ColumnExtremes,
          .softmax_rows = SoftmaxRows,
          .softmax_columns = SoftmaxColumns,
          .normalize_row = NormalizeRow,
          .normalize_plane = NormalizePlane,
          .normalize_columns = NormalizeColumns,
          .window_highest = WindowHighest,
          .window_mean = WindowMean,
          .plane_row_highest = PlaneRowHighest,
          .plane_row_twice = PlaneRowTwice,
          .plane_convolution = PlaneConvolution,
          .plane_product = ProductOfPlanes,
          .sigmoid = RowSigmoid,
          .tanh = RowTanh,
          .silu = RowSilu,
          .mish = RowMish,
          .erf = RowErf,
          .gelu = RowGelu,
          .gelu_tanh = RowGeluTanh,
          .elu = RowElu,
          .hard_sigmoid = RowHardSigmoid,
          .hard_swish = RowHardSwish,
          .leaky_relu = RowLeakyRelu,
          .clip = RowClip,
          .add = RowAdd,
          .multiply = RowMultiply,
          .product = MakeProductKernels()};
}

}  // namespace
}  // namespace rshift::f32

#endif  // RSHIFT_RUNTIME_F32_MAKE_ROW_KERNELS_H_
