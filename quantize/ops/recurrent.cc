#include "quantize/ops/recurrent.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "quantize/numerics/int16.h"
#include "quantize/numerics/multiplier.h"
#include "quantize/numerics/qparams.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/recurrent_terms.h"
#include "quantize/ops/ops.h"

namespace rshift {
namespace {

double MagnitudeOf(const IntType& type) {
  const int32_t zero = type.quant.zero_point;
  return static_cast<double>(type.quant.scale) * std::max(type.qmax() - zero, zero - type.qmin());
}

// Whether the gate's function is a sigmoid.
bool IsSigmoid(bool gru, size_t gate) { return gru ? gate < 2 : gate != 2; }

// Doubles the scales of columns whose sums with s16 may leave 32 bits, or all of them; whether
// there are any.
bool WidenScales(const std::vector<int8_t>& bytes, bool per_channel, std::vector<float>* scales) {
  std::vector<int64_t> magnitudes(scales->size());
  for (size_t i = 0; i < bytes.size(); ++i) magnitudes[i % scales->size()] += std::abs(bytes[i]);
  const auto leaves = [](int64_t sum) { return sum * numerics::kInt16Magnitude > INT32_MAX; };
  const bool any = std::any_of(magnitudes.begin(), magnitudes.end(), leaves);
  for (size_t c = 0; any && c < scales->size(); ++c) {
    if (!per_channel || leaves(magnitudes[c])) (*scales)[c] *= 2;
  }
  return any;
}

bool Moves(const Op& op) {
  const Movement movement = MovementOf(op);
  return movement == Movement::kPermutes || movement == Movement::kCopies;
}

}  // namespace

RecurrentEmitter::RecurrentEmitter(Emitter& emitter, const RecurrentCells& cells)
    : emitter_(emitter), cells_(cells), producers_(emitter.old().Producers()) {
  if (cells.cells.empty()) return;
  const auto table = numerics::MakeTanhTable();
  tanh_.assign(table.begin(), table.end());
  FindBits();
}

// One scale for all states that are steps of one another, with a bit to spare where nothing bounds
// them: a GRU's are means of what is below 1.
void RecurrentEmitter::FindBits() {
  std::map<ValueId, size_t> group_of;
  std::vector<size_t> groups;
  std::vector<double> magnitudes;
  for (const RecurrentCell& cell : cells_.cells) {
    const auto before = group_of.find(cell.old_state);
    const size_t group = before == group_of.end() ? magnitudes.size() : before->second;
    if (group == magnitudes.size()) magnitudes.push_back(cell.gru ? 1.0 : 0.0);
    const double factor = cell.gru ? 1.0 : 2.0;
    for (const ValueId id : {cell.old_state, cell.state}) {
      if (!id.valid() || !emitter_.HasType(id)) continue;
      magnitudes[group] = std::max(magnitudes[group], factor * MagnitudeOf(emitter_.Type(id)));
    }
    groups.push_back(group_of[cell.state] = group);
  }
  for (const size_t group : groups) bits_.push_back(numerics::StateBits(magnitudes[group]));
}

bool RecurrentEmitter::Emit(size_t n) {
  if (cells_.taken.contains(n) || cells_.moved.contains(n)) return true;
  const auto state = cells_.state_at.find(n), output = cells_.output_at.find(n),
             reset = cells_.reset_at.find(n);
  const Node& node = emitter_.old().nodes()[n];
  if (state != cells_.state_at.end()) {
    emitter_.Begin(node);
    EmitState(state->second);
  } else if (output != cells_.output_at.end()) {
    emitter_.Begin(node);
    EmitOutput(output->second, node.outputs[0]);
  } else if (reset != cells_.reset_at.end()) {
    emitter_.Begin(node);
    EmitOutput(reset->second, node.outputs[0]);
  } else {
    return false;
  }
  return true;
}

// --- products ---

RecurrentEmitter::Weights RecurrentEmitter::WeightsOf(const RecurrentCell& cell,
                                                      const GateSource& source,
                                                      const std::vector<size_t>& gates) {
  const Graph& graph = emitter_.old();
  std::vector<const GateProduct*> parts;
  std::vector<int64_t> key;
  const int64_t k = graph.value(source.x).shape.back();
  for (const size_t gate : gates) {
    const GateProduct* own = nullptr;
    for (const GateProduct& product : cell.gates[gate].products) {
      if (product.source == source) own = &product;
    }
    parts.push_back(own);
    key.push_back(own == nullptr ? -1 : own->weights.index());
    key.push_back(own == nullptr ? -1 : own->column);
  }
  const bool wide = TypeOf(cell, source.x).is_s16();
  key.insert(key.end(), {cell.hidden, k, wide ? 1 : 0});
  Weights& made = weights_[key];
  if (made.bytes.valid()) return made;
  const int64_t hidden = cell.hidden, width = hidden * static_cast<int64_t>(gates.size());
  std::vector<float> real(static_cast<size_t>(k * width), 0.0f);
  std::vector<float> largest(static_cast<size_t>(width), 0.0f);
  std::string name = "recurrent";
  for (size_t g = 0; g < parts.size(); ++g) {
    if (parts[g] == nullptr) continue;
    const Value& w = graph.value(parts[g]->weights);
    name = w.name;
    const auto numbers = w.constant->As<float>();
    for (int64_t i = 0; i < k * hidden; ++i) {
      const int64_t row = i / hidden, column = static_cast<int64_t>(g) * hidden + i % hidden;
      const float v = numbers[row * w.shape[1] + parts[g]->column + i % hidden];
      RSHIFT_REQUIRE(std::isfinite(v), ErrorCode::kInvalidInput, "constant '", w.name, "' holds ",
                     v, ", expected finite numbers; repair the model");
      real[row * width + column] = v;
      largest[column] = std::max(largest[column], std::fabs(v));
    }
  }
  if (!emitter_.options().target.per_channel_weights)
    std::fill(largest.begin(), largest.end(), *std::max_element(largest.begin(), largest.end()));
  for (const float each : largest) made.scales.push_back(numerics::WeightScale(each));
  std::vector<int8_t> bytes;
  do {
    bytes.clear();
    for (size_t i = 0; i < real.size(); ++i) {
      bytes.push_back(static_cast<int8_t>(numerics::QuantizeValue(
          real[i], made.scales[i % static_cast<size_t>(width)], 0, -127, 127)));
    }
  } while (wide && WidenScales(bytes, emitter_.options().target.per_channel_weights, &made.scales));
  made.bytes =
      emitter_.AddWeights(name + "__gates", Layout::kPlain, {k, width}, 1, made.scales, bytes);
  return made;
}

ValueId RecurrentEmitter::Record(int32_t zero_point) {
  ValueId& record = records_[zero_point];
  if (record.valid()) return record;
  const std::vector<float> numbers = {1.0f, static_cast<float>(zero_point)};
  Value value{"zero_point", DType::kF32, {2}, Layout::kPlain, {}, {}};
  value.constant = MakeConstant(std::span<const float>(numbers));
  return record = emitter_.AddValue(std::move(value));
}

ValueId RecurrentEmitter::ProductOf(const RecurrentCell& cell, ValueId x, const Weights& weights) {
  ValueId& made = made_[{x, weights.bytes}];
  if (made.valid()) return made;
  const Value& old = emitter_.old().value(x);
  Value value{old.name + "__gates", DType::kS32, old.shape, Layout::kPlain, {}, {}};
  value.shape.back() = static_cast<int64_t>(weights.scales.size());
  const ValueId bytes = BytesOf(cell, x);
  const ValueId record = Record(TypeOf(cell, x).quant.zero_point);
  const std::string name = emitter_.old().value(cell.state).name + "__product";
  made = emitter_.AddValue(std::move(value));
  if (TypeOf(cell, x).is_s16()) {
    QMatMulS16 sums;
    sums.channels.resize(weights.scales.size());
    emitter_.AddNode(name, std::move(sums), {bytes, weights.bytes}, made);
  } else {
    emitter_.AddNode(name, DynamicMatMul{}, {bytes, weights.bytes, record}, made);
  }
  return made;
}

const RecurrentEmitter::Products& RecurrentEmitter::ProductsOf(size_t index) {
  const auto found = products_.find(index);
  if (found != products_.end()) return found->second;
  const RecurrentCell& cell = cells_.cells[index];
  Products products;
  products.row = cell.first.row;
  std::vector<size_t> gates = {0, 1, 2};
  if (!cell.gru) gates.push_back(3);
  const Weights first = WeightsOf(cell, cell.first, gates);
  products.first = ProductOf(cell, cell.first.x, first);
  Weights second, reset;
  if (cell.second.x.valid()) {
    if (cell.resets_product) gates[2] = 3;
    second = WeightsOf(cell, cell.second, gates);
    products.second = ProductOf(cell, cell.second.x, second);
  }
  if (cell.reset_state.valid()) reset = WeightsOf(cell, {cell.reset_state, 0}, {2});
  MakeNumbers(cell, first, second, reset, &products);
  return products_[index] = std::move(products);
}

// Factors and offsets in units of the gates.
void RecurrentEmitter::MakeNumbers(const RecurrentCell& cell, const Weights& first,
                                   const Weights& second, const Weights& reset,
                                   Products* products) {
  const auto hidden = static_cast<size_t>(cell.hidden);
  const size_t width = (cell.gru ? 3 : 4) * hidden;
  std::vector<double> factors(2 * width, 0.0), offsets;
  const auto unit = [&](size_t gate) {
    return numerics::PowerOfTwo(numerics::kGateBits - (IsSigmoid(cell.gru, gate) ? 1 : 0));
  };
  const auto scale = [&](ValueId x) { return static_cast<double>(TypeOf(cell, x).quant.scale); };
  for (size_t i = 0; i < width; ++i) {
    const double own = unit(i / hidden);
    factors[i] = scale(cell.first.x) * static_cast<double>(first.scales[i]) * own;
    if (!second.scales.empty())
      factors[width + i] = scale(cell.second.x) * static_cast<double>(second.scales[i]) * own;
    if (!reset.scales.empty() && i >= 2 * hidden)
      factors[width + i] =
          scale(cell.reset_state) * static_cast<double>(reset.scales[i - 2 * hidden]) * own;
  }
  const size_t offset_gates = 4;
  for (size_t g = 0; g < offset_gates; ++g) {
    for (size_t i = 0; i < hidden; ++i)
      offsets.push_back(g < cell.gates.size() ? cell.gates[g].bias[i] * unit(g) : 0.0);
  }
  double factor = 0, offset = 0;
  for (const double f : factors) factor = std::max(factor, f);
  for (const double o : offsets) offset = std::max(offset, std::fabs(o));
  RSHIFT_REQUIRE(std::isfinite(offset), ErrorCode::kInvalidInput, "a bias of the recurrent cell '",
                 emitter_.old().value(cell.state).name, "' is not finite; repair the model");
  products->rshift = numerics::GateShift(factor, offset);
  for (const double f : factors)
    products->numbers.gate_factors.push_back(numerics::GateFactor(f, products->rshift));
  for (const double o : offsets)
    products->numbers.gate_offsets.push_back(numerics::GateOffset(o, products->rshift));
  products->numbers.tanh = tanh_;
}

// The second product of a GRU whose memory gate reads what the reset gate made.
ValueId RecurrentEmitter::ResetProduct(const RecurrentCell& cell, const Products& products) {
  const ValueId memory =
      ProductOf(cell, cell.reset_state, WeightsOf(cell, {cell.reset_state, 0}, {2}));
  const std::string name = emitter_.old().value(cell.state).name;
  const Shape& like = emitter_.old().value(cell.second.x).shape;
  const auto make = [&](const char* suffix, int64_t columns) {
    Value value{name + suffix, DType::kS32, like, Layout::kPlain, {}, {}};
    value.shape.back() = columns;
    return emitter_.AddValue(std::move(value));
  };
  const ValueId gates = make("__update_reset", 2 * cell.hidden);
  const size_t rank = like.size();
  emitter_.AddNode(name + "__update_reset",
                   Slice{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1)},
                   {products.second}, gates);
  const ValueId all = make("__all_gates", 3 * cell.hidden);
  emitter_.AddNode(name + "__all_gates", Concat{static_cast<int64_t>(rank) - 1}, {gates, memory},
                   all);
  return all;
}

