#include "graph/onnx/cut.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/names.h"
#include "graph/onnx/body_names.h"

namespace rshift {
namespace {

using Names = std::set<std::string>;

// Removes those elements of a repeated field that `keep` is false for.
template <typename Field, typename Keep>
void Filter(Field* field, Keep keep) {
  int kept = 0;
  for (int i = 0; i < field->size(); ++i) {
    if (!keep(field->Get(i), i)) continue;
    if (i != kept) field->SwapElements(i, kept);
    ++kept;
  }
  field->DeleteSubrange(kept, field->size() - kept);
}

class Cutter {
 public:
  Cutter(onnx::ModelProto model, std::span<const NodeSupport> support, const ImportState& state)
      : model_(std::move(model)),
        graph_(*model_.mutable_graph()),
        support_(support),
        state_(state) {
    for (int n = 0; n < graph_.node_size(); ++n) {
      for (const std::string& y : graph_.node(n).output()) maker_[y] = n;
    }
    for (const auto& tensor : graph_.initializer())
      has_halves_ |= tensor.data_type() == onnx::TensorProto::FLOAT16;
    for (const auto& info : graph_.value_info()) declared_[info.name()] = info;
    for (const auto& info : graph_.input()) declared_[info.name()] = info;
    for (const auto& info : graph_.output()) declared_[info.name()] = info;
  }

  ModelPart Cut(const CutEnds& ends) {
    std::vector<std::string> outputs = ends.outputs;
    if (outputs.empty()) outputs = DeployableOutputs();
    RequireOnce("--inputs", ends.inputs);
    RequireOnce("--outputs", outputs);
    for (const std::string& name : ends.inputs) RequireMade("--inputs", name);
    for (const std::string& name : outputs) {
      RequireMade("--outputs", name);
      RSHIFT_REQUIRE(std::ranges::find(ends.inputs, name) == ends.inputs.end(),
                     ErrorCode::kInvalidInput, "--outputs: ", Quoted(name),
                     " is one of --inputs, too: nothing of the model lies between");
    }
    Trace(ends.inputs, outputs);
    std::vector<onnx::ValueInfoProto> starts, results;
    for (const auto& info : graph_.input()) {
      if (used_.contains(info.name())) starts.push_back(info);
    }
    for (const std::string& name : ends.inputs) {
      RSHIFT_REQUIRE(used_.contains(name), ErrorCode::kInvalidInput, "--inputs: ", Quoted(name),
                     " is not read on the way to the outputs of the part");
      starts.push_back(Described(name));
    }
    for (const std::string& name : outputs) results.push_back(Described(name));
    RSHIFT_REQUIRE(!starts.empty(), ErrorCode::kInvalidInput,
                   "the part reads no input of the model: give --inputs");
    return Write(starts, results);
  }

 private:
  static void RequireOnce(const char* option, const std::vector<std::string>& names) {
    for (size_t i = 0; i < names.size(); ++i) {
      RSHIFT_REQUIRE(std::count(names.begin(), names.end(), names[i]) == 1,
                     ErrorCode::kInvalidInput, option, ": ", Quoted(names[i]), " is given twice");
    }
  }

  std::vector<std::string> DeployableOutputs() const {
    const bool all = std::all_of(support_.begin(), support_.end(),
                                 [](const NodeSupport& node) { return node.supported; });
    RSHIFT_REQUIRE(!all, ErrorCode::kInvalidInput,
                   "every node can be deployed, nothing needs to be cut off; a part all the same: "
                   "--outputs");
    std::vector<std::string> values = FindDeployablePart(graph_, support_, state_).values;
    RSHIFT_REQUIRE(!values.empty(), ErrorCode::kUnsupported,
                   "no convolution or matrix product lies before what is not supported (model_tool "
                   "support lists it); the part behind it: --inputs TENSOR");
    return values;
  }

  void RequireMade(const char* option, const std::string& name) const {
    if (maker_.contains(name)) return;
    Names names;
    for (const auto& [made, node] : maker_) names.insert(made);
    const std::string close = CloseNames(names, name);
    Fail(ErrorCode::kInvalidInput, option, ": no node of the model makes a tensor ", Quoted(name),
         close.empty() ? "" : "; did you mean " + close + "?");
  }

