// The steps of integer and movement commands: a maker for each struct. A command without one does
// not compile (make_step.cc). They rely on what the verifier has proved and do not fail.
#ifndef RSHIFT_RUNTIME_STEPS_STEPS_H_
#define RSHIFT_RUNTIME_STEPS_STEPS_H_

#include <memory>

#include "isa/ops/all.h"
#include "runtime/step.h"
#include "runtime/steps/byte_op.h"

namespace rshift {

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Quantize& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Dequantize& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Conv& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Depthwise& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMul& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::BatchedMatMul& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePool& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MaxPool& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Softmax& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Normalize& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::L2Normalize& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Product& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ReduceSquares& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::LstmCell& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::GruCell& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::GatedOutput& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::FixedLstmCell& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::FixedGatedOutput& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Transpose& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::CopyInto& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Slice& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Pad& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Expand& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Tile& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Gather& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeNearest& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Resize& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ResizeLinear& c);

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicRange& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicQuantize& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicConv& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DynamicMatMul& c);

// int16.cc, conv_int16.cc
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::RequantizeS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ConvS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MatMulS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AddS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::MulS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::DivS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::CompareS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ModS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::PowS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::TableS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ChannelTablesS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AveragePoolS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::NormalizeS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::AddShiftedS16& c);
// softmax_int16.cc
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::SoftmaxS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::ExtremumS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::BatchedMatMulS16& c);
std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::QuotientSoftmaxS16& c);

// Element-wise commands, which may be fused with the one before: pointers of the context's operands
// are not looked at, and a smaller constant is as large as dst (broadcast_op.h).
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Requantize& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Add& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddFloat& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddShifted& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddFma& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::AddScaled& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Mul& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Extremum& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Div& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::BinaryTable& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::LeakyRelu& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::PRelu& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::Table& c);
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context, const isa::ChannelTables& c);
// Of such a command, whichever it is, with its constant; null for any other.
std::unique_ptr<ByteOp> MakeByteOp(const StepContext& context);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STEPS_H_