// --- states and bytes ---

ValueId RecurrentEmitter::InputOf(ValueId id) const {
  const Graph& graph = emitter_.old();
  while (id.valid() && producers_[id.index()].valid()) {
    const Node& node = graph.node(producers_[id.index()]);
    if (!Moves(node.op) || std::holds_alternative<Concat>(node.op)) return {};
    id = node.inputs[0];
  }
  return id.valid() && !graph.value(id).is_constant() ? id : ValueId();
}

bool RecurrentEmitter::HoldsState(ValueId id) const {
  if (emitter_.HasState(id)) return true;
  if (!id.valid() || !producers_[id.index()].valid()) return false;
  const Node& node = emitter_.old().node(producers_[id.index()]);
  return Moves(node.op) && std::any_of(node.inputs.begin(), node.inputs.end(),
                                       [&](ValueId input) { return HoldsState(input); });
}

ValueId RecurrentEmitter::FloatMoved(ValueId id) {
  const NodeId producer = producers_[id.index()];
  if (emitter_.HasState(id) || !producer.valid()) return emitter_.Float(id);
  const Node& node = emitter_.old().node(producer);
  if (!HoldsState(id) && !InputOf(id).valid()) return emitter_.Float(id);
  if (const auto found = moved_.find(id); found != moved_.end()) return found->second;
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs) {
    inputs.push_back(input.valid() ? FloatMoved(input) : input);
  }
  const ValueId y = emitter_.DefineFloatAgain(id);
  emitter_.AddNode(node.name, node.op, std::move(inputs), y);
  emitter_.report().float_nodes.push_back(
      {node.name, OpName(node.op), "moves the state of a recurrent cell, of more than 8 bits"});
  return moved_[id] = y;
}

