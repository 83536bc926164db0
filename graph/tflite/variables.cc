#include "graph/tflite/variables.h"

#include <algorithm>

#include "base/next_value.h"
#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

// "container/name", or only the name; never empty.
std::string KeyOf(const Operator& op) {
  const auto* options = op.builtin_options_as<VarHandleOptions>();
  const auto text = [](const flatbuffers::String* s) { return s == nullptr ? "" : s->str(); };
  RSHIFT_REQUIRE(options != nullptr, ErrorCode::kInvalidInput,
                 "a VAR_HANDLE has no options; the file is damaged");
  const std::string container = text(options->container()), name = text(options->shared_name());
  const std::string key = container.empty() ? name : container + "/" + name;
  return key.empty() ? "variable" : key;
}

void RequireCount(const Operator& op, const File& file, size_t inputs, size_t outputs) {
  const size_t in = Indices(op.inputs()).size(), out = Indices(op.outputs()).size();
  RSHIFT_REQUIRE(in == inputs && out == outputs, ErrorCode::kInvalidInput, "a ", file.NameOf(op),
                 " has ", in, " inputs and ", out, " outputs, expected ", inputs, " and ", outputs,
                 "; the file is damaged");
}

bool IsAllZero(const Tensor& tensor, std::span<const uint8_t> data) {
  const auto count = static_cast<size_t>(NumElements(ShapeOf(tensor)));
  if (count == 0) return true;
  const size_t size = data.size() / count;
  RSHIFT_REQUIRE(size > 0 && size <= sizeof(uint64_t) && size * count == data.size(),
                 ErrorCode::kInvalidInput, "tensor ", Quoted(NameOf(tensor)), " of shape ",
                 ToString(ShapeOf(tensor)), " has ", data.size(), " bytes; the file is damaged");
  const uint64_t zero = IsQuantized(tensor) ? static_cast<uint64_t>(ZeroPointOf(tensor)) : 0;
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] != static_cast<uint8_t>(zero >> i % size * 8)) return false;
  }
  return true;
}

// What CALL_ONCE runs before the first run of the network.
void CheckFirstValues(const SubGraph& graph, const File& file) {
  std::map<int, std::string> keys;
  for (const Operator* op : *graph.operators()) {
    const BuiltinOperator code = file.CodeOf(*op);
    if (code == BuiltinOperator_VAR_HANDLE) {
      RequireCount(*op, file, 0, 1);
      keys[Indices(op->outputs())[0]] = KeyOf(*op);
      continue;
    }
    RSHIFT_REQUIRE(code == BuiltinOperator_ASSIGN_VARIABLE, ErrorCode::kUnsupported,
                   "variables begin with what ", file.NameOf(*op),
                   " computes; variables that begin with zeros are supported");
    RequireCount(*op, file, 2, 0);
    const std::vector<int> inputs = Indices(op->inputs());
    RSHIFT_REQUIRE(inputs[0] >= 0 && inputs[1] >= 0, ErrorCode::kInvalidInput,
                   "an ASSIGN_VARIABLE lacks an input; the file is damaged");
    const Tensor& first = *graph.tensors()->Get(static_cast<unsigned>(inputs[1]));
    RSHIFT_REQUIRE(IsAllZero(first, file.DataOf(first)), ErrorCode::kUnsupported, "variable ",
                   Quoted(keys[inputs[0]]),
                   " begins with other values than zeros, which is not supported; convert the "
                   "network with its states as inputs and outputs");
  }
}

Variable& VariableOf(int handle, Translation& t) {
  const auto found = t.handles.find(handle);
  RSHIFT_REQUIRE(found != t.handles.end(), ErrorCode::kInvalidInput, "tensor ", handle,
                 " is used as a variable, but no VAR_HANDLE gives it; the file is damaged");
  return t.variables[found->second];
}

void TranslateHandle(const Operator& op, Translation& t) {
  RequireCount(op, t.file, 0, 1);
  const std::string key = KeyOf(op);
  const auto same = std::find_if(t.variables.begin(), t.variables.end(),
                                 [&](const Variable& v) { return v.key == key; });
  t.handles[Indices(op.outputs())[0]] = static_cast<size_t>(same - t.variables.begin());
  if (same == t.variables.end())
    t.variables.push_back({.key = key, .handle = Indices(op.outputs())[0]});
}

