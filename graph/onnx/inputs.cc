// Graph inputs: declared shapes, the user's --input-shape and --bind.
#include <algorithm>

#include "graph/fold/fold.h"
#include "graph/onnx/model.h"
#include "graph/onnx/propose.h"

namespace rshift {
namespace {

// A declared dimension: its size, or -1 with the symbol it is called by.
struct Dim {
  int64_t size = -1;
  std::string symbol;
  bool is_zero = false;  // declared as 0: empty, or unknown to some exporters
};

struct Declared {
  bool has_shape = false;
  std::vector<Dim> dims;
  int onnx_type = 0;
};

Declared ReadType(const onnx::ValueInfoProto& info) {
  const std::string where = "input " + Quoted(info.name());
  RSHIFT_REQUIRE(info.has_type() && info.type().has_tensor_type(), ErrorCode::kUnsupported, where,
                 " is no tensor; only tensors are supported");
  const auto& type = info.type().tensor_type();
  Declared declared{type.has_shape(), {}, type.elem_type()};
  for (const auto& dim : type.shape().dim()) {
    Dim d;
    d.symbol = SymbolOf(dim);
    // -1 stands for "unknown" in files of some exporters, and 0 does in some: --input-shape says.
    d.is_zero = dim.has_dim_value() && dim.dim_value() == 0;
    if (dim.has_dim_value() && dim.dim_value() > 0) d.size = dim.dim_value();
    RSHIFT_REQUIRE(!dim.has_dim_value() || dim.dim_value() >= -1, ErrorCode::kInvalidInput, where,
                   " has the dimension ", dim.dim_value());
    RSHIFT_REQUIRE(d.size < (int64_t{1} << 40), ErrorCode::kInvalidInput, where,
                   " has the dimension ", d.size, ", which is too large");
    declared.dims.push_back(d);
  }
  return declared;
}

// "[batch_size,1,224,224]"
std::string Describe(const Declared& declared) {
  std::string text;
  for (const Dim& d : declared.dims) {
    if (!text.empty()) text += ",";
    text += d.is_zero          ? "0"
            : d.size >= 0      ? std::to_string(d.size)
            : d.symbol.empty() ? "?"
                               : d.symbol;
  }
  const std::string quoted = Quoted(text);
  return "[" + quoted.substr(1, quoted.size() - 2) + "]";
}

[[noreturn]] void FailOnOpenShape(const std::string& name, const Declared& declared) {
  const bool is_empty = std::any_of(declared.dims.begin(), declared.dims.end(),
                                    [](const Dim& dim) { return dim.is_zero; });
  RSHIFT_REQUIRE(
      !is_empty, ErrorCode::kInvalidInput, "input ", Quoted(name), " has the shape ",
      Describe(declared),
      ": a dimension of size 0 holds no elements; export the model with the real size, or "
      "give it with --input-shape");
  throw DynamicShape(Cat("input ", Quoted(name), " has a dynamic shape ",
                         declared.has_shape ? Describe(declared) : "(unknown rank)"));
}

bool Fits(const Declared& declared, const Shape& shape) {
  bool fits = !declared.has_shape || declared.dims.size() == shape.size();
  for (size_t d = 0; fits && d < declared.dims.size(); ++d) {
    fits = declared.dims[d].size < 0 || declared.dims[d].size == shape[d];
  }
  return fits;
}

void CheckFits(const std::string& name, const Declared& declared, const Shape& shape,
               const char* source) {
  RSHIFT_REQUIRE(Fits(declared, shape), ErrorCode::kInvalidInput, source, " gives input ",
                 Quoted(name), " the shape ", ToString(shape), ", but the model declares ",
                 Describe(declared));
}

using Symbols = std::map<std::string, std::pair<int64_t, std::string>>;  // size, by whom

void LearnSymbols(const std::string& name, const Declared& declared, const Shape& shape,
                  Symbols& symbols) {
  for (size_t d = 0; d < declared.dims.size(); ++d) {
    const Dim& dim = declared.dims[d];
    if (dim.size >= 0 || dim.symbol.empty()) continue;
    const auto [known, fresh] = symbols.try_emplace(dim.symbol, shape[d], name);
    RSHIFT_REQUIRE(fresh || known->second.first == shape[d], ErrorCode::kInvalidInput, "dimension ",
                   Quoted(dim.symbol), " is ", known->second.first, " in input ",
                   Quoted(known->second.second), " but ", shape[d], " in input ", Quoted(name),
                   "; give --input-shape and --bind that agree");
  }
}

bool Agrees(const Declared& declared, const Shape& shape, const Symbols& symbols) {
  for (size_t d = 0; d < declared.dims.size(); ++d) {
    const auto known = symbols.find(declared.dims[d].symbol);
    const bool open = declared.dims[d].size < 0 && !declared.dims[d].symbol.empty();
    if (open && known != symbols.end() && known->second.first != shape[d]) return false;
  }
  return true;
}

// An input of which only the first dimension is not known is taken in a batch of 1.
void AssumeBatch(const std::string& name, Declared& declared, const ImportOptions& options,
                 Symbols& symbols) {
  const auto is_open = [&](const Dim& dim) {
    return dim.size < 0 && (dim.symbol.empty() || !symbols.contains(dim.symbol));
  };
  std::vector<Dim>& dims = declared.dims;
  if (dims.size() < 2 || dims[0].is_zero || !is_open(dims[0])) return;
  if (std::any_of(dims.begin() + 1, dims.end(), is_open)) return;
  const std::string described = Describe(declared);
  if (dims[0].symbol.empty()) {
    dims[0].size = 1;
  } else {
    symbols[dims[0].symbol] = {1, name};
  }
  if (!options.note) return;
  Shape eight = {8};
  for (size_t d = 1; d < dims.size(); ++d)
    eight.push_back(dims[d].size < 0 ? symbols[dims[d].symbol].first : dims[d].size);
  options.note(Cat("input ", Quoted(name), " has the shape ", described,
                   ": a batch of 1 is taken; another, for example: --input-shape ", name, ":",
                   ToString(eight)));
}

void CheckNames(const onnx::GraphProto& graph, const ImportOptions& options,
                const ImportState& state) {
  std::string inputs;
  for (const auto& info : graph.input()) {
    if (!state.values.count(info.name()))
      inputs += (inputs.empty() ? "" : ", ") + Quoted(info.name());
  }
  const auto check = [&](const std::string& name, const char* option) {
    const bool known = std::any_of(graph.input().begin(), graph.input().end(),
                                   [&](const auto& info) { return info.name() == name; });
    RSHIFT_REQUIRE(known && !state.values.count(name), ErrorCode::kInvalidInput, option,
                   ": the model has no input ", Quoted(name), "; its inputs are ",
                   inputs.empty() ? "none" : inputs);
  };
  for (const auto& [name, shape] : options.input_shapes) check(name, "--input-shape");
  for (const auto& [name, value] : options.bound_inputs) {
    check(name, "--bind");
    RSHIFT_REQUIRE(value.is_constant(), ErrorCode::kInternal, "the value bound to ", Quoted(name),
                   " has no elements; this is a bug in Rshift");
  }
}

void BindInput(const std::string& name, Value value, DType type, ImportState& state) {
  if (value.dtype == DType::kF16 || value.dtype == DType::kF64) {
    Fail(ErrorCode::kInvalidInput, "--bind: the array for ", Quoted(name), " has type ",
         Name(value.dtype), ", expected ", Name(type));
  }
  value.name = name;
  if (value.dtype != type) value.constant = FoldCast(value, type);
  value.dtype = type;
  state.values[name] = state.graph.AddValue(std::move(value));
}

}  // namespace

void AddInputs(const onnx::GraphProto& graph, const ImportOptions& options, bool lenient,
               ImportState& state) {
  CheckNames(graph, options, state);
  std::vector<std::pair<std::string, Declared>> open;
  Symbols symbols;
  for (const auto& info : graph.input()) {
    if (state.values.count(info.name())) continue;  // an initializer
    open.emplace_back(info.name(), ReadType(info));
    const auto& [name, declared] = open.back();
    const auto given = options.input_shapes.find(name);
    const auto bound = options.bound_inputs.find(name);
    if (bound != options.bound_inputs.end()) {
      CheckFits(name, declared, bound->second.shape, "--bind");
      LearnSymbols(name, declared, bound->second.shape, symbols);
    } else if (given != options.input_shapes.end()) {
      CheckFits(name, declared, given->second, "--input-shape");
      for (int64_t d : given->second) {
        RSHIFT_REQUIRE(d >= 1, ErrorCode::kInvalidInput, "--input-shape gives input ", Quoted(name),
                       " the shape ", ToString(given->second),
                       "; every dimension must be 1 or more");
      }
      LearnSymbols(name, declared, given->second, symbols);
    }
  }
  std::map<std::string, Shape> shapes = options.input_shapes;
  for (const auto& [name, declared] : open) {
    const auto recorded = options.recorded.shapes.find(name);
    if (recorded == options.recorded.shapes.end() || shapes.contains(name) ||
        options.bound_inputs.contains(name) || !Fits(declared, recorded->second) ||
        !Agrees(declared, recorded->second, symbols))
      continue;
    shapes.insert(*recorded);
    LearnSymbols(name, declared, recorded->second, symbols);
  }
  for (auto& [name, declared] : open) {
    const bool said = options.bound_inputs.contains(name) || shapes.contains(name);
    if (!said && declared.has_shape) AssumeBatch(name, declared, options, symbols);
  }
  for (const auto& [name, declared] : open) {
    const DType type = ImportDType(declared.onnx_type, "input " + Quoted(name));
    const auto bound = options.bound_inputs.find(name);
    if (bound != options.bound_inputs.end()) {
      BindInput(name, bound->second, type, state);
      continue;
    }
    Shape shape;
    bool known = declared.has_shape;
    for (const Dim& dim : declared.dims) {
      const auto symbol = symbols.find(dim.symbol);
      const bool learnt = dim.size < 0 && symbol != symbols.end();
      shape.push_back(learnt ? symbol->second.first : dim.size);
      known = known && shape.back() >= 0;
    }
    const auto given = shapes.find(name);
    if (given != shapes.end()) shape = given->second, known = true;
    if (!known && lenient) continue;
    if (!known) FailOnOpenShape(name, declared);
    NumElements(shape);
    Value value;
    value.name = name;
    value.dtype = type;
    value.shape = shape;
    const ValueId id = state.graph.AddValue(std::move(value));
    state.values[name] = id;
    state.graph.inputs.push_back(id);
  }
}

}  // namespace rshift