// An output of the step before that comes in from outside has the scale of the cell's own, so that
// carrying it rounds nothing. It is known by its size, where the layer's input has another, or by
// the tensor in which it lies beside the state. One that calibration saw reach further is not
// carried and keeps its own.
bool RecurrentEmitter::IsCarried(const RecurrentCell& cell, ValueId x) const {
  if (cell.gru || !cell.old_state.valid()) return false;
  const ValueId input = InputOf(x), state = InputOf(cell.old_state);
  if (!input.valid() || !state.valid()) return false;
  if (input == state) return input != x;
  const auto has_size = [&](ValueId id) {
    return id.valid() && emitter_.old().value(id).shape.back() == cell.hidden;
  };
  return has_size(x) && has_size(cell.first.x) != has_size(cell.second.x) &&
         MagnitudeOf(emitter_.Type(x)) <= 1.1 * MagnitudeOf(emitter_.Type(cell.output));
}

IntType RecurrentEmitter::TypeOf(const RecurrentCell& cell, ValueId x) const {
  return emitter_.Type(IsCarried(cell, x) ? cell.output : x);
}

ValueId RecurrentEmitter::BytesOf(const RecurrentCell& cell, ValueId x) {
  if (!IsCarried(cell, x)) return emitter_.Int(x);
  ValueId& made = bytes_[x];
  if (made.valid()) return made;
  const ValueId source = FloatMoved(x);
  const IntType type = TypeOf(cell, x);
  made = emitter_.Temporary(x, "__q", type);
  emitter_.AddNode(emitter_.old().value(x).name + "__q", Quantize{}, {source}, made);
  return made;
}