void TranslateRead(const Operator& op, Translation& t) {
  RequireCount(op, t.file, 1, 1);
  Variable& variable = VariableOf(Indices(op.inputs())[0], t);
  const int y = Indices(op.outputs())[0];
  if (variable.holds.empty()) {
    variable.before = y;
    const std::string& handle = t.tensor_names[variable.handle];  // no value: its name is free
    variable.input = handle == variable.key ? handle : t.names.Take(variable.key);
    variable.holds = variable.input;
  }
  onnx::NodeProto& node = *t.graph.add_node();
  node.set_op_type("Identity");
  node.set_name(t.tensor_names[y]);
  node.add_input(variable.holds);
  node.add_output(t.tensor_names[y]);
  t.computed[y] = true;
}

void TranslateAssign(const Operator& op, Translation& t) {
  RequireCount(op, t.file, 2, 0);
  const std::vector<int> inputs = Indices(op.inputs());
  Variable& variable = VariableOf(inputs[0], t);
  RSHIFT_REQUIRE(inputs[1] >= 0 && t.computed[inputs[1]], ErrorCode::kUnsupported, "variable ",
                 Quoted(variable.key),
                 " is assigned a constant; only computed values are supported");
  variable.after = inputs[1];
  variable.holds = t.tensor_names[inputs[1]];
}

}  // namespace

void TranslateVariable(const Operator& op, Translation& t) {
  switch (t.file.CodeOf(op)) {
    case BuiltinOperator_CALL_ONCE: {
      const auto* options = op.builtin_options_as<CallOnceOptions>();
      RSHIFT_REQUIRE(options != nullptr, ErrorCode::kInvalidInput,
                     "a CALL_ONCE has no options; the file is damaged");
      return CheckFirstValues(t.file.CheckedSubgraph(options->init_subgraph_index()), t.file);
    }
    case BuiltinOperator_VAR_HANDLE:
      return TranslateHandle(op, t);
    case BuiltinOperator_READ_VARIABLE:
      return TranslateRead(op, t);
    default:
      return TranslateAssign(op, t);
  }
}

void ReadState(int tensor, Translation& t) {
  RSHIFT_REQUIRE(!t.handles.contains(tensor), ErrorCode::kUnsupported, "state ",
                 Quoted(t.tensor_names[tensor]),
                 " belongs to several operators, which is not supported");
  const std::string& name = t.tensor_names[tensor];
  t.handles[tensor] = t.variables.size();
  t.variables.push_back({.key = name,
                         .input = name,
                         .output = {},
                         .holds = name,
                         .handle = tensor,
                         .before = tensor,
                         .after = -1});
  t.computed[tensor] = true;
}

void AssignState(int tensor, const std::string& value, Translation& t) {
  Variable& variable = VariableOf(tensor, t);
  variable.holds = value;
  variable.after = tensor;
}

void FinishVariables(Translation& t) {
  for (Variable& variable : t.variables) {
    RSHIFT_REQUIRE(variable.input.empty() || variable.after >= 0, ErrorCode::kUnsupported,
                   "variable ", Quoted(variable.key),
                   " is read but never assigned; convert the network with a constant in its place");
    if (variable.input.empty()) continue;  // what earlier runs left in it is never read
    variable.output = t.names.Take(variable.input + kNextValue);
    onnx::NodeProto& node = *t.graph.add_node();
    node.set_op_type("Identity");
    node.set_name(variable.output);
    node.add_input(variable.holds);
    node.add_output(variable.output);
  }
}

std::string DescribeVariables(const Translation& t) {
  const auto is_input = [](const Variable& v) { return !v.input.empty(); };
  const auto count = std::count_if(t.variables.begin(), t.variables.end(), is_input);
  std::string fresh =
      t.begins_with_zeros.empty()
          ? std::string()
          : Cat("the state of ", Quoted(t.begins_with_zeros),
                " begins with zeros in every run; TensorFlow Lite's interpreter keeps it from run "
                "to run until its variables are reset");
  if (count == 0) return fresh;
  const auto first = std::find_if(t.variables.begin(), t.variables.end(), is_input);
  return Cat("the file has ", count == 1 ? "a variable" : Cat(count, " variables"),
             ", contents that stay from run to run: an input here, as ", Quoted(first->input),
             ", and an output, ", Quoted(first->output),
             "; zeros at first, then model_runner --carry auto feeds them back",
             fresh.empty() ? "" : "; ", fresh);
}

}  // namespace rshift::tflite
