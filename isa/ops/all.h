// Every command, in ascending order of opcodes. A new one is added here: the instruction table is
// made from this list.
#ifndef RSHIFT_ISA_OPS_ALL_H_
#define RSHIFT_ISA_OPS_ALL_H_

#include "isa/ops/activation.h"
#include "isa/ops/conv.h"
#include "isa/ops/dynamic.h"
#include "isa/ops/eltwise.h"
#include "isa/ops/int16.h"
#include "isa/ops/int16_pairs.h"
#include "isa/ops/matmul.h"
#include "isa/ops/norm.h"
#include "isa/ops/pool.h"
#include "isa/ops/quant.h"
#include "isa/ops/recurrent.h"
#include "isa/ops/reduce.h"
#include "isa/ops/resize.h"
#include "isa/ops/select.h"
#include "isa/ops/shape.h"

namespace rshift::isa {

template <typename... Commands>
struct CommandList {};

using AllCommands = CommandList<
    Quantize, Dequantize, Requantize, Conv, Depthwise, MatMul, Add, AddFloat, AveragePool, MaxPool,
    LeakyRelu, PRelu, Table, AddShifted, AddFma, Mul, Softmax, AddScaled, BatchedMatMul, Transpose,
    CopyInto, Slice, Pad, Expand, Tile, Gather, ResizeNearest, Normalize, GruCell, Extremum, Div,
    BinaryTable, Resize, DynamicRange, DynamicQuantize, DynamicConv, DynamicMatMul, LstmCell,
    GatedOutput, BinaryF32, UnaryF32, ClipF32, LeakyReluF32, PReluF32, SoftmaxF32, LayerNormF32,
    ReduceF32, ArgMax, Where, Cast, ResizeF32, LrnF32, InstanceNormF32, FakeQuantizeF32,
    NonMaxSuppression, NonZero, Unique, RequantizeS16, ConvS16, MatMulS16, AddS16, MulS16, TableS16,
    AveragePoolS16, NormalizeS16, AddShiftedS16, SoftmaxS16, ExtremumS16, BatchedMatMulS16,
    QuotientSoftmaxS16, ConvPlanarF32, ChannelTablesS16, ChannelTables, ConvF32, ConvTransposeF32,
    MatMulF32, AveragePoolF32, ResizeLinear, L2Normalize, ResizeS16, DivS16, TopK, CompareS16,
    ModS16, PowS16, Product, ReduceSquares, FixedLstmCell, FixedGatedOutput>;

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_ALL_H_
