// Builds the integer graph node by node. A value may exist in both forms: as integers under its
// ONNX name, and as f32; whichever is missing is made by one Quantize or Dequantize when it is
// first asked for.
#ifndef RSHIFT_QUANTIZE_EMITTER_H_
#define RSHIFT_QUANTIZE_EMITTER_H_

#include <set>
#include <span>
#include <string>
#include <vector>

#include "calibrate/ranges/ranges.h"
#include "graph/graph.h"
#include "quantize/quantize.h"

namespace rshift {

// Element type and parameters of an integer tensor.
struct IntType {
  DType dtype = DType::kS8;
  QuantParams quant;
  int32_t qmin() const { return dtype == DType::kU8 ? 0 : -128; }
  int32_t qmax() const { return dtype == DType::kU8 ? 255 : 127; }
  int32_t magnitude() const { return dtype == DType::kU8 ? 255 : 128; }  // largest |q|
  friend bool operator==(const IntType&, const IntType&) = default;
};
IntType TypeOfRange(const ValueRange& range, QuantMode mode);

class Emitter {
 public:
  Emitter(const Graph& old, const RangeResult& ranges, const QuantizeOptions& options);

  const Graph& old() const { return old_; }
  const QuantizeOptions& options() const { return options_; }
  LayerConfig Layer(const Node& node) const;
  QuantizeReport& report() { return report_; }

  // The type an old value has as integers. IsZero: calibration never saw anything but 0.
  IntType Type(ValueId old) const;
  bool IsZero(ValueId old) const;

  // The new value that holds an old activation, as integers of Type(old), as integers of another
  // type (by a Requantize of its own when they differ), as f32.
  ValueId Int(ValueId old);
  ValueId IntAs(ValueId old, const IntType& type);
  ValueId Float(ValueId old);
  // Any old value as it is: constants, other types.
  ValueId Same(ValueId old);

  // Makes the new value that a node will write.
  ValueId DefineInt(ValueId old);
  ValueId DefineFloat(ValueId old);
  // An intermediate of the shape of `like`; `suffix` is appended to like's name.
  ValueId Temporary(ValueId like, const std::string& suffix, const IntType& type);
  // A quantized constant.
  ValueId AddConstant(const std::string& base, Layout layout, const Shape& shape,
                      const IntType& type, std::span<const int8_t> bytes);

  void AddNode(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId output);
  // A Requantize from integers of type `from`, clamped to [clamp.lo, clamp.hi] of type `to`.
  void AddRequantize(const std::string& name, ValueId x, const IntType& from, ValueId y,
                     const IntType& to, const ClampQ& clamp);

  QuantizeResult Finish();

 private:
  std::string FreshName(const std::string& base);
  ValueId AddInt(Value value, const IntType& type);

  const Graph& old_;
  const RangeResult& ranges_;
  const QuantizeOptions& options_;
  Graph new_;
  QuantizeReport report_;
  std::vector<ValueId> ints_, floats_;  // by old value; invalid where not made
  std::set<std::string> names_;
};

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EMITTER_H_
