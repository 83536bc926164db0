// The rules of a profile: which integer operator, with which numbers, stands for a float one. One
// implementation for each family of profiles, in a file of its own. quantize/ops asks and emits;
// nothing here touches a graph. Formulas: quantize/NUMERICS.md.
#ifndef RSHIFT_QUANTIZE_PROFILES_ARITHMETIC_H_
#define RSHIFT_QUANTIZE_PROFILES_ARITHMETIC_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"
#include "isa/functions.h"
#include "quantize/numerics/ascend.h"
#include "quantize/profile.h"
#include "quantize/types.h"

namespace rshift {

// --- Convolution and MatMul ---------------------------------------------------------------------
enum class LinearKind : uint8_t {
  kGeneral,         // a convolution that is none of the others
  kPointwise,       // 1 x 1, one group
  kDepthwise,       // groups = input channels, more than one; outputs: any multiple of them
  kGrouped,         // other groups than one
  kFullyConnected,  // MatMul with constant weights
  kTransposed,      // ConvTranspose, of groups that are not its channels
};

struct LinearLayer {
  LinearKind kind = LinearKind::kGeneral;
  bool depth_multiplier = false;  // kDepthwise with more outputs than inputs
  bool has_bias = true;
  bool per_channel = true;  // weight scales: one for each output channel, or one for all
  IntType x, y;
  Clamp clamp;                         // fused Relu, Clip; it comes before the post-operations
  std::vector<RealPostOp> post_ops{};  // for HasPostOps() alone; y is the type after it
  int64_t channels = 0;
  int64_t channel = 0;       // for Words(): which of them
  int multiplier_bits = 32;  // of the tpu profile: Target::conv_multiplier_bits
  double slope = 1;          // for Words(), of ScalesBelowZero(): a factor of the accumulator
  AscendDequantAttributes ascend{};
};

// What all channels of a node share.
struct LinearForm : LinearEpilogue {
  // false: the bias is rounded to an integer of scale Sx Sw and folded with the zero point of x.
  // true: the integer bias folds the zero point alone; Words() puts the real bias into rshift.
  bool float_bias = false;
};

// --- other operators ----------------------------------------------------------------------------
// Of two tensors of y's shape; a constant operand is already integers.
struct BinaryLayer {
  BinaryOp op = BinaryOp::kAdd;
  IntType a, b, y;
  Clamp clamp;
  QuantMode mode = QuantMode::kSymmetric;
  int multiplier_bits = 32;  // of the target or the configuration
  // What the 256 bytes of a constant operand stand for, where they only number its values; empty:
  // the operand is of type a, b.
  std::vector<double> listed_a{}, listed_b{};
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over `n` elements. scale and bias: of
// each of them, or of each channel.
struct NormalizeLayer {
  IntType x, y;
  int64_t n = 1;
  double epsilon = 0;
  std::vector<double> scale, bias;
};

// Two activations, or an activation and a constant that is no matrix of weights.
struct BatchedMatMulLayer {
  IntType a, b, y;
  double factor = 1;  // what the product is multiplied by
  Clamp clamp;
  int multiplier_bits = 32;
};

struct PoolLayer {
  Window window;
  bool count_include_pad = false;
  // The window is the whole image, without pads.
  bool whole = false;
  // What the model calls it: GlobalAveragePool, ReduceMean over height and width, or AveragePool.
  bool global = false, mean = false;
  int64_t height = 0, width = 0;  // of x
  IntType x, y;
};

// The sum of `rows` bytes, or their mean.
struct ReductionLayer {
  IntType x, y;
  int64_t rows = 1;
  bool mean = false;
};

struct ByteLayer {  // functions of one byte
  IntType x, y;
  int multiplier_bits = 32;
};

// `type`: of the bytes the operator gives, where the framework knows only one output type; equals y
// otherwise. The emitter rescales from it to y.
struct SoftmaxForm {
  QSoftmax op;
  IntType type;
};

struct PoolForm {
  isa::AveragePool op;
  IntType type;  // as in SoftmaxForm
};

// What a profile with ModelInt16() makes of s16 with zero point 0, beside Linear(), Words(),
// MakeBinary(), MakeRescale() and MakeClip().
class ModelInt16Rules {
 public:
  virtual ~ModelInt16Rules() = default;
  // Sums of a matrix product without a bias are 32 bits wide.
  virtual bool HasNarrowSums() const = 0;
  // Of a function of one value; empty: it has an integer form.
  virtual std::string WhyNot(const Unary& op, const IntType& x, const IntType& y) const = 0;
  virtual QTableS16 MakeUnary(const IntType& x, const IntType& y, const Unary& op) const = 0;
  virtual QTableS16 MakeLeakyRelu(const IntType& x, const IntType& y, float alpha) const = 0;
  // The window is the caller's. Of an average in one type; of the mean of n.
  virtual isa::AveragePoolS16 MakePool() const = 0;
  virtual isa::AveragePoolS16 MakeMean(const IntType& x, const IntType& y, int64_t n) const = 0;
  virtual QSoftmaxS16 MakeSoftmax(const IntType& x) const = 0;
  // Of two activations.
  virtual isa::BatchedMatMulS16 MakeBatchedMatMul(const IntType& a, const IntType& b,
                                                  const IntType& y) const = 0;
};

class Arithmetic {
 public:
  virtual ~Arithmetic() = default;

