#include "codegen/lowering/context.h"

#include <algorithm>
#include <bit>

#include "base/aligned.h"
#include "base/error.h"
#include "isa/max_rank.h"

namespace rshift {
namespace {

static_assert(std::endian::native == std::endian::little,
              "constants are stored as they are in memory");

TensorRecord RecordOf(const Value& value) {
  RSHIFT_REQUIRE(value.shape.size() <= size_t{kMaxRank}, ErrorCode::kUnsupported, "tensor '",
                 value.name, "' has ", value.shape.size(), " dimensions, expected at most ",
                 kMaxRank);
  TensorRecord record;
  record.name = value.name;
  record.dtype = value.dtype;
  record.layout = value.layout;
  record.shape = value.shape;
  if (value.quant) {
    record.quantized = true;
    record.scale = value.quant->scale;
    record.zero_point = value.quant->zero_point;
  }
  return record;
}

}  // namespace

LoweringContext::LoweringContext(const Graph& graph, const CompileOptions& options)
    : graph_(graph),
      observable_(options.observable),
      reuse_observed_(options.reuse_observed),
      fuse_(options.fuse && !options.observable),
      tensor_of_(graph.value_count(), -1),
      is_output_(graph.value_count(), false) {
  uint64_t constant_bytes = 0;
  for (int i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(ValueId(i));
    names_.Reserve(value.name);
    if (value.is_constant()) constant_bytes += value.constant->bytes.size() + kBufferAlignment;
  }
  pool_.Reserve(constant_bytes + constant_bytes / 8);
  for (const ValueId output : graph.outputs) is_output_[output.index()] = true;
  for (const ValueId input : graph.inputs) {
    if (graph.value(input).is_constant()) continue;  // bound: no longer an input
    const int32_t tensor = AddArenaTensor(RecordOf(graph.value(input)));
    memory_.buffers[memory_.of[tensor]].input = true;
    tensor_of_[input.index()] = tensor;
    image_.inputs.push_back({graph.value(input).name, tensor});
  }
}

int32_t LoweringContext::AddTensor(TensorRecord record, int32_t buffer) {
  image_.tensors.push_back(std::move(record));
  memory_.of.push_back(buffer);
  return static_cast<int32_t>(image_.tensors.size()) - 1;
}

int32_t LoweringContext::AddArenaTensor(TensorRecord record) {
  memory_.buffers.push_back({.size = static_cast<int64_t>(record.bytes())});
  return AddTensor(std::move(record), static_cast<int32_t>(memory_.buffers.size()) - 1);
}

int32_t LoweringContext::ConstantTensor(const Value& value) {
  TensorRecord record = RecordOf(value);
  RSHIFT_REQUIRE(value.constant->bytes.size() == record.bytes(), ErrorCode::kInternal, "constant '",
                 value.name, "' has ", value.constant->bytes.size(), " bytes, expected ",
                 record.bytes());
  record.region = Region::kConst;
  record.offset = pool_.Add(value.constant->bytes);
  return AddTensor(std::move(record), -1);
}

int32_t LoweringContext::Tensor(ValueId id) {
  int32_t& tensor = tensor_of_[id.index()];
  if (tensor >= 0) return tensor;
  const Value& value = graph_.value(id);
  RSHIFT_REQUIRE(value.is_constant(), ErrorCode::kInternal, "value '", value.name,
                 "' is used before a node makes it: the graph is not in topological order");
  return tensor = ConstantTensor(value);
}

int32_t LoweringContext::Input(const Node& node, size_t index) {
  if (index >= node.inputs.size() || !node.inputs[index].valid()) return -1;
  return Tensor(node.inputs[index]);
}

const Value& LoweringContext::InputValue(const Node& node, size_t index) const {
  RSHIFT_REQUIRE(index < node.inputs.size() && node.inputs[index].valid(), ErrorCode::kInternal,
                 node.name, ": input ", index, " is missing");
  return graph_.value(node.inputs[index]);
}

int32_t LoweringContext::Output(const Node& node) {
  RSHIFT_REQUIRE(node.outputs.size() == 1, ErrorCode::kInternal, node.name, " has ",
                 node.outputs.size(), " outputs, expected 1");
  const ValueId id = node.outputs[0];
  const int32_t tensor = AddArenaTensor(RecordOf(graph_.value(id)));
  memory_.buffers[memory_.of[tensor]].output = is_output_[id.index()];
  tensor_of_[id.index()] = tensor;
  return tensor;
}

int32_t LoweringContext::Temporary(const std::string& name, const TensorRecord& like,
                                   const Shape& shape) {
  TensorRecord record = like;
  record.name = names_.Take(name);
  record.region = Region::kArena;
  record.offset = 0;
  record.layout = shape == like.shape ? like.layout : Layout::kPlain;
  record.shape = shape;
  return AddArenaTensor(std::move(record));
}

int32_t LoweringContext::View(const std::string& name, int32_t tensor, const Shape& shape) {
  TensorRecord view = record(tensor);
  view.name = names_.Take(name);
  view.layout = Layout::kPlain;
  view.shape = shape;
  RSHIFT_REQUIRE(view.bytes() == record(tensor).bytes(), ErrorCode::kInternal, "view '", name,
                 "' of shape ", ToString(shape), " has another size than '", record(tensor).name,
                 "' of shape ", ToString(record(tensor).shape));
  return AddTensor(std::move(view), memory_.of[tensor]);
}

int32_t LoweringContext::AddConst(const std::string& name, DType dtype, const Shape& shape,
                                  std::span<const uint8_t> bytes) {
  TensorRecord record;
  record.dtype = dtype;
  record.shape = shape;
  record.region = Region::kConst;
  RSHIFT_REQUIRE(record.bytes() == bytes.size(), ErrorCode::kInternal, "constant '", name, "' has ",
                 bytes.size(), " bytes, expected ", record.bytes());
  record.name = names_.Take(name);
  record.offset = pool_.Add(bytes);
  return AddTensor(std::move(record), -1);
}

int32_t LoweringContext::AddWeights(const Node& node, std::span<const int8_t> packed) {
  const std::string name = node.name + ".weights";
  const Value& w = InputValue(node, 1);
  if (w.origin == nullptr || w.origin->bits != 4) return AddNumbers(name, DType::kBytes, packed);
  TensorRecord record;
  record.dtype = DType::kBytes;
  record.shape = {static_cast<int64_t>(packed.size())};
  record.region = Region::kConst;
  record.name = names_.Take(name);
  record.offset =
      pool_of_4_bits_.Add({reinterpret_cast<const uint8_t*>(packed.data()), packed.size()});
  tensors_of_4_bits_.push_back(AddTensor(std::move(record), -1));
  return tensors_of_4_bits_.back();
}

// Nobody outside the program reads or writes these bytes.
bool LoweringContext::IsPrivate(int32_t tensor) const {
  const int32_t buffer = memory_.of[tensor];
  return buffer >= 0 && !memory_.buffers[buffer].input && !memory_.buffers[buffer].output;
}

void LoweringContext::DefineAlias(const Node& node, int32_t tensor) {
  const ValueId id = node.outputs[0];
  const Value& value = graph_.value(id);
  const bool is_output = is_output_[id.index()];
  if (observable_ || (is_output && !IsPrivate(tensor))) {
    const int32_t dst = Output(node);
    const int32_t src = record(tensor).shape == value.shape
                            ? tensor
                            : View(value.name + ".source", tensor, value.shape);
    EmitCopy(node.name, dst, src);
    return;
  }
  TensorRecord alias = RecordOf(value);
  RSHIFT_REQUIRE(alias.bytes() == record(tensor).bytes(), ErrorCode::kInternal, node.name,
                 ": output has ", alias.bytes(), " bytes, expected the ", record(tensor).bytes(),
                 " of its input");
  alias.region = record(tensor).region;
  alias.offset = record(tensor).offset;
  const int32_t buffer = memory_.of[tensor];
  if (buffer >= 0 && is_output) memory_.buffers[buffer].output = true;
  tensor_of_[id.index()] = AddTensor(std::move(alias), buffer);
}

void LoweringContext::Emit(const Node& node, const Command& command) {
  image_.commands.push_back(command);
  image_.command_names.push_back(node.name);
}

void LoweringContext::EmitCopy(const std::string& name, int32_t dst, int32_t src) {
  // Copying into a scalar has no axis; broadcasting to the same shape is a copy, too.
  const bool scalar = record(dst).shape.empty();
  image_.commands.push_back(scalar ? isa::Write(isa::Expand{.dst = dst, .src = src})
                                   : isa::Write(isa::CopyInto{.dst = dst, .src = src}));
  image_.command_names.push_back(name);
}

}  // namespace rshift
