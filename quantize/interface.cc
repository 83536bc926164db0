#include "quantize/interface.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/unique_names.h"
#include "quantize/numerics/quantize.h"
#include "quantize/numerics/real_rounding.h"
#include "quantize/profiles/arithmetic.h"

namespace rshift {
namespace {

// Of inputs and outputs that can be nothing else.
std::string Leave(const char* option, const std::string& name) {
  return Cat("; leave it f32: ", option, " ", name, "=f32");
}

IntType TypeOf(const Value& value) { return {value.dtype, *value.quant}; }

// The same real numbers in the other type of byte.
IntType As(DType dtype, IntType type) {
  if (type.dtype == dtype) return type;
  type.quant.zero_point += dtype == DType::kS8 ? -128 : 128;
  type.dtype = dtype;
  return type;
}

// q of `from` to the q of `to` that is the same number.
QTable Shifted(const IntType& from, const IntType& to) {
  return TableOf(from, [&](int32_t q) { return q - from.quant.zero_point + to.quant.zero_point; });
}

// Bytes for bytes, 16 bits for 16 bits.
void RequireSize(const char* option, const char* what, const std::string& name, DType wanted,
                 const Value& value) {
  const bool has16 = value.dtype == DType::kS16;
  RSHIFT_REQUIRE(has16 == (wanted == DType::kS16), ErrorCode::kInvalidInput, option, ": ", what,
                 " '", name, "' has ", has16 ? 16 : 8, " bits and ", Name(wanted), " has ",
                 has16 ? 8 : 16, ": give ", option, " ", name, "=", has16 ? "s16" : "s8",
                 ", or the layer ", has16 ? 8 : 16, " bits (activation_bits: ", has16 ? 8 : 16,
                 " in --config)", Leave(option, name));
}

struct Port {
  std::string name;
  DType dtype = DType::kF32;
};

void RequireF32(const char* option, const char* what, const Port& port) {
  RSHIFT_REQUIRE(port.dtype == DType::kF32, ErrorCode::kInvalidInput, option, ": ", what, " '",
                 port.name, "' is ", Name(port.dtype), " in the model and stays so; leave it out");
}

// Every name must be that of an f32 one; a type for all is none for those that have a scale in the
// model itself.
void CheckNames(const char* option, const char* what, const ElementTypes& types,
                const std::vector<Port>& ports) {
  for (const auto& entry : types.named) {
    const std::string& name = entry.first;
    const auto port =
        std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == name; });
    std::string all;
    for (const Port& p : ports) all += Cat(all.empty() ? "'" : ", '", p.name, "'");
    RSHIFT_REQUIRE(port != ports.end(), ErrorCode::kInvalidInput, option, ": '", name, "' is no ",
                   what, " of the model, which has ", all);
    RequireF32(option, what, *port);
  }
  const bool fixed = std::ranges::all_of(ports, [&](const Port& p) {
    return p.dtype != types.all && p.dtype != DType::kF32 && SizeOf(p.dtype) <= 2 &&
           p.dtype != DType::kBool;
  });
  if (types.all != DType::kF32 && fixed && !ports.empty()) RequireF32(option, what, ports[0]);
}

class Rewriter {
 public:
  Rewriter(Graph graph, const InterfaceOptions& options)
      : graph_(std::move(graph)), options_(options) {
    for (int i = 0; i < graph_.value_count(); ++i) names_.Reserve(graph_.value(ValueId(i)).name);
  }

  Graph Run() {
    std::vector<Port> inputs, outputs;
    for (ValueId id : graph_.inputs)
      inputs.push_back({graph_.value(id).name, graph_.value(id).dtype});
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      outputs.push_back({OutputName(i), graph_.value(graph_.outputs[i]).dtype});
    CheckNames("--input-type", "input", options_.input, inputs);
    CheckNames("--output-type", "output", options_.output, outputs);
    Outputs();
    for (ValueId id : std::vector<ValueId>(graph_.inputs)) {
      const Value& x = graph_.value(id);
      if (x.dtype == DType::kF32 && options_.input.Of(x.name) != DType::kF32) Input(id);
    }
    graph_.RemoveUnused();
    graph_.SortTopologically();
    graph_.Check();
    return std::move(graph_);
  }

 private:
  // --- outputs ---

  std::string OutputName(size_t i) const {
    if (i < graph_.output_names.size()) return graph_.output_names[i];
    return graph_.value(graph_.outputs[i]).name;
  }