  // --- which nodes are integer, whatever their types
  // Of two activations, or an activation and a constant tensor.
  virtual bool HasBinary(BinaryOp op) const = 0;
  // HasBinary(), and MakeBinary() is a table of pairs of bytes: exact where a constant operand has
  // at most 256 different numbers; with more of them the node is F32.
  virtual bool BinaryIsTable(BinaryOp) const { return false; }
  // A constant operand is integers of a scale, as those of sums and products always are; else each
  // number is itself where they are few.
  virtual bool RoundsConstants(BinaryOp) const { return false; }
  // An activation and one constant number: a table of x (true) or MakeBinary() with a constant
  // tensor.
  virtual bool ScalarIsTable(BinaryOp) const { return true; }
  // Of an AveragePool with these attributes.
  virtual bool HasPool(const AveragePool&) const { return true; }
  virtual bool HasSoftmax() const { return false; }
  virtual bool HasLogSoftmax() const { return false; }
  virtual bool HasBatchedMatMul() const { return false; }
  // A positive factor behind such a product may be part of its own: BatchedMatMulLayer::factor.
  virtual bool FactorsBatchedMatMul() const { return false; }
  // Over another axis than the last as well: the emitter transposes around it.
  virtual bool HasSoftmaxOfAnyAxis() const { return false; }
  virtual bool HasNormalize() const { return false; }  // LayerNorm, InstanceNorm
  // x / |x| of rows by isa::L2Normalize.
  virtual bool HasL2Normalize() const { return false; }
  virtual bool HasMean() const { return false; }  // ReduceMean over height and width
  // Over any axes; kMean: other axes than height and width.
  virtual bool HasReduction(ReduceOp) const { return false; }
  virtual bool HasResize() const { return false; }  // linear and cubic
  // Linear, of LiteRT's coordinates: LinearResize().
  virtual bool HasLinearResize() const { return false; }
  // Why it has no form of a reduction or an interpolation; empty: nothing more is known.
  virtual std::string WhyFloatSums() const { return ""; }
  virtual bool HasWhere() const { return false; }
  virtual bool HasPRelu() const { return false; }  // of one slope for each channel
  // PRelu of other slopes, or of any: a table of pairs of bytes, MakePReluOfPairs().
  virtual bool HasPReluOfPairs() const { return false; }
  // Its constant slopes are integers of a scale; else each is itself where they are few.
  virtual bool RoundsSlopes() const { return false; }

  // Convolutions and matrix products alone are integer, their results fp16, and so is whatever else
  // there is: every F32 operator reads fp16 numbers and its result is rounded to fp16.
  virtual bool HalfResults() const { return false; }

  // --- activations, constants, bounds
  virtual IntType ActivationType(const ValueRange& range, QuantMode mode) const;
  // Quantize commands of graph inputs and of F32 nodes' results.
  virtual Quantize InputForm(const IntType&) const { return {}; }
  // The scale by which a graph input is multiplied before its offset is added and the sum rounded
  // (AscendQuant), twice if sqrt_mode; nullopt: x / S, rounded, + Z. Not for QuantizeLinear nodes.
  virtual std::optional<numerics::AscendScale> InputScale(const IntType&) const {
    return std::nullopt;
  }
  // A real constant as an integer of `type`: Pad's value, parts of Concat, constant operands.
  virtual int32_t Constant(float value, const IntType& type) const;
  // The quantized bounds of a fused or lone Relu, Clip.
  virtual ClampQ Bounds(const Clamp& clamp, const IntType& type) const;

  // --- Conv, MatMul
  virtual LinearForm Linear(const LinearLayer& layer) const = 0;
  // Takes the operators behind a convolution into it, as LinearLayer::post_ops.
  virtual bool HasPostOps() const { return false; }
  // Accumulators below 0 may have words of their own: LinearLayer::slope.
  virtual bool ScalesBelowZero() const { return false; }
  // Computes with IntType::ranges: y may be in units of channels though nothing divided by them.
  virtual bool ReadsRanges() const { return false; }
  // `bias`: the real bias, for LinearForm::float_bias; 0 without one.
  virtual RequantWords Words(const LinearLayer& layer, float scale_w, float bias) const = 0;

  // Weights are multiplied with the inverse of their scale, as MKL-DNN's reorders do it; else
  // divided.
  virtual bool InvertsWeightScales() const { return false; }
  // Once the records of all channels are there.
  virtual void Complete(const LinearLayer&, QLinear*) const {}

