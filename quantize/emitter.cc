#include "quantize/emitter.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "quantize/numerics/half_float.h"
#include "quantize/numerics/qparams.h"
#include "quantize/overrides.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

constexpr float kMostHalf = 65504.0f;

Value ConstantValue(std::string name, Layout layout, const Shape& shape,
                    std::shared_ptr<const ConstantData> constant) {
  Value value;
  value.name = std::move(name);
  value.shape = shape;
  value.layout = layout;
  value.constant = std::move(constant);
  return value;
}

}  // namespace

ValueTypes TypesOfRanges(const RangeResult& ranges, const QuantizeOptions& options) {
  const Arithmetic& rules = ArithmeticOf(options.profile);
  const QuantMode mode = options.mode;
  const bool u8 = options.target.unsigned_activations && mode == QuantMode::kAsymmetric &&
                  options.profile.id == ProfileId::kTpu;
  ValueTypes result;
  for (const ValueRange& range : ranges.ranges) {
    result.types.push_back(
        u8 ? IntType{DType::kU8, numerics::AsymmetricParams(range.low, range.high, 0, 255)}
           : rules.ActivationType(range, mode));
    result.zero.push_back(mode == QuantMode::kSymmetric ? range.threshold == 0
                                                        : range.low == range.high);
    result.names.emplace_back();
  }
  return result;
}

Emitter::Emitter(const Graph& old, const ValueTypes& types, const QuantizeOptions& options)
    : old_(old),
      types_(types),
      options_(options),
      rules_(&ArithmeticOf(options.profile)),
      variant_(options.profile.variant),
      ints_(old.value_count()),
      floats_(old.value_count()),
      halves_(old.value_count()),
      states_(old.value_count()),
      int16_(old.value_count()),
      is_half_(old.value_count(), false) {
  new_.name = old.name;
  new_.sha256 = old.sha256;
  for (int i = 0; i < old.value_count(); ++i) names_.Reserve(old.value(ValueId(i)).name);
  for (ValueId id : old.inputs) {
    floats_[id.index()] = new_.AddValue(old.value(id));
    new_.inputs.push_back(floats_[id.index()]);
  }
}

LayerConfig Emitter::Layer(const Node& node) const { return LayerOf(old_, node, options_.config); }

void Emitter::Begin(const Node& node) {
  const Profile profile = ProfileOf(old_, node, options_.config, options_.profile);
  rules_ = &ArithmeticOf(profile);
  variant_ = profile.variant;
  if (profile != options_.profile) report_.profiles.push_back({node.name, profile});
  reads_int16_ = !types_.reads_int16.empty() &&
                 types_.reads_int16[static_cast<size_t>(&node - old_.nodes().data())];
}

bool Emitter::HasInt16(const Node& node) const {
  const auto is = [&](ValueId id) {
    return id.valid() && (IsInt16(id) || types_.types[id.index()].is_s16());
  };
  return is(node.outputs[0]) || std::any_of(node.inputs.begin(), node.inputs.end(), is);
}

int Emitter::conv_multiplier_bits() const {
  const int bits = MultiplierBits(variant_);
  return bits != 0 ? bits : options_.target.conv_multiplier_bits;
}

IntType Emitter::Type(ValueId old) const {
  if (IsInt16(old)) return types_.int16[old.index()];
  const IntType& type = types_.types[old.index()];
  RSHIFT_REQUIRE(type.quant.scale > 0, ErrorCode::kInternal, "'", old_.value(old).name,
                 "' has no integer type; this is a bug in Rshift");
  return type;
}

FusedPostOps Emitter::PostOps(const Node& node) const {
  const auto found = post_ops_.find(&node);
  return found != post_ops_.end() ? found->second
                                  : FusedPostOps{.ops = {}, .y = node.outputs[0], .addend = {}};
}

void Emitter::SetPostOps(const Node& node, FusedPostOps fused) {
  post_ops_[&node] = std::move(fused);
}

bool Emitter::IsZero(ValueId old) const { return types_.zero[old.index()]; }

std::string Emitter::IntName(ValueId old) const {
  const std::string& name = types_.names[old.index()];
  return name.empty() ? old_.value(old).name : name;
}

