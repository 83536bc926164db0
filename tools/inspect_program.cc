// model_tool info, verify, memory.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/atomic_file.h"
#include "base/error.h"
#include "codegen/container/container.h"
#include "codegen/memory/report.h"
#include "pipeline/graph_json.h"
#include "pipeline/tensor_view.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

nlohmann::json BindingJson(const ProgramImage& image, const Binding& binding) {
  const TensorRecord& r = image.tensors[binding.tensor];
  nlohmann::json out = {{"name", binding.name}, {"type", Name(r.dtype)}, {"shape", OnnxShape(r)}};
  if (r.quantized) out.update({{"scale", r.scale}, {"zero_point", r.zero_point}});
  return out;
}

void PrintBindings(const ProgramImage& image, const char* what,
                   const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) {
    const TensorRecord& r = image.tensors[b.tensor];
    std::printf("%-8s ", what);
    const std::string quant =
        r.quantized ? Cat(", scale ", r.scale, ", zero point ", r.zero_point) : "";
    PrintText(Cat(b.name, " ", Name(r.dtype), " ", ToString(OnnxShape(r)), quant, "\n"));
  }
}

// Bytes that they take in memory; half of that in the file.
uint64_t ConstantsOf4Bits(const ContainerView& view) {
  return view.constants.size() - view.image.constants_of_4_bits.value_or(view.constants.size());
}

std::map<std::string, int> CommandCounts(const ProgramImage& image) {
  std::map<std::string, int> counts;
  for (const Command& command : image.commands) ++counts[FindOp(command.opcode)->name];
  return counts;
}

}  // namespace

int InfoCommand(const std::string& program, bool json) {
  const std::vector<uint8_t> bytes = ReadFile(program);
  const ContainerView view = ReadContainer(bytes, program);
  const ProgramImage& image = view.image;
  const RunWork work = PredictWork(image);
  if (json) {
    nlohmann::json out = {{"file", program},
                          {"file_bytes", bytes.size()},
                          {"meta", image.meta},
                          {"arena_bytes", image.arena_size},
                          {"constant_bytes", view.constants.size()},
                          {"constant_bytes_of_4_bits", ConstantsOf4Bits(view)},
                          {"commands", CommandCounts(image)},
                          {"tensors", image.tensors.size()},
                          {"predicted_seconds", 1e-9 * static_cast<double>(work.nanoseconds)},
                          {"macs", work.macs},
                          {"elements", work.elements},
                          {"buffer_bytes", work.buffers}};
    out["inputs"] = out["outputs"] = out["f32_commands"] = nlohmann::json::array();
    for (const Binding& b : image.inputs) out["inputs"].push_back(BindingJson(image, b));
    for (const Binding& b : image.outputs) out["outputs"].push_back(BindingJson(image, b));
    for (size_t i = 0; i < image.commands.size(); ++i) {
      if (!IsFloatCompute(image.commands[i].opcode)) continue;
      out["f32_commands"].push_back(
          {{"command", FindOp(image.commands[i].opcode)->name},
           {"node", image.command_names.empty() ? "" : image.command_names[i]}});
    }
    PrintJson(out);
    return 0;
  }
  std::printf("%s: %zu bytes, arena %llu bytes, constants %zu bytes, %s, %s\n", program.c_str(),
              bytes.size(), static_cast<unsigned long long>(image.arena_size),
              view.constants.size(), Count(image.tensors.size(), "tensor").c_str(),
              Count(image.commands.size(), "command").c_str());
  std::printf("%-8s %s\n", "one run", ToString(work).c_str());
  for (const auto& [key, value] : image.meta) {
    if (value.find('\n') == std::string::npos) PrintText(Cat("meta     ", key, " = ", value, "\n"));
  }
  PrintBindings(image, "input", image.inputs);
  PrintBindings(image, "output", image.outputs);
  for (const auto& s : view.sections) {
    std::printf("%-8s %s offset %llu size %llu crc32c %08x\n", "section", s.kind.c_str(),
                static_cast<unsigned long long>(s.offset), static_cast<unsigned long long>(s.size),
                s.crc);
  }
  for (const auto& [name, count] : CommandCounts(image))
    std::printf("%-8s %4d %s\n", "command", count, name.c_str());
  return 0;
}

int VerifyCommand(const std::string& program, const std::string& limits, bool json) {
  RegisterFloatLibrary();
  const Program loaded = Program::Load(program, {.limits = ParseLimits(limits)});
  const size_t commands = loaded.image().commands.size();
  const RunWork& work = loaded.work();
  if (json) {
    PrintJson({{"file", program},
               {"verified", true},
               {"commands", commands},
               {"predicted_seconds", 1e-9 * static_cast<double>(work.nanoseconds)},
               {"macs", work.macs},
               {"elements", work.elements},
               {"arena_bytes", work.arena},
               {"buffer_bytes", work.buffers}});
  } else {
    std::printf("%s: verified, %s\n", program.c_str(), Count(commands, "command").c_str());
    std::printf("one run: %s\n", ToString(work).c_str());
  }
  return 0;
}

int MemoryCommand(const std::string& program, bool json) {
  const std::vector<uint8_t> bytes = ReadFile(program);
  const ContainerView view = ReadContainer(bytes, program);
  MemoryReport report = AnalyzeMemory(view.image);
  report.constants = view.constants.size();  // a view leaves them in the file
  report.constants_of_4_bits = ConstantsOf4Bits(view);
  if (!json) {
    PrintText(MemoryMap(report));
    return 0;
  }
  nlohmann::json memory = MemoryJson(report);
  memory.update({{"file", program},
                 {"constant_bytes", report.constants},
                 {"constant_bytes_of_4_bits", report.constants_of_4_bits}});
  PrintJson(memory);
  return 0;
}

}  // namespace rshift
