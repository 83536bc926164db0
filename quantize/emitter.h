// Builds the integer graph node by node. A value may exist in both forms: as integers under its
// ONNX name, and as f32; whichever is missing is made by one Quantize or Dequantize when it is
// first asked for.
#ifndef RSHIFT_QUANTIZE_EMITTER_H_
#define RSHIFT_QUANTIZE_EMITTER_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/unique_names.h"
#include "graph/graph.h"
#include "quantize/options.h"
#include "quantize/profiles/arithmetic.h"
#include "quantize/ranges/ranges.h"
#include "quantize/report.h"
#include "quantize/types.h"

namespace rshift {

// By the rules of the options' mode and profile.
ValueTypes TypesOfRanges(const RangeResult& ranges, const QuantizeOptions& options);

// What a convolution takes in of the nodes behind it (quantize/ops/fuse_post_ops.h).
struct FusedPostOps {
  std::vector<RealPostOp> ops;
  ValueId y;          // old: what the last of them writes
  ValueId addend;     // old: the other operand of an Add; invalid without one
  bool real = false;  // y stays f32: NUMERICS.md section 19
  // Factors of accumulators below 0, one or one for each channel (quantize/ops/fuse_slopes.h).
  std::vector<float> slopes{};
};

class Emitter {
 public:
  // All of them must outlive the emitter.
  Emitter(const Graph& old, const ValueTypes& types, const QuantizeOptions& options);

  const Graph& old() const { return old_; }
  const QuantizeOptions& options() const { return options_; }
  LayerConfig Layer(const Node& node) const;
  // The arithmetic of the node that is being emitted: its own profile's, or the options'. Whether
  // it reads values in 16 bits, where they are held so.
  void Begin(const Node& node);
  // Of what is emitted without Begin(): 8 bits.
  void ReadBytes() { reads_int16_ = false; }
  // An activation of the node has 16 bits, as it reads or writes it.
  bool HasInt16(const Node& node) const;
  const Arithmetic& rules() const { return *rules_; }
  // Bits of its multipliers: the variant's, or the target's.
  int conv_multiplier_bits() const;
  QuantizeReport& report() { return report_; }

  // The type an old value has as integers, as the node that is emitted reads it. IsZero:
  // calibration never saw anything but 0.
  IntType Type(ValueId old) const;
  bool HasType(ValueId old) const { return types_.types[old.index()].quant.scale > 0; }
  bool IsZero(ValueId old) const;
  // What is fused behind a Conv or MatMul; where nothing is, empty and y the node's own output.
  FusedPostOps PostOps(const Node& node) const;
  void SetPostOps(const Node& node, FusedPostOps fused);

  // The new value that holds an old activation, as integers of Type(old), as f32.
  ValueId Int(ValueId old);
  // An old value in 16 bits without a zero point, exact: as it is where it has 16 bits, else times
  // `factor` (1 or 128) in units of its scale / factor.
  ValueId Int16(ValueId old, int32_t factor);
  IntType Int16Type(ValueId old, int32_t factor) const;
  // The integers of an old value exist already.
  bool HasInt(ValueId old) const;
  ValueId Float(ValueId old);
  // Any old value as it is: constants, other types.
  ValueId Same(ValueId old);