ValueId Emitter::AddInt(Value value, const IntType& type) {
  value.dtype = type.dtype;
  value.quant = type.quant;
  return new_.AddValue(std::move(value));
}

ValueId Emitter::AddScalarStep(const std::string& name, BinaryOp op, ValueId x, float number) {
  Value constant{names_.Take(name + "_number"), DType::kF32, {1}, Layout::kPlain, {}, {}};
  constant.constant = MakeConstant(std::span<const float>(&number, 1));
  Value result = new_.value(x);
  result.name = names_.Take(name);
  const std::string step = result.name;
  const ValueId c = new_.AddValue(std::move(constant));
  const ValueId y = new_.AddValue(std::move(result));
  AddNode(step, Binary{op, {}}, {x, c}, y);
  return y;
}

void Emitter::AddQuantize(const std::string& name, ValueId x, ValueId y, const IntType& type) {
  const Arithmetic& rules = ArithmeticOf(options_.profile);
  const std::optional<numerics::AscendScale> scale = rules.InputScale(type);
  if (!scale) {
    AddNode(name, rules.InputForm(type), {x}, y);
    return;
  }
  ValueId at = AddScalarStep(name + "_scaled", BinaryOp::kMul, x, scale->value);
  if (scale->sqrt_mode) at = AddScalarStep(name + "_again", BinaryOp::kMul, at, scale->value);
  const auto offset = static_cast<float>(type.quant.zero_point);
  if (offset != 0) at = AddScalarStep(name + "_offset", BinaryOp::kAdd, at, offset);
  // Rounded as bytes of scale 1; a table that changes nothing gives them their own scale.
  Value rounded = new_.value(at);
  rounded.name = names_.Take(name + "_rounded");
  const std::string step = rounded.name;
  const IntType units{type.dtype, {1.0f, 0}};
  const ValueId integers = AddInt(std::move(rounded), units);
  AddNode(step, rules.InputForm(type), {at}, integers);
  AddNode(name, TableOf(units, [](int32_t q) { return q; }), {integers}, y);
}

ValueId Emitter::AddRequantizeInt16(const std::string& name, ValueId x, Value like,
                                    const IntType& from, const IntType& to) {
  like.name = names_.Take(name);
  const std::string step = like.name;
  const ValueId made = AddInt(std::move(like), to);
  AddNode(step, TpuArithmetic().MakeRescale({from, to}, {to.qmin(), to.qmax()}), {x}, made);
  return made;
}

IntType Emitter::Int16Type(ValueId old, int32_t factor) const {
  IntType own = Type(old);
  if (own.is_s16()) return own;
  return {DType::kS16, {own.quant.scale / static_cast<float>(factor), 0}};
}

ValueId Emitter::Int16(ValueId old, int32_t factor) {
  const IntType own = Type(old);
  if (own.is_s16()) return Int(old);
  ValueId& made = widened_[{old, factor}];
  if (made.valid()) return made;
  const ValueId bytes = Int(old);
  return made = AddRequantizeInt16(old_.value(old).name + "__s16", bytes, old_.value(old), own,
                                   Int16Type(old, factor));
}

ValueId Emitter::Int(ValueId old) {
  ValueId& made = IsInt16(old) ? int16_[old.index()] : ints_[old.index()];
  if (made.valid()) return made;
  if (old_.value(old).dtype != DType::kF32) return Same(old);  // an input of bytes
  if (!IsInt16(old) && int16_[old.index()].valid()) {
    return made = AddRequantizeInt16(old_.value(old).name + "__8", int16_[old.index()],
                                     old_.value(old), types_.int16[old.index()], Type(old));
  }
  const ValueId source = Float(old);
  Value value = old_.value(old);
  value.name = names_.Take(value.name + "__q");
  const std::string name = value.name;
  made = AddInt(std::move(value), Type(old));
  AddQuantize(name, source, made, Type(old));
  return made;
}

