#include "graph/tflite/file.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "graph/onnx/tensor.h"
#include "graph/tflite/loop.h"

namespace rshift::tflite {
namespace {

constexpr uint32_t kVersion = 3;
constexpr int kMostDepth = 16;
constexpr size_t kMostExpanded = 2'000'000;
constexpr int kUnknown = -2;  // -1: an input that is left out
// Older files name operators below this in a field of one byte.
constexpr int kPlaceholder = BuiltinOperator_PLACEHOLDER_FOR_GREATER_OP_CODES;

template <typename... Args>
void Require(bool ok, const Args&... args) {
  RSHIFT_REQUIRE(ok, ErrorCode::kInvalidInput, args..., "; the file is damaged");
}

void CheckIndices(const flatbuffers::Vector<int32_t>* list, int lowest, int count,
                  const std::string& what) {
  for (const int index : Indices(list)) {
    Require(index >= lowest && index < count, what, " names tensor ", index, " of ", count);
  }
}

void CheckTensors(const SubGraph& graph, uint32_t buffers) {
  for (uint32_t i = 0; i < graph.tensors()->size(); ++i) {
    const Tensor* tensor = graph.tensors()->Get(i);
    const std::string what = Cat("tensor ", i, " ", Quoted(NameOf(*tensor)));
    Require(tensor->buffer() < buffers, what, " is in buffer ", tensor->buffer(), " of ", buffers);
    for (const int64_t d : ShapeOf(*tensor)) Require(d >= 0, what, " has the dimension ", d);
    NumElements(ShapeOf(*tensor));
  }
}

BuiltinOperator CodeOf(const OperatorCode& code) {
  const int old = code.deprecated_builtin_code();
  return old >= 0 && old < kPlaceholder && code.builtin_code() == 0
             ? static_cast<BuiltinOperator>(old)
             : code.builtin_code();
}

void CheckOperators(const SubGraph& graph,
                    const flatbuffers::Vector<flatbuffers::Offset<OperatorCode>>& codes) {
  const int tensors = static_cast<int>(graph.tensors()->size());
  for (uint32_t i = 0; i < graph.operators()->size(); ++i) {
    const Operator* op = graph.operators()->Get(i);
    const std::string what = Cat("operator ", i);
    Require(op->opcode_index() < codes.size(), what, " has code ", op->opcode_index(), " of ",
            codes.size());
    Require(IsVariableOperator(CodeOf(*codes.Get(op->opcode_index()))) ||
                (op->outputs() != nullptr && op->outputs()->size() > 0),
            what, " has no outputs");
    CheckIndices(op->inputs(), -1, tensors, what + " reads what it");
    CheckIndices(op->outputs(), 0, tensors, what + " makes what it");
    CheckIndices(op->intermediates(), 0, tensors, what + " makes on the way what it");
  }
}

void CheckSubgraph(const SubGraph& graph, const Model& model) {
  Require(graph.tensors() != nullptr && graph.operators() != nullptr && graph.inputs() != nullptr &&
              graph.outputs() != nullptr && model.operator_codes() != nullptr &&
              model.buffers() != nullptr,
          "the model lacks one of its lists (tensors, operators, inputs, outputs, codes, buffers)");
  const int tensors = static_cast<int>(graph.tensors()->size());
  CheckTensors(graph, model.buffers()->size());
  CheckOperators(graph, *model.operator_codes());
  CheckIndices(graph.inputs(), 0, tensors, "the list of inputs");
  CheckIndices(graph.outputs(), 0, tensors, "the list of outputs");
}

}  // namespace

bool IsVariableOperator(BuiltinOperator code) {
  return code == BuiltinOperator_CALL_ONCE || code == BuiltinOperator_VAR_HANDLE ||
         code == BuiltinOperator_READ_VARIABLE || code == BuiltinOperator_ASSIGN_VARIABLE;
}

Shape ShapeOf(const Tensor& tensor) {
  if (tensor.shape() == nullptr) return {};
  return Shape(tensor.shape()->begin(), tensor.shape()->end());
}

std::string NameOf(const Tensor& tensor) {
  return tensor.name() == nullptr ? "" : tensor.name()->str();
}

std::vector<int> Indices(const flatbuffers::Vector<int32_t>* list) {
  return list == nullptr ? std::vector<int>() : std::vector<int>(list->begin(), list->end());
}

File::File(std::span<const uint8_t> bytes) : bytes_(bytes) {
  constexpr int kMaxDepth = 64, kMaxTables = 10'000'000;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMaxDepth, kMaxTables);
  Require(VerifyModelBuffer(verifier),
          "not a TensorFlow Lite model, or cut short: the FlatBuffers structure is broken");
  model_ = GetModel(bytes.data());
  RSHIFT_REQUIRE(model_->version() == kVersion, ErrorCode::kUnsupported, "is of version ",
                 model_->version(), " of the TensorFlow Lite format, expected ", kVersion,
                 "; convert it again with a newer converter");
  const auto* subgraphs = model_->subgraphs();
  Require(subgraphs != nullptr && subgraphs->size() > 0, "the model has no subgraph");
  CheckSubgraph(graph(), *model_);
  tensors_.assign(graph().tensors()->begin(), graph().tensors()->end());
  std::vector<int> own(tensors_.size());
  std::iota(own.begin(), own.end(), 0);
  AddCalls(graph(), own, 0);
}

