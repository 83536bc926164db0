// What the verifier must know of each command beyond the instruction table: one rule for each
// struct. Each throws kCorrupt. A command without a rule does not compile (verify.cc).
#ifndef RSHIFT_RUNTIME_VERIFY_RULES_H_
#define RSHIFT_RUNTIME_VERIFY_RULES_H_

#include "isa/ops/all.h"
#include "runtime/verify/command_check.h"

namespace rshift::verify {

// eltwise.cc
void CheckCommand(const CommandCheck& check, const isa::Quantize& c);
void CheckCommand(const CommandCheck& check, const isa::Dequantize& c);
void CheckCommand(const CommandCheck& check, const isa::Requantize& c);
void CheckCommand(const CommandCheck& check, const isa::Add& c);
void CheckCommand(const CommandCheck& check, const isa::AddFloat& c);
void CheckCommand(const CommandCheck& check, const isa::AddShifted& c);
void CheckCommand(const CommandCheck& check, const isa::AddFma& c);
void CheckCommand(const CommandCheck& check, const isa::AddScaled& c);
void CheckCommand(const CommandCheck& check, const isa::Mul& c);
void CheckCommand(const CommandCheck& check, const isa::Extremum& c);
void CheckCommand(const CommandCheck& check, const isa::Div& c);
void CheckCommand(const CommandCheck& check, const isa::BinaryTable& c);
void CheckCommand(const CommandCheck& check, const isa::LeakyRelu& c);
void CheckCommand(const CommandCheck& check, const isa::PRelu& c);
void CheckCommand(const CommandCheck& check, const isa::Table& c);
void CheckCommand(const CommandCheck& check, const isa::ChannelTables& c);
// conv.cc: they fill check.weight_sums
void CheckCommand(const CommandCheck& check, const isa::Conv& c);
void CheckCommand(const CommandCheck& check, const isa::Depthwise& c);
void CheckCommand(const CommandCheck& check, const isa::MatMul& c);
// dynamic.cc: products fill check.weight_sums
void CheckCommand(const CommandCheck& check, const isa::DynamicRange& c);
void CheckCommand(const CommandCheck& check, const isa::DynamicQuantize& c);
void CheckCommand(const CommandCheck& check, const isa::DynamicConv& c);
void CheckCommand(const CommandCheck& check, const isa::DynamicMatMul& c);
// matmul.cc
void CheckCommand(const CommandCheck& check, const isa::BatchedMatMul& c);
// pool.cc, softmax.cc
void CheckCommand(const CommandCheck& check, const isa::AveragePool& c);
void CheckCommand(const CommandCheck& check, const isa::MaxPool& c);
void CheckCommand(const CommandCheck& check, const isa::AveragePoolF32& c);
void CheckCommand(const CommandCheck& check, const isa::Softmax& c);
// int16.cc
void CheckCommand(const CommandCheck& check, const isa::RequantizeS16& c);
void CheckCommand(const CommandCheck& check, const isa::ConvS16& c);
void CheckCommand(const CommandCheck& check, const isa::MatMulS16& c);
void CheckCommand(const CommandCheck& check, const isa::AddS16& c);
void CheckCommand(const CommandCheck& check, const isa::MulS16& c);
void CheckCommand(const CommandCheck& check, const isa::DivS16& c);
void CheckCommand(const CommandCheck& check, const isa::CompareS16& c);
void CheckCommand(const CommandCheck& check, const isa::ModS16& c);
void CheckCommand(const CommandCheck& check, const isa::PowS16& c);
void CheckCommand(const CommandCheck& check, const isa::TableS16& c);
void CheckCommand(const CommandCheck& check, const isa::ChannelTablesS16& c);
void CheckCommand(const CommandCheck& check, const isa::AveragePoolS16& c);
void CheckCommand(const CommandCheck& check, const isa::NormalizeS16& c);
void CheckCommand(const CommandCheck& check, const isa::AddShiftedS16& c);
void CheckCommand(const CommandCheck& check, const isa::SoftmaxS16& c);
void CheckCommand(const CommandCheck& check, const isa::ExtremumS16& c);
void CheckCommand(const CommandCheck& check, const isa::BatchedMatMulS16& c);
void CheckCommand(const CommandCheck& check, const isa::QuotientSoftmaxS16& c);
// normalize.cc
void CheckCommand(const CommandCheck& check, const isa::Normalize& c);
void CheckCommand(const CommandCheck& check, const isa::L2Normalize& c);
void CheckCommand(const CommandCheck& check, const isa::Product& c);
void CheckCommand(const CommandCheck& check, const isa::ReduceSquares& c);
// recurrent.cc
void CheckCommand(const CommandCheck& check, const isa::LstmCell& c);
void CheckCommand(const CommandCheck& check, const isa::GruCell& c);
void CheckCommand(const CommandCheck& check, const isa::GatedOutput& c);
void CheckCommand(const CommandCheck& check, const isa::FixedLstmCell& c);
void CheckCommand(const CommandCheck& check, const isa::FixedGatedOutput& c);
// move.cc
void CheckCommand(const CommandCheck& check, const isa::Transpose& c);
void CheckCommand(const CommandCheck& check, const isa::CopyInto& c);
void CheckCommand(const CommandCheck& check, const isa::Slice& c);
void CheckCommand(const CommandCheck& check, const isa::Pad& c);
void CheckCommand(const CommandCheck& check, const isa::Expand& c);
void CheckCommand(const CommandCheck& check, const isa::Tile& c);
void CheckCommand(const CommandCheck& check, const isa::Gather& c);
void CheckCommand(const CommandCheck& check, const isa::ResizeNearest& c);
// resize.cc
void CheckCommand(const CommandCheck& check, const isa::Resize& c);
void CheckCommand(const CommandCheck& check, const isa::ResizeS16& c);
void CheckCommand(const CommandCheck& check, const isa::ResizeLinear& c);
// float.cc
void CheckCommand(const CommandCheck& check, const isa::BinaryF32& c);
void CheckCommand(const CommandCheck& check, const isa::UnaryF32& c);
void CheckCommand(const CommandCheck& check, const isa::ClipF32& c);
void CheckCommand(const CommandCheck& check, const isa::LeakyReluF32& c);
void CheckCommand(const CommandCheck& check, const isa::PReluF32& c);
void CheckCommand(const CommandCheck& check, const isa::SoftmaxF32& c);
void CheckCommand(const CommandCheck& check, const isa::LayerNormF32& c);
void CheckCommand(const CommandCheck& check, const isa::ReduceF32& c);
void CheckCommand(const CommandCheck& check, const isa::ArgMax& c);
void CheckCommand(const CommandCheck& check, const isa::Where& c);
void CheckCommand(const CommandCheck& check, const isa::Cast& c);
void CheckCommand(const CommandCheck& check, const isa::ResizeF32& c);
void CheckCommand(const CommandCheck& check, const isa::LrnF32& c);
void CheckCommand(const CommandCheck& check, const isa::FakeQuantizeF32& c);
void CheckCommand(const CommandCheck& check, const isa::InstanceNormF32& c);
void CheckCommand(const CommandCheck& check, const isa::ConvPlanarF32& c);
// select.cc
void CheckCommand(const CommandCheck& check, const isa::NonMaxSuppression& c);
void CheckCommand(const CommandCheck& check, const isa::NonZero& c);
void CheckCommand(const CommandCheck& check, const isa::TopK& c);
void CheckCommand(const CommandCheck& check, const isa::Unique& c);
// float_library.cc
void CheckCommand(const CommandCheck& check, const isa::ConvF32& c);
void CheckCommand(const CommandCheck& check, const isa::ConvTransposeF32& c);
void CheckCommand(const CommandCheck& check, const isa::MatMulF32& c);

// --- shared ---
// Of a normalization: one s32 factor and one s64 offset for each of `count`.
void CheckNormalizeNumbers(const CommandCheck& check, int64_t count);
// src [..., M, K], src2 [..., K, N], dst [..., M, N] with broadcasting of what stands before.
void CheckMatMulShapes(const CommandCheck& check);

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_RULES_H_