ValueId Emitter::Float(ValueId old) {
  ValueId& made = floats_[old.index()];
  if (made.valid()) return made;
  if (halves_[old.index()].valid()) {
    return made = FloatOfHalf(halves_[old.index()], old_.value(old).name);
  }
  const ValueId source = HasState(old)                 ? State(old)
                         : int16_[old.index()].valid() ? int16_[old.index()]
                                                       : ints_[old.index()];
  if (!source.valid()) return Same(old);
  Value value = old_.value(old);
  if (value.dtype != DType::kF32) return source;  // read as the bytes it is
  const bool beside = HasState(old) && HasInt(old) && ints_[old.index()] != source;
  if (new_.value(source).name == value.name || beside)
    value.name = names_.Take(value.name + "__f32");
  const std::string name = value.name;
  made = new_.AddValue(std::move(value));
  AddNode(name, Dequantize{}, {source}, made);
  return made;
}

ValueId Emitter::Same(ValueId old) {
  if (!old.valid()) return old;
  ValueId& made = floats_[old.index()];
  if (!made.valid()) made = new_.AddValue(old_.value(old));
  return made;
}

ValueId Emitter::DefineInt(ValueId old) {
  Value value = old_.value(old);
  value.name = IntName(old);
  // The float of a cell's state may have been read before.
  const ValueId read = floats_[old.index()];
  if (read.valid() && new_.value(read).name == value.name)
    value.name = names_.Take(value.name + "__q");
  ValueId& made = IsInt16(old) ? int16_[old.index()] : ints_[old.index()];
  return made = AddInt(std::move(value), Type(old));
}

bool Emitter::HasInt(ValueId old) const {
  return ints_[old.index()].valid() || int16_[old.index()].valid();
}

void Emitter::Alias(ValueId id, ValueId other) {
  const ValueId made = Int(other);
  ints_[id.index()] = made;
}

ValueId Emitter::DefineFloat(ValueId old) { return Same(old); }

ValueId Emitter::DefineState(ValueId old, float scale, bool own_name) {
  Value value = old_.value(old);
  value.name = own_name ? IntName(old) : names_.Take(value.name + "__s16");
  states_[old.index()] = AddInt(std::move(value), {DType::kS16, {scale, 0}});
  return states_[old.index()];
}

ValueId Emitter::DefineFloatAgain(ValueId old) {
  Value value = old_.value(old);
  if (HasInt(old) || floats_[old.index()].valid()) value.name = names_.Take(value.name + "__f32");
  return new_.AddValue(std::move(value));
}

ValueId Emitter::AddValue(Value value) {
  value.name = names_.Take(value.name);
  return new_.AddValue(std::move(value));
}

ValueId Emitter::DefineHalf(ValueId old) {
  halves_[old.index()] = TemporaryHalf(old, "");
  is_half_[old.index()] = true;
  return halves_[old.index()];
}

ValueId Emitter::TemporaryHalf(ValueId like, const std::string& suffix) {
  Value value = old_.value(like);
  value.name = names_.Take(value.name + suffix + "__fp16");
  value.dtype = DType::kF16;
  return new_.AddValue(std::move(value));
}

ValueId Emitter::FloatOfHalf(ValueId half, const std::string& name) {
  Value value = new_.value(half);
  value.name = name;
  value.dtype = DType::kF32;
  const ValueId made = new_.AddValue(std::move(value));
  AddNode(name, Cast{DType::kF32}, {half}, made);
  return made;
}

ValueId Emitter::HalfFloat(ValueId old) {
  const Value& value = old_.value(old);
  if (value.dtype != DType::kF32 || is_half_[old.index()]) return Float(old);
  ValueId& made = rounded_[old];
  if (made.valid()) return made;
  if (value.is_constant()) {
    std::vector<float> numbers;
    for (float number : value.constant->As<float>()) {
      numbers.push_back(numerics::RoundToHalf(std::clamp(number, -kMostHalf, kMostHalf)));
    }
    Value constant = value;
    constant.name = names_.Take(value.name + "__fp16");
    constant.constant = MakeConstant(std::span<const float>(numbers));
    constant.origin = nullptr;
    return made = new_.AddValue(std::move(constant));
  }
  const ValueId source = Float(old), half = TemporaryHalf(old, "");
  AddNode(new_.value(half).name, Cast{DType::kF16}, {source}, half);
  return made = FloatOfHalf(half, names_.Take(value.name + "__rounded"));
}