  void Outputs() {
    const std::vector<NodeId> producers = graph_.Producers();
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      ValueId& output = graph_.outputs[i];
      const DType type = options_.output.Of(OutputName(i));
      if (type == DType::kF32 || graph_.value(output).dtype != DType::kF32) continue;
      const NodeId producer = producers[output.index()];
      const bool integers =
          producer.valid() && std::holds_alternative<Dequantize>(graph_.node(producer).op);
      RSHIFT_REQUIRE(integers, ErrorCode::kInvalidInput, "--output-type: output '", OutputName(i),
                     "' is computed in F32 and has no integers; the report lists the F32 nodes",
                     Leave("--output-type", OutputName(i)));
      const ValueId source = graph_.node(producer).inputs[0];
      RequireSize("--output-type", "output", OutputName(i), type, graph_.value(source));
      const IntType have = TypeOf(graph_.value(source)), want = As(type, have);
      if (have == want) {
        output = source;
        continue;
      }
      const std::string name = graph_.value(output).name;
      const ValueId made = Like(output, name + "__" + Name(want.dtype), want);
      Add(name + "__" + Name(want.dtype), Shifted(have, want), {source}, made);
      output = made;
    }
  }

  // --- inputs ---

  void Input(ValueId x) {
    const auto rule = options_.pixels.find(graph_.value(x).name);
    if (rule != options_.pixels.end()) {
      SetType(x, As(options_.input.Of(graph_.value(x).name), {DType::kU8, {1.0f, 0}}));
      Pixels(x, rule->second);
    } else {
      Integers(x);
    }
  }

  // The nodes that read x and were there before this rewriting.
  std::vector<size_t> Readers(ValueId x) const {
    std::vector<size_t> readers;
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      const auto& inputs = graph_.nodes()[n].inputs;
      if (std::find(inputs.begin(), inputs.end(), x) != inputs.end()) readers.push_back(n);
    }
    return readers;
  }

  void Integers(ValueId x) {
    const std::string name = graph_.value(x).name;
    const std::vector<size_t> readers = Readers(x);
    const auto quantizes = [&](size_t n) {
      return std::holds_alternative<Quantize>(graph_.nodes()[n].op);
    };
    const auto first = std::find_if(readers.begin(), readers.end(), quantizes);
    RSHIFT_REQUIRE(first != readers.end(), ErrorCode::kInvalidInput, "--input-type: input '", name,
                   "' is read in F32 and has no scale; give --preprocess with an entry for it, if "
                   "its values are made of pixels",
                   Leave("--input-type", name));
    const Value& integers = graph_.value(graph_.nodes()[*first].outputs[0]);
    RequireSize("--input-type", "input", name, options_.input.Of(name), integers);
    const IntType own = TypeOf(integers);
    const IntType type = As(options_.input.Of(name), own);
    SetType(x, type);
    ValueId real;
    for (size_t n : readers) {
      if (!quantizes(n)) {
        if (!real.valid()) real = Float(x, name + "__f32");
        ReplaceInput(n, x, real);
        continue;
      }
      const IntType wanted = TypeOf(graph_.value(graph_.nodes()[n].outputs[0]));
      RSHIFT_REQUIRE(wanted == own, ErrorCode::kInvalidInput, "--input-type: input '", name,
                     "' is quantized with two scales", Leave("--input-type", name));
      if (type == own) {
        graph_.ReplaceUses(graph_.nodes()[n].outputs[0], x);
      } else {
        graph_.nodes()[n].op = Shifted(type, own);
      }
    }
    if (graph_.IsOutput(x)) ReplaceOutput(x, real.valid() ? real : Float(x, name + "__f32"));
  }

  void Pixels(ValueId x, const PixelRule& rule) {
    const std::string name = graph_.value(x).name;
    const auto axis = static_cast<size_t>(rule.axis);
    const Shape& shape = graph_.value(x).shape;
    const auto channels = static_cast<int64_t>(std::max(rule.mean.size(), rule.scale.size()));
    RSHIFT_REQUIRE(channels == 1 || (axis < shape.size() && shape[axis] == channels),
                   ErrorCode::kInvalidInput, "--input-type: input '", name, "' of shape ",
                   ToString(shape), " has no ", channels,
                   " channels as its preprocessing; mend the preprocessing file");
    ValueId real;
    for (size_t n : Readers(x)) {
      const Node& reader = graph_.nodes()[n];
      const bool to_bytes = graph_.value(reader.outputs[0]).dtype != DType::kS16;
      if (std::holds_alternative<Quantize>(reader.op) && to_bytes) {
        QuantizePixels(n, x, rule);
        continue;
      }
      if (!real.valid()) real = Values(x, rule);
      ReplaceInput(n, x, real);
    }
    if (graph_.IsOutput(x)) ReplaceOutput(x, real.valid() ? real : Values(x, rule));
  }

  // One table for each stretch of channels with the same rule.
  void QuantizePixels(size_t n, ValueId x, const PixelRule& rule) {
    const Quantize op = std::get<Quantize>(graph_.nodes()[n].op);
    const std::string name = graph_.nodes()[n].name;
    const ValueId y = graph_.nodes()[n].outputs[0];
    const auto channels = static_cast<int64_t>(std::max(rule.mean.size(), rule.scale.size()));
    const auto table = [&](int64_t c) { return TableOfPixels(x, y, rule, op, c); };
    bool equal = true;
    for (int64_t c = 1; c < channels; ++c) equal = equal && table(c).entries == table(0).entries;
    if (equal) {
      graph_.nodes()[n].op = table(0);
      return;
    }
    std::vector<ValueId> parts;
    const IntType in = TypeOf(graph_.value(x)), out = TypeOf(graph_.value(y));
    for (int64_t c = 0; c < channels; ++c) {
      const std::string suffix = "__channel" + std::to_string(c);
      Shape starts(graph_.value(x).shape.size(), 0), steps(starts.size(), 1);
      starts[static_cast<size_t>(rule.axis)] = c;
      const ValueId plane = Like(x, name + suffix + "_pixels", in);
      const ValueId part = Like(y, name + suffix, out);
      for (ValueId id : {plane, part}) graph_.value(id).shape[static_cast<size_t>(rule.axis)] = 1;
      Add(name + suffix + "_pixels", Slice{starts, steps}, {x}, plane);
      Add(name + suffix, table(c), {plane}, part);
      parts.push_back(part);
    }
    graph_.nodes()[n].op = Concat{rule.axis};
    graph_.nodes()[n].inputs = std::move(parts);
  }

  QTable TableOfPixels(ValueId x, ValueId y, const PixelRule& rule, const Quantize& op,
                       int64_t channel) const {
    const IntType in = TypeOf(graph_.value(x)), out = TypeOf(graph_.value(y));
    const float mean = At(rule.mean, channel), scale = At(rule.scale, channel);
    const auto quantize =
        op.by_reciprocal ? numerics::QuantizeByReciprocal : numerics::QuantizeValueBy;
    return TableOf(in, [&](int32_t q) {
      const float value = (static_cast<float>(q - in.quant.zero_point) - mean) * scale;
      return quantize(op.rounding, value, out.quant.scale, out.quant.zero_point, out.qmin(),
                      out.qmax());
    });
  }

  // (pixel - mean) * scale in F32.
  ValueId Values(ValueId x, const PixelRule& rule) {
    const std::string name = graph_.value(x).name;
    ValueId at = Float(x, name + "__pixels");
    at = Step(name + "__centred", BinaryOp::kSub, at, rule.mean, rule.axis);
    return Step(name + "__value", BinaryOp::kMul, at, rule.scale, rule.axis);
  }

  ValueId Step(const std::string& base, BinaryOp op, ValueId x, const std::vector<float>& numbers,
               int64_t axis) {
    Shape shape = {1};
    if (numbers.size() > 1) {
      shape.assign(graph_.value(x).shape.size() - static_cast<size_t>(axis), 1);
      shape[0] = static_cast<int64_t>(numbers.size());
    }
    const ValueId constant =
        graph_.AddConstant<float>(names_.Take(base + "_number"), DType::kF32, shape, numbers);
    Value value = graph_.value(x);
    value.name = names_.Take(base);
    const std::string name = value.name;
    const ValueId made = graph_.AddValue(std::move(value));
    Add(name, Binary{op, {}}, {x, constant}, made);
    return made;
  }

  // --- shared ---

  static float At(const std::vector<float>& numbers, int64_t channel) {
    return numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }

  void SetType(ValueId id, const IntType& type) {
    graph_.value(id).dtype = type.dtype;
    graph_.value(id).quant = type.quant;
  }

  ValueId Like(ValueId like, const std::string& base, const IntType& type) {
    Value value = graph_.value(like);
    value.name = names_.Take(base);
    value.dtype = type.dtype;
    value.quant = type.quant;
    return graph_.AddValue(std::move(value));
  }

  ValueId Float(ValueId x, const std::string& base) {
    Value value = graph_.value(x);
    value.name = names_.Take(base);
    value.dtype = DType::kF32;
    value.quant.reset();
    const std::string name = value.name;
    const ValueId made = graph_.AddValue(std::move(value));
    Add(name, Dequantize{}, {x}, made);
    return made;
  }

  void Add(const std::string& name, Op op, std::vector<ValueId> inputs, ValueId output) {
    graph_.AddNode({name, std::move(op), std::move(inputs), {output}});
  }

  void ReplaceInput(size_t n, ValueId from, ValueId to) {
    auto& inputs = graph_.nodes()[n].inputs;
    std::replace(inputs.begin(), inputs.end(), from, to);
  }

  void ReplaceOutput(ValueId from, ValueId to) {
    std::replace(graph_.outputs.begin(), graph_.outputs.end(), from, to);
  }

  Graph graph_;
  const InterfaceOptions& options_;
  UniqueNames names_;
};

}  // namespace

bool ElementTypes::AllF32() const {
  return all == DType::kF32 && std::all_of(named.begin(), named.end(), [](const auto& type) {
           return type.second == DType::kF32;
         });
}

Graph WithInterface(Graph graph, const InterfaceOptions& options) {
  return Rewriter(std::move(graph), options).Run();
}

}  // namespace rshift