  // Makes the new value that a node will write.
  ValueId DefineInt(ValueId old);
  ValueId DefineFloat(ValueId old);
  // --- profiles with HalfResults(): a value is stored as f16 (named __fp16) and read as f32
  // The f16 value that a node will write; Float(old) is then a Cast of it.
  ValueId DefineHalf(ValueId old);
  ValueId TemporaryHalf(ValueId like, const std::string& suffix);
  ValueId FloatOfHalf(ValueId half, const std::string& name);
  // An old f32 value as an fp16 operator reads it: rounded to fp16, constants saturated to it.
  ValueId HalfFloat(ValueId old);
  // A node whose f32 result holds numbers of its inputs and no others: fp16 where they are.
  void AddMoved(const Node& node);
  // A node whose f32 result is rounded to fp16.
  void AddHalfResult(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId old);
  // --- states of recurrent cells: s16, zero point 0 (quantize/ops/recurrent.h)
  // The value that a node will write; Float(old) is then a Dequantize of it, whatever bytes there
  // are beside it. It has the old value's name, or that with a suffix.
  ValueId DefineState(ValueId old, float scale, bool own_name);
  bool HasState(ValueId old) const { return old.valid() && states_[old.index()].valid(); }
  ValueId State(ValueId old) const { return states_[old.index()]; }
  // An f32 value like the old one that a node will write; Float(old) does not know it.
  ValueId DefineFloatAgain(ValueId old);
  void SetFloat(ValueId old, ValueId made) { floats_[old.index()] = made; }
  // Any value, under a name that no other has.
  ValueId AddValue(Value value);
  // Old value `id` has the integers of `other`.
  void Alias(ValueId id, ValueId other);
  // An intermediate of the shape of `like`; `suffix` is appended to like's name.
  ValueId Temporary(ValueId like, const std::string& suffix, const IntType& type);
  ValueId Temporary(ValueId like, const std::string& suffix, const IntType& type,
                    const Shape& shape, Layout layout);
  // A quantized constant.
  ValueId AddConstant(const std::string& base, Layout layout, const Shape& shape,
                      const IntType& type, std::span<const int8_t> bytes);
  ValueId AddConstant(const std::string& base, Layout layout, const Shape& shape,
                      const IntType& type, std::span<const int16_t> numbers);
  // Weights: real = scale of the channel * byte. The channels of `axis` may be those of `scales`
  // several times over. They are remembered for dumps: operators have scales and zero points in
  // their own parameters. `bits`: 4 where the program's file is to hold two to a byte.
  ValueId AddWeights(const std::string& base, Layout layout, const Shape& shape, int64_t axis,
                     const std::vector<float>& scales, std::span<const int8_t> bytes, int bits = 8);

  void AddNode(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId output);
  // A node of one input that writes a Temporary; both names end in `suffix`.
  ValueId AddStep(const Node& node, const std::string& suffix, Op op, ValueId x, ValueId like,
                  const IntType& type, const Shape& shape, Layout layout);
  // The profile's rescaling from integers of type `from`, clamped to [clamp.lo, clamp.hi] of type
  // `to`.
  void AddRequantize(const std::string& name, ValueId x, const IntType& from, ValueId y,
                     const IntType& to, const ClampQ& clamp);

  QuantizeResult Finish();

 private:
  ValueId AddInt(Value value, const IntType& type);
  bool IsInt16(ValueId old) const {
    return reads_int16_ && types_.int16[old.index()].quant.scale > 0;
  }
  ValueId AddRequantizeInt16(const std::string& name, ValueId x, Value like, const IntType& from,
                             const IntType& to);
  // f32 -> integers: one Quantize, or AscendQuant in the steps of its definition.
  void AddQuantize(const std::string& name, ValueId x, ValueId y, const IntType& type);
  ValueId AddScalarStep(const std::string& name, BinaryOp op, ValueId x, float number);
  std::string IntName(ValueId old) const;

  const Graph& old_;
  const ValueTypes& types_;
  const QuantizeOptions& options_;
  const Arithmetic* rules_;
  Variant variant_;
  Graph new_;
  QuantizeReport report_;
  std::vector<ValueId> ints_, floats_;  // by old value; invalid where not made
  std::vector<ValueId> halves_;         // f16
  std::vector<ValueId> states_;         // s16
  std::vector<ValueId> int16_;          // of 16 bits, beside ints_
  bool reads_int16_ = false;
  std::map<std::pair<ValueId, int32_t>, ValueId> widened_;  // Int16()
  std::vector<bool> is_half_;                               // every number is fp16
  std::map<ValueId, ValueId> rounded_;  // of constants, inputs and integers: HalfFloat()
  UniqueNames names_;
  std::map<const Node*, FusedPostOps> post_ops_;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EMITTER_H_