void Emitter::AddMoved(const Node& node) {
  std::vector<ValueId> inputs;
  bool half = true;
  for (const ValueId id : node.inputs) {
    inputs.push_back(id.valid() ? Float(id) : id);
    const bool number = id.valid() && old_.value(id).dtype == DType::kF32;
    half = half && (!number || is_half_[id.index()]);
  }
  const ValueId y = DefineFloat(node.outputs[0]);
  is_half_[node.outputs[0].index()] = half;
  AddNode(node.name, node.op, std::move(inputs), y);
}

void Emitter::AddHalfResult(const std::string& name, Op op, std::vector<ValueId> inputs,
                            ValueId old) {
  Value value = old_.value(old);
  value.name = names_.Take(value.name + "__f32");
  const ValueId exact = new_.AddValue(std::move(value));
  AddNode(name, std::move(op), std::move(inputs), exact);
  const ValueId half = DefineHalf(old);
  AddNode(new_.value(half).name, Cast{DType::kF16}, {exact}, half);
}

ValueId Emitter::Temporary(ValueId like, const std::string& suffix, const IntType& type) {
  const Value& value = old_.value(like);
  return Temporary(like, suffix, type, value.shape, value.layout);
}

ValueId Emitter::Temporary(ValueId like, const std::string& suffix, const IntType& type,
                           const Shape& shape, Layout layout) {
  Value value = old_.value(like);
  value.name = names_.Take(value.name + suffix);
  value.shape = shape;
  value.layout = layout;
  return AddInt(std::move(value), type);
}

ValueId Emitter::AddConstant(const std::string& base, Layout layout, const Shape& shape,
                             const IntType& type, std::span<const int8_t> bytes) {
  return AddInt(ConstantValue(names_.Take(base), layout, shape, MakeConstant(bytes)), type);
}

ValueId Emitter::AddConstant(const std::string& base, Layout layout, const Shape& shape,
                             const IntType& type, std::span<const int16_t> numbers) {
  return AddInt(ConstantValue(names_.Take(base), layout, shape, MakeConstant(numbers)), type);
}

ValueId Emitter::AddWeights(const std::string& base, Layout layout, const Shape& shape,
                            int64_t axis, const std::vector<float>& scales,
                            std::span<const int8_t> bytes, int bits) {
  Value value = ConstantValue(names_.Take(base), layout, shape, MakeConstant(bytes));
  auto origin = std::make_shared<QuantizedOrigin>();
  origin->axis = axis;
  origin->bits = bits;
  for (int64_t c = 0; c < shape[axis]; ++c) origin->scales.push_back(scales[c % scales.size()]);
  origin->zero_points.assign(origin->scales.size(), 0);
  origin->integers = value.constant;
  value.origin = std::move(origin);
  return AddInt(std::move(value), {DType::kS8, {1.0f, 0}});
}

void Emitter::AddNode(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId output) {
  new_.AddNode({name, std::move(op), std::move(inputs), {output}});
}

ValueId Emitter::AddStep(const Node& node, const std::string& suffix, Op op, ValueId x,
                         ValueId like, const IntType& type, const Shape& shape, Layout layout) {
  const ValueId made = Temporary(like, suffix, type, shape, layout);
  AddNode(node.name + suffix, std::move(op), {x}, made);
  return made;
}

void Emitter::AddRequantize(const std::string& name, ValueId x, const IntType& from, ValueId y,
                            const IntType& to, const ClampQ& clamp) {
  AddNode(name, rules_->MakeRescale({from, to}, clamp), {x}, y);
}

QuantizeResult Emitter::Finish() {
  for (ValueId id : old_.outputs) new_.outputs.push_back(Float(id));
  new_.output_names = old_.output_names;
  new_.output_cuts = old_.output_cuts;
  if (new_.output_names.empty()) {
    for (ValueId id : old_.outputs) new_.output_names.push_back(old_.value(id).name);
  }
  new_.RemoveUnused();
  new_.Check();
  return {std::move(new_), std::move(report_)};
}

}  // namespace rshift