ValueId RecurrentEmitter::StateOf(size_t index) {
  const RecurrentCell& cell = cells_.cells[index];
  const ValueId old = cell.old_state;
  if (!old.valid() || emitter_.HasState(old)) return old.valid() ? emitter_.State(old) : old;
  const float scale = static_cast<float>(numerics::PowerOfTwo(-bits_[index]));
  const Value& value = emitter_.old().value(old);
  const std::string name = value.name + "__s16";
  if (!value.is_constant()) {
    const ValueId source = FloatMoved(old);
    ValueId& made = bytes_[old];  // not the emitter's: an input stays what it is
    if (made.valid()) return made;
    made = emitter_.Temporary(old, "__s16", {DType::kS16, {scale, 0}});
    emitter_.AddNode(name, Quantize{}, {source}, made);
    return made;
  }
  std::vector<int16_t> numbers;
  for (const float v : value.constant->As<float>())
    numbers.push_back(static_cast<int16_t>(numerics::QuantizeValue(v, scale, 0, -32768, 32767)));
  if (std::all_of(numbers.begin(), numbers.end(), [](int16_t v) { return v == 0; })) return {};
  Value constant{name, DType::kS16, value.shape, value.layout, QuantParams{scale, 0}, {}};
  constant.constant = MakeConstant(std::span<const int16_t>(numbers));
  return emitter_.AddValue(std::move(constant));
}