  void Trace(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    kept_.assign(static_cast<size_t>(graph_.node_size()), false);
    const Names stops(inputs.begin(), inputs.end());
    std::vector<std::string> waiting = outputs;
    while (!waiting.empty()) {
      const std::string name = waiting.back();
      waiting.pop_back();
      if (name.empty() || !used_.insert(name).second || stops.contains(name)) continue;
      const auto maker = maker_.find(name);
      if (maker == maker_.end()) continue;
      kept_[static_cast<size_t>(maker->second)] = true;
      const onnx::NodeProto& node = graph_.node(maker->second);
      waiting.insert(waiting.end(), node.input().begin(), node.input().end());
      const Names captured = CapturedNames(node);
      waiting.insert(waiting.end(), captured.begin(), captured.end());
    }
  }

  // As the model declares it, else as it was imported.
  onnx::ValueInfoProto Described(const std::string& name) const {
    onnx::ValueInfoProto info;
    info.set_name(name);
    const auto declared = declared_.find(name);
    if (declared != declared_.end()) info = declared->second;
    if (info.type().tensor_type().has_shape()) return info;
    const auto found = state_.values.find(name);
    if (found == state_.values.end()) {
      RSHIFT_REQUIRE(declared != declared_.end(), ErrorCode::kUnsupported, "type and shape of ",
                     Quoted(name),
                     " are not known: they lie behind a node that is not supported, and the model "
                     "does not say them; let onnx.shape_inference.infer_shapes write them into it "
                     "first, or cut at a tensor that it declares");
      return info;
    }
    const Value& value = state_.graph.value(found->second);
    auto* type = info.mutable_type()->mutable_tensor_type();
    if (declared == declared_.end()) {
      RSHIFT_REQUIRE(value.dtype != DType::kF32 || !has_halves_, ErrorCode::kUnsupported,
                     "the model has floats of 16 bits and does not say the type of ", Quoted(name),
                     "; let onnx.shape_inference.infer_shapes write the types into it first");
      type->set_elem_type(OnnxType(value.dtype));
    }
    auto* shape = type->mutable_shape();
    for (const int64_t d : value.shape) shape->add_dim()->set_dim_value(d);
    return info;
  }

  CutEnd EndOf(const onnx::ValueInfoProto& info) const {
    const auto found = state_.values.find(info.name());
    if (found == state_.values.end()) return {info.name(), {}};
    return {info.name(), state_.graph.value(found->second).shape};
  }

  ModelPart Write(const std::vector<onnx::ValueInfoProto>& inputs,
                  const std::vector<onnx::ValueInfoProto>& outputs) {
    ModelPart part;
    part.left = graph_.node_size();
    Filter(graph_.mutable_node(),
           [&](const auto&, int n) { return kept_[static_cast<size_t>(n)]; });
    const auto is_used = [&](const auto& one, int) { return used_.contains(one.name()); };
    Filter(graph_.mutable_initializer(), is_used);
    Filter(graph_.mutable_value_info(), is_used);
    graph_.clear_quantization_annotation();
    graph_.clear_input();
    graph_.clear_output();
    for (const auto& info : inputs) *graph_.add_input() = info;
    for (const auto& info : outputs) *graph_.add_output() = info;
    for (const auto& info : inputs) {
      const bool weights = std::any_of(graph_.initializer().begin(), graph_.initializer().end(),
                                       [&](const auto& t) { return t.name() == info.name(); });
      if (!weights) part.inputs.push_back(EndOf(info));
    }
    for (const auto& info : outputs) part.outputs.push_back(EndOf(info));
    for (const auto& tensor : graph_.initializer())
      part.external_data |= tensor.data_location() == onnx::TensorProto::EXTERNAL;
    part.nodes = graph_.node_size();
    part.left -= part.nodes;
    RSHIFT_REQUIRE(model_.SerializeToString(&part.bytes), ErrorCode::kUnsupported,
                   "the part is larger than the 2 GB that an ONNX file holds");
    return part;
  }

  onnx::ModelProto model_;
  onnx::GraphProto& graph_;
  std::span<const NodeSupport> support_;
  const ImportState& state_;
  std::map<std::string, int> maker_;
  std::map<std::string, onnx::ValueInfoProto> declared_;
  bool has_halves_ = false;  // which the import has widened
  std::vector<bool> kept_;   // by node
  Names used_;               // values of the part
};

}  // namespace

ModelPart CutPart(onnx::ModelProto model, std::span<const NodeSupport> nodes,
                  const ImportState& state, const CutEnds& ends) {
  return Cutter(std::move(model), nodes, state).Cut(ends);
}

}  // namespace rshift
