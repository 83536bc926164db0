#include "graph/tflite/model.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/tflite/constants.h"
#include "graph/tflite/known_values.h"
#include "graph/tflite/table.h"
#include "graph/tflite/tensor_types.h"
#include "graph/tflite/variables.h"

namespace rshift {
namespace tflite {
namespace {

constexpr int64_t kOpset = 21;  // the first with 16-bit integers in QuantizeLinear

// Names tell tensors apart in ONNX; in .tflite files indices do, and names may be empty or equal.
void NameTensors(Translation& t) {
  const auto name = [&](int i) {
    if (!t.tensor_names[i].empty()) return;
    const std::string stored = NameOf(t.file.tensor(i));
    t.tensor_names[i] = t.names.Take(stored.empty() ? "tensor" : stored);
  };
  t.tensor_names.resize(t.file.TensorCount());
  for (const int i : Indices(t.file.graph().inputs())) name(i);
  for (const int i : Indices(t.file.graph().outputs())) name(i);
  for (int i = 0; i < t.file.TensorCount(); ++i) name(i);
}

onnx::ValueInfoProto& Describe(const Tensor& tensor, const std::string& name, bool open,
                               onnx::ValueInfoProto& info) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(OnnxType(tensor.type(), "tensor " + Quoted(name)));
  const Shape shape = ShapeOf(tensor);
  const auto* signature = tensor.shape_signature();
  const bool has_open = open && signature != nullptr && signature->size() == shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (has_open && signature->Get(static_cast<uint32_t>(d)) < 0) {
      dim.set_dim_param(Cat(name, "_", d));
    } else {
      dim.set_dim_value(shape[d]);
    }
  }
  return info;
}

void AddInputs(Translation& t, bool open) {
  for (const int i : Indices(t.file.graph().inputs())) {
    t.computed[i] = true;
    Describe(t.file.tensor(i), t.tensor_names[i], open, *t.graph.add_input());
  }
}

// A tensor that is two outputs leaves under two names; a constant one is written here.
void AddOutputs(Translation& t) {
  std::set<int> seen;
  for (const int i : Indices(t.file.graph().outputs())) {
    const std::string& name = t.tensor_names[i];
    if (!t.computed[i]) StoreConstant(t, i, "an output ");
    std::string given = name;
    if (!seen.insert(i).second) {
      given = t.names.Take(name);
      onnx::NodeProto& node = *t.graph.add_node();
      node.set_op_type("Identity");
      node.add_input(name);
      node.add_output(given);
    }
    Describe(t.file.tensor(i), given, false, *t.graph.add_output());
  }
}

// Behind the file's own inputs and outputs.
void AddVariables(Translation& t) {
  FinishVariables(t);
  for (const Variable& variable : t.variables) {
    if (variable.input.empty()) continue;
    Describe(t.file.tensor(variable.before), variable.input, false, *t.graph.add_input());
    Describe(t.file.tensor(variable.after), variable.output, false, *t.graph.add_output());
  }
}

// Stands for an operator that cannot be translated, and says why.
void Refuse(const Call& call, const std::string& reason, Translation& t) {
  onnx::NodeProto& node = *t.graph.add_node();
  node.set_domain(kTfliteDomain);
  node.set_op_type(t.file.NameOf(*call.op));
  node.set_name(t.tensor_names[call.outputs[0]]);
  node.set_doc_string(reason);
  for (const int i : call.inputs) {
    if (i >= 0 && t.computed[i]) node.add_input(t.tensor_names[i]);
  }
  for (const int i : call.outputs) node.add_output(t.tensor_names[i]);
}

// Others than those of complex.cc do not know that complex numbers have a dimension more.
bool ReadsComplexUnawares(const Call& call, const File& file) {
  const bool reads = std::any_of(call.inputs.begin(), call.inputs.end(), [&](int i) {
    return i >= 0 && file.tensor(i).type() == TensorType_COMPLEX64;
  });
  switch (file.CodeOf(*call.op)) {
    case BuiltinOperator_COMPLEX_ABS:
    case BuiltinOperator_REAL:
    case BuiltinOperator_IMAG:
    case BuiltinOperator_CAST:
    case BuiltinOperator_SQUEEZE:
      return false;
    default:
      return reads;
  }
}

void TranslateOperator(const Call& call, Translation& t) {
  if (IsVariableOperator(t.file.CodeOf(*call.op))) return TranslateVariable(*call.op, t);
  const Translate translate = FindTranslate(t.file, *call.op);
  if (translate == nullptr) {
    const bool loops = t.file.CodeOf(*call.op) == BuiltinOperator_WHILE;
    Refuse(call,
           loops ? "constants do not say how often it runs, or what it keeps changes its type; "
                   "loops of a fixed number of runs are unrolled"
                 : "TensorFlow Lite operator is not supported",
           t);
  } else if (ReadsComplexUnawares(call, t.file)) {
    Refuse(call, "reads complex numbers; COMPLEX_ABS, REAL, IMAG, CAST and SQUEEZE may", t);
  } else {
    const int nodes = t.graph.node_size();
    const std::map<int, std::string> reals = t.reals;
    OpWriter writer(call, t);
    try {
      translate(writer);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      t.graph.mutable_node()->DeleteSubrange(nodes, t.graph.node_size() - nodes);
      t.reals = reals;
      Refuse(call, error.what(), t);
    }
  }
  for (const int i : call.outputs) t.computed[i] = true;
  NoteKnownValues(call, t);
}

}  // namespace
}  // namespace tflite

bool IsTflite(std::span<const uint8_t> bytes) {
  constexpr char kIdentifier[] = "TFL3";
  return bytes.size() >= 8 && std::equal(kIdentifier, kIdentifier + 4, bytes.begin() + 4);
}

onnx::ModelProto TranslateTflite(std::span<const uint8_t> bytes, bool open) {
  using namespace tflite;
  const File file(bytes);
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(kOpset);
  onnx::GraphProto& graph = *model.mutable_graph();
  Translation t{file, graph, UniqueNames("_", 1)};
  t.opens = open;
  const auto count = static_cast<size_t>(file.TensorCount());
  t.computed.resize(count);
  t.stored.resize(count);
  NameTensors(t);
  tflite::AddInputs(t, open);
  for (const Call& call : file.calls()) TranslateOperator(call, t);
  tflite::AddOutputs(t);
  AddVariables(t);
  model.set_doc_string(DescribeVariables(t));
  RSHIFT_REQUIRE(graph.output_size() > 0, ErrorCode::kInvalidInput, "the model has no outputs");
  if (file.graph().name() != nullptr) graph.set_name(file.graph().name()->str());
  return model;
}

}  // namespace rshift
