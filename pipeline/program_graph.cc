// A program as a graph.
#include <algorithm>

#include "codegen/container/strided_bytes.h"
#include "codegen/memory/report.h"
#include "pipeline/graph_json.h"

namespace rshift {
namespace {

nlohmann::json GraphTensor(const TensorRecord& record) {
  nlohmann::json json = {
      {"name", record.name}, {"type", Name(record.dtype)}, {"shape", record.shape}};
  if (record.quantized) json.update({{"scale", record.scale}, {"zero_point", record.zero_point}});
  return json;
}

const char* KindOf(const Command& command) {
  if (command.opcode == Opcode::kQuantize || command.opcode == Opcode::kDequantize)
    return "boundary";
  if (IsFloatCompute(command.opcode)) return "float";
  return FindOp(command.opcode)->op_class == OpClass::kMove ? "move" : "integer";
}

// Who has written which bytes of the arena, in the order of the program.
class Writers {
 public:
  void Add(const StridedBytes& bytes, size_t node) { written_.push_back({bytes, node}); }

  // Those whose bytes are still in `tensor`, the last first.
  std::vector<size_t> Of(const TensorRecord& tensor) const {
    std::vector<size_t> nodes;
    if (tensor.region != Region::kArena) return nodes;
    const StridedBytes read = StridedBytesOf(tensor);
    ByteSet later;
    for (auto at = written_.rbegin(); at != written_.rend() && !later.Contains(read); ++at) {
      if (!Overlap(at->bytes, read) || later.Contains(at->bytes)) continue;
      later.Add(at->bytes);
      if (std::find(nodes.begin(), nodes.end(), at->node) == nodes.end()) nodes.push_back(at->node);
    }
    return nodes;
  }

 private:
  struct Written {
    StridedBytes bytes;
    size_t node;
  };
  std::vector<Written> written_;
};

// `graph` with its edges to the node that is added next.
void AddEdges(const Writers& writers, const ProgramImage& image, int64_t tensor,
              nlohmann::json& graph) {
  const size_t node = graph["nodes"].size();
  for (const size_t from : writers.Of(image.tensors[static_cast<size_t>(tensor)]))
    graph["edges"].push_back({from, node, tensor});
}

void AddCommandNode(const ProgramImage& image, size_t index, Writers& writers,
                    nlohmann::json& graph) {
  const Command& command = image.commands[index];
  const OpSpec& spec = *FindOp(command.opcode);
  nlohmann::json node = {
      {"name", index < image.command_names.size() ? image.command_names[index] : ""},
      {"op", spec.name},
      {"kind", KindOf(command)},
      {"command", index},
      {"makes", command.Get(Field::kDst)},
      {"constants", nlohmann::json::array()}};
  if (command.Get(Field::kFuseWithPrevious) != 0)
    node["reason"] = "fused with the command before it";
  for (const FieldSpec& field : spec.fields) {
    const int64_t tensor = command.Get(field.field);
    if (!IsTensor(field.kind) || field.kind == FieldKind::kTensorOut || tensor < 0) continue;
    if (image.tensors[static_cast<size_t>(tensor)].region == Region::kConst)
      node["constants"].push_back(tensor);
    else
      AddEdges(writers, image, tensor, graph);
  }
  writers.Add(WrittenBytes(image, command), graph["nodes"].size());
  graph["nodes"].push_back(std::move(node));
}

}  // namespace

nlohmann::json MemoryJson(const MemoryReport& report) {
  nlohmann::json blocks = nlohmann::json::array();
  for (const ArenaBlock& block : report.blocks) {
    blocks.push_back({{"name", block.name},
                      {"offset", block.offset},
                      {"bytes", block.buffer.size},
                      {"first_command", block.buffer.first},
                      {"last_command", block.buffer.last}});
  }
  return {{"arena_bytes", report.arena + report.slack},
          {"slack_bytes", report.slack},
          {"lower_bound_bytes", report.lower_bound},
          {"gap_bytes", report.arena - std::min(report.arena, report.lower_bound)},
          {"blocks", blocks}};
}

nlohmann::json ProgramGraphJson(const ProgramImage& image) {
  nlohmann::json graph = {{"facts", nlohmann::json::object()},
                          {"tensors", nlohmann::json::array()},
                          {"nodes", nlohmann::json::array()},
                          {"edges", nlohmann::json::array()},
                          {"memory", MemoryJson(AnalyzeMemory(image))}};
  for (const auto& [key, value] : image.meta)
    if (value.find('\n') == std::string::npos) graph["facts"][key] = value;
  for (const TensorRecord& record : image.tensors) graph["tensors"].push_back(GraphTensor(record));
  Writers writers;
  for (const Binding& input : image.inputs) {
    writers.Add(StridedBytesOf(image.tensors[static_cast<size_t>(input.tensor)]),
                graph["nodes"].size());
    graph["nodes"].push_back(
        {{"name", input.name}, {"op", "input"}, {"kind", "input"}, {"makes", input.tensor}});
  }
  for (size_t i = 0; i < image.commands.size(); ++i) AddCommandNode(image, i, writers, graph);
  for (const Binding& output : image.outputs) {
    AddEdges(writers, image, output.tensor, graph);
    graph["nodes"].push_back(
        {{"name", output.name}, {"op", "output"}, {"kind", "output"}, {"makes", -1}});
  }
  return graph;
}

}  // namespace rshift