void File::AddCalls(const SubGraph& graph, std::vector<int> tensors, int depth) {
  const auto here = [&](const flatbuffers::Vector<int32_t>* list) {
    std::vector<int> indices = Indices(list);
    for (int& i : indices) i = i < 0 ? i : tensors[static_cast<size_t>(i)];
    return indices;
  };
  const std::vector<int> leave = Indices(graph.outputs());
  for (const Operator* op : *graph.operators()) {
    Call call{op, here(op->inputs()), here(op->outputs()), here(op->intermediates())};
    if (CodeOf(*op) == BuiltinOperator_STABLEHLO_COMPOSITE && AddComposite(call, depth)) continue;
    if (CodeOf(*op) == BuiltinOperator_WHILE) {
      const std::vector<int> made = Indices(op->outputs());
      std::vector<bool> renamed;
      renamed.reserve(made.size());
      for (const int i : made)
        renamed.push_back(std::find(leave.begin(), leave.end(), i) == leave.end());
      std::vector<int> results;
      if (AddLoop(call, renamed, depth, &results)) {
        for (size_t i = 0; i < made.size(); ++i) tensors[static_cast<size_t>(made[i])] = results[i];
        continue;
      }
    }
    calls_.push_back(std::move(call));
  }
}

void File::CountExpanded(const SubGraph& graph, size_t runs) {
  expanded_ += (graph.tensors()->size() + graph.operators()->size()) * runs;
  RSHIFT_REQUIRE(expanded_ <= kMostExpanded, ErrorCode::kUnsupported, "has more than ",
                 kMostExpanded, " tensors and operators in subgraphs, counted at each call");
}

void File::AddTensors(const SubGraph& graph, std::vector<int>* tensors) {
  for (size_t i = 0; i < tensors->size(); ++i) {
    if ((*tensors)[i] != kUnknown) continue;
    (*tensors)[i] = static_cast<int>(tensors_.size());
    tensors_.push_back(graph.tensors()->Get(static_cast<uint32_t>(i)));
  }
}

bool File::AddComposite(const Call& call, int depth) {
  const auto* options = call.op->builtin_options_2_as<StableHLOCompositeOptions>();
  Require(options != nullptr, "a STABLEHLO_COMPOSITE has no options");
  const SubGraph& graph = CheckedSubgraph(options->decomposition_subgraph_index());
  CountExpanded(graph, 1);
  Require(depth < kMostDepth, "subgraph ", options->decomposition_subgraph_index(),
          " is called within itself, or calls are more than ", kMostDepth, " deep");
  const std::vector<int> inputs = Indices(graph.inputs()), outputs = Indices(graph.outputs());
  Require(inputs.size() == call.inputs.size() && outputs.size() == call.outputs.size(),
          "a STABLEHLO_COMPOSITE has ", call.inputs.size(), " inputs and ", call.outputs.size(),
          " outputs, its subgraph ", inputs.size(), " and ", outputs.size());
  std::vector<int> tensors(graph.tensors()->size(), kUnknown);
  for (size_t i = 0; i < inputs.size(); ++i)
    tensors[static_cast<size_t>(inputs[i])] = call.inputs[i];
  // An output must be what an operator makes, and one alone; else it would have to be copied.
  std::vector<bool> made(tensors.size(), false);
  for (const Operator* op : *graph.operators()) {
    if (IsVariableOperator(CodeOf(*op))) return false;
    for (const int i : Indices(op->outputs())) made[static_cast<size_t>(i)] = true;
  }
  for (const int i : inputs)
    Require(!made[static_cast<size_t>(i)], "a subgraph's input is what one of its operators makes");
  for (size_t i = 0; i < outputs.size(); ++i) {
    int& tensor = tensors[static_cast<size_t>(outputs[i])];
    if (tensor != kUnknown || !made[static_cast<size_t>(outputs[i])]) return false;
    tensor = call.outputs[i];
  }
  AddTensors(graph, &tensors);
  AddCalls(graph, tensors, depth + 1);
  return true;
}