// --- cells ---

void RecurrentEmitter::EmitState(size_t index) {
  const RecurrentCell& cell = cells_.cells[index];
  const Products& products = ProductsOf(index);
  const ValueId second = cell.reset_state.valid() ? ResetProduct(cell, products) : products.second;
  const std::vector<ValueId> inputs = {products.first, second, StateOf(index)};
  const std::string name = emitter_.old().node(producers_[cell.state.index()]).name;
  const auto fill = [&](auto op) {
    op.row = products.row;
    op.rshift = products.rshift;
    op.state_bits = bits_[index];
    op.numbers = products.numbers;
    return op;
  };
  const auto scale = static_cast<float>(numerics::PowerOfTwo(-bits_[index]));
  const ValueId state = emitter_.DefineState(cell.state, scale, !cell.gru);
  if (!cell.gru) return emitter_.AddNode(name, fill(QLstmCell{}), inputs, state);
  QGruCell op = fill(QGruCell{});
  op.resets_product = cell.resets_product;
  emitter_.AddNode(name, std::move(op), inputs, state);
  EmitOutput(index, cell.output);
}

// Integers of the state: an LSTM's output, a GRU's state as it is, or what its reset gate leaves.
void RecurrentEmitter::EmitOutput(size_t index, ValueId y) {
  const RecurrentCell& cell = cells_.cells[index];
  const bool gated = !cell.gru || y == cell.reset_state;
  const IntType type = emitter_.Type(y);
  QGatedOutput op;
  op.tanh = !cell.gru;
  op.state_bits = bits_[index];
  int32_t fraction = cell.gru ? bits_[index] : numerics::kFunctionBits;
  ValueId state = y == cell.reset_state ? StateOf(index) : emitter_.State(cell.state);
  std::vector<ValueId> inputs = {state, ValueId(), ValueId()};
  if (gated) {
    const Products& products = ProductsOf(index);
    inputs[1] = products.first;
    inputs[2] = products.second;
    op.row = products.row;
    op.rshift = products.rshift;
    op.gate = cell.gru ? 1 : 3;
    op.numbers = products.numbers;
    fraction += numerics::kFunctionBits;
  }
  op.words = numerics::AccumulatorMultiplier(numerics::PowerOfTwo(-fraction) /
                                             static_cast<double>(type.quant.scale));
  op.clamp = {type.qmin(), type.qmax()};
  const std::string name = emitter_.old().node(producers_[y.index()]).name;
  emitter_.AddNode(cell.gru && !gated ? name + "__bytes" : name, std::move(op), inputs,
                   emitter_.DefineInt(y));
}

void RecurrentEmitter::Finish() {
  if (cells_.cells.empty()) return;
  for (const ValueId id : emitter_.old().outputs) {
    if (!HoldsState(id) || emitter_.HasState(id)) continue;
    emitter_.SetFloat(id, FloatMoved(id));
  }
}

}  // namespace rshift