  // --- operators
  // For HasBinary(layer.op): isa::Add, AddFloat, AddShifted, AddFma or Mul; two_operands.h.
  // Operands of Max and Min are of type y.
  virtual Op MakeBinary(const BinaryLayer& layer) const = 0;
  // For !ScalarIsTable(layer.op): the operand of type b (a, if constant_is_a) is q everywhere.
  // Null: as MakeBinary() with a constant tensor.
  virtual std::optional<QTable> MakeScalar(const BinaryLayer&, int32_t, bool) const {
    return std::nullopt;
  }
  // For HasLinearResize(): of numbers of this type; nullopt: isa::Resize by XNNPACK's coefficients.
  virtual std::optional<ResizeArithmetic> LinearResize(DType) const { return std::nullopt; }
  // For HasNormalize().
  virtual QNormalize MakeNormalize(const NormalizeLayer& layer) const;
  // For HasBatchedMatMul().
  virtual isa::BatchedMatMul MakeBatchedMatMul(const BatchedMatMulLayer& layer) const;
  // The same of s16, `k` products a sum.
  virtual isa::BatchedMatMulS16 MakeBatchedMatMulS16(const BatchedMatMulLayer& layer,
                                                     int64_t k) const;
  virtual PoolForm MakePool(const PoolLayer& layer) const = 0;
  // For HasReduction() of means, sums and ReduceL1: a pool, of the window that the caller sets.
  virtual isa::AveragePool MakeReduction(const ReductionLayer& layer) const;
  // For HasReduction() of products of n elements.
  virtual isa::Product MakeProduct(const IntType& x, const IntType& y, int64_t n) const;
  // For HasSoftmax(). width: elements of a row.
  virtual SoftmaxForm MakeSoftmax(const IntType& x, const IntType& y, int64_t width) const;
  // What MakeSoftmax() is asked for where a model's own y does not bind: the least scale from which
  // on its arithmetic is right.
  virtual IntType SoftmaxType(const IntType& y, int64_t) const { return y; }
  // The same of s16.
  virtual QQuotientSoftmaxS16 MakeSoftmaxS16(const IntType& x, const IntType& y, bool log) const;
  // For HasLogSoftmax().
  virtual SoftmaxForm MakeLogSoftmax(const IntType& x, const IntType& y) const;

  // --- 16-bit integers that a model brings, beside weights of 8 bits; null: they are F32
  virtual const ModelInt16Rules* ModelInt16() const { return nullptr; }
  // Whether a model's s16 with zero point 0 are held as integers: with rules of their own, or by
  // the forms of 16 bits that there are anyway (NUMERICS.md section 29).
  virtual bool HoldsModelInt16() const { return ModelInt16() != nullptr; }

  // --- functions of a byte; the defaults are tables by Table()
  // Dequantize, function, Quantize in the framework's float type and rounding. `function` is exact
  // to binary64. Default: binary32 with ties to even.
  virtual QTable Table(const ByteLayer& layer, const std::function<double(double)>& function) const;
  virtual Op MakeLeakyRelu(const ByteLayer& layer, double alpha) const;
  // For HasPRelu(): one slope for each channel.
  virtual Op MakePRelu(const ByteLayer& layer, std::span<const float> slopes) const;
  // a: x, b: the slopes.
  virtual QBinaryTable MakePReluOfPairs(const BinaryLayer& layer) const;
  virtual QTable MakeUnary(const ByteLayer& layer, const Unary& op) const;
  // From one type to another, then the clamp (in units of y): Requantize.
  virtual Op MakeRescale(const ByteLayer& layer, const ClampQ& clamp) const;
  // A Relu or Clip that nothing took in. Default: MakeRescale().
  virtual Op MakeClip(const ByteLayer& layer, const ClampQ& clamp) const;
  // An input of a Concat whose type is not the output's. Default: MakeRescale().
  virtual Op MakeConcatPart(const ByteLayer& layer) const;
};

// By the profile of QuantizeOptions. Lives as long as the program.
const Arithmetic& ArithmeticOf(const Profile& profile);

// One for each family; ArithmeticOf() chooses.
const Arithmetic& TpuArithmetic();
const Arithmetic& TfLiteArithmetic(const Profile& profile);
const Arithmetic& OnnxRuntimeArithmetic();
const Arithmetic& Caffe2Arithmetic(Variant variant);
const Arithmetic& OneDnnArithmetic();
const Arithmetic& OpenVinoArithmetic();
const Arithmetic& AscendArithmetic(Variant variant);

// --- shared by the implementations --------------------------------------------------------------
// The function of a Unary in binary64.
double Evaluate(const Unary& op, double v);
// Of a Binary whose result is a number.
double Evaluate(BinaryOp op, double a, double b);
// entry(q): the y that belongs to x = q.
QTable TableOf(const IntType& x, const std::function<int32_t(int32_t)>& entry);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_PROFILES_ARITHMETIC_H_