bool File::AddLoop(const Call& call, const std::vector<bool>& renamed, int depth,
                   std::vector<int>* results) {
  const auto* options = call.op->builtin_options_as<WhileOptions>();
  Require(options != nullptr, "a WHILE has no options");
  const SubGraph& condition = CheckedSubgraph(options->cond_subgraph_index());
  const SubGraph& body = CheckedSubgraph(options->body_subgraph_index());
  const std::vector<int> inputs = Indices(body.inputs()), outputs = Indices(body.outputs());
  const size_t count = call.inputs.size();
  Require(inputs.size() == count && outputs.size() == count && call.outputs.size() == count &&
              condition.inputs()->size() == count && condition.outputs()->size() == 1,
          "a WHILE has ", count, " inputs, its subgraphs ", inputs.size(), " and ",
          condition.inputs()->size());
  Require(depth < kMostDepth, "calls are more than ", kMostDepth, " deep");
  std::vector<bool> made(body.tensors()->size(), false);
  for (const Operator* op : *body.operators()) {
    if (IsVariableOperator(CodeOf(*op))) return false;
    for (const int i : Indices(op->outputs())) made[static_cast<size_t>(i)] = true;
  }
  for (size_t i = 0; i < count; ++i) {
    Require(!made[static_cast<size_t>(inputs[i])], "a WHILE's body makes what it reads");
    if (call.inputs[i] < 0) return false;
    const Tensor& held = *body.tensors()->Get(static_cast<uint32_t>(inputs[i]));
    const Tensor& next = *body.tensors()->Get(static_cast<uint32_t>(outputs[i]));
    if (!HoldAlike(held, next) || !HoldAlike(held, tensor(call.inputs[i])) ||
        !HoldAlike(held, tensor(call.outputs[i])))
      return false;
    const bool first = std::find(outputs.begin(), outputs.begin() + static_cast<int64_t>(i),
                                 outputs[i]) == outputs.begin() + static_cast<int64_t>(i);
    if (!renamed[i] && (!first || !made[static_cast<size_t>(outputs[i])])) return false;
  }
  const std::optional<int> runs = CountRuns(*this, condition, body, call.inputs);
  if (!runs || (*runs == 0 && !std::all_of(renamed.begin(), renamed.end(), std::identity())))
    return false;
  CountExpanded(body, static_cast<size_t>(*runs));
  // Constants are the same in all runs.
  std::vector<int> shared(made.size(), kUnknown);
  for (size_t i = 0; i < made.size(); ++i) shared[i] = made[i] ? 0 : kUnknown;
  for (const int i : inputs) shared[static_cast<size_t>(i)] = 0;
  AddTensors(body, &shared);
  *results = call.inputs;
  for (int run = 0; run < *runs; ++run) {
    std::vector<int> tensors = shared;
    for (size_t i = 0; i < made.size(); ++i) tensors[i] = made[i] ? kUnknown : tensors[i];
    for (size_t i = 0; i < count; ++i) tensors[static_cast<size_t>(inputs[i])] = (*results)[i];
    for (size_t i = 0; i < count && run + 1 == *runs; ++i) {
      int& last = tensors[static_cast<size_t>(outputs[i])];
      if (last == kUnknown) last = call.outputs[i];
    }
    AddTensors(body, &tensors);
    AddCalls(body, tensors, depth + 1);
    for (size_t i = 0; i < count; ++i) (*results)[i] = tensors[static_cast<size_t>(outputs[i])];
  }
  return true;
}

const SubGraph& File::CheckedSubgraph(int index) const {
  const int count = static_cast<int>(model_->subgraphs()->size());
  Require(index >= 0 && index < count, "subgraph ", index, " of ", count, " is called");
  const SubGraph& graph = *model_->subgraphs()->Get(static_cast<unsigned>(index));
  CheckSubgraph(graph, *model_);
  return graph;
}

BuiltinOperator File::CodeOf(const Operator& op) const {
  return tflite::CodeOf(*model_->operator_codes()->Get(op.opcode_index()));
}

std::string File::NameOf(const Operator& op) const {
  const OperatorCode* code = model_->operator_codes()->Get(op.opcode_index());
  const BuiltinOperator builtin = CodeOf(op);
  if (builtin == BuiltinOperator_CUSTOM) {
    return code->custom_code() == nullptr ? "custom" : code->custom_code()->str();
  }
  const char* name = EnumNameBuiltinOperator(builtin);
  return *name != '\0' ? name : Cat("builtin operator ", static_cast<int>(builtin));
}

std::span<const uint8_t> File::DataOf(const Tensor& tensor) const {
  const Buffer* buffer = model_->buffers()->Get(tensor.buffer());
  if (buffer->data() != nullptr && buffer->data()->size() > 0) {
    return {buffer->data()->data(), buffer->data()->size()};
  }
  if (buffer->offset() <= 1) return {};
  Require(buffer->offset() <= bytes_.size() && buffer->size() <= bytes_.size() - buffer->offset(),
          "tensor ", Quoted(tflite::NameOf(tensor)), " lies at byte ", buffer->offset(), ", ",
          buffer->size(), " bytes long, but the file has ", bytes_.size());
  return bytes_.subspan(buffer->offset(), buffer->size());
}

}  // namespace rshift::tflite
