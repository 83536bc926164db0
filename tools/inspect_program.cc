// model_tool info, disasm, verify, diff, memory.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "codegen/container/container.h"
#include "codegen/memory/report.h"
#include "runtime/float/float_library.h"
#include "runtime/runtime.h"
#include "tools/tensor_view.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

nlohmann::json BindingJson(const ProgramImage& image, const Binding& binding) {
  const TensorRecord& r = image.tensors[binding.tensor];
  return {{"name", binding.name}, {"type", Name(r.dtype)}, {"shape", OnnxShape(r)}};
}

void PrintBindings(const ProgramImage& image, const char* what,
                   const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) {
    const TensorRecord& r = image.tensors[b.tensor];
    std::printf("%-8s %s %s %s\n", what, b.name.c_str(), Name(r.dtype),
                ToString(OnnxShape(r)).c_str());
  }
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
  if (json) {
    nlohmann::json out = {{"file", program},
                          {"file_bytes", bytes.size()},
                          {"meta", image.meta},
                          {"arena_bytes", image.arena_size},
                          {"constant_bytes", view.constants.size()},
                          {"commands", CommandCounts(image)},
                          {"tensors", image.tensors.size()}};
    out["inputs"] = out["outputs"] = out["f32_commands"] = nlohmann::json::array();
    for (const Binding& b : image.inputs) out["inputs"].push_back(BindingJson(image, b));
    for (const Binding& b : image.outputs) out["outputs"].push_back(BindingJson(image, b));
    for (size_t i = 0; i < image.commands.size(); ++i) {
      if (!IsFloatCompute(image.commands[i].opcode)) continue;
      out["f32_commands"].push_back(
          {{"command", FindOp(image.commands[i].opcode)->name},
           {"node", image.command_names.empty() ? "" : image.command_names[i]}});
    }
    std::printf("%s\n", out.dump().c_str());
    return 0;
  }
  std::printf("%s: %zu bytes, arena %llu bytes, constants %zu bytes, %zu tensors, %zu commands\n",
              program.c_str(), bytes.size(), static_cast<unsigned long long>(image.arena_size),
              view.constants.size(), image.tensors.size(), image.commands.size());
  for (const auto& [key, value] : image.meta) {
    if (value.find('\n') == std::string::npos)
      std::printf("%-8s %s = %s\n", "meta", key.c_str(), value.c_str());
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

int DisasmCommand(const std::string& program) {
  const std::vector<uint8_t> bytes = ReadFile(program);
  std::fputs(Disassemble(ReadContainer(bytes, program).image).c_str(), stdout);
  return 0;
}

int VerifyCommand(const std::string& program) {
  RegisterFloatLibrary();
  const Program loaded = Program::Load(program);
  std::printf("%s: verified, %zu commands\n", program.c_str(), loaded.image().commands.size());
  return 0;
}

int DiffCommand(const std::string& a, const std::string& b) {
  const std::vector<uint8_t> bytes_a = ReadFile(a), bytes_b = ReadFile(b);
  const ContainerView view_a = ReadContainer(bytes_a, a), view_b = ReadContainer(bytes_b, b);
  if (bytes_a == bytes_b) {
    std::printf("equal\n");
    return 0;
  }
  std::set<std::string> keys;
  for (const auto& entry : view_a.image.meta) keys.insert(entry.first);
  for (const auto& entry : view_b.image.meta) keys.insert(entry.first);
  const auto value = [](const ProgramImage& image, const std::string& key) {
    const auto at = image.meta.find(key);
    return at == image.meta.end() ? std::string("(none)") : at->second;
  };
  for (const std::string& key : keys) {
    const std::string x = value(view_a.image, key), y = value(view_b.image, key);
    if (x != y) std::printf("meta %s: %s | %s\n", key.c_str(), x.c_str(), y.c_str());
  }
  std::istringstream lines_a(Disassemble(view_a.image)), lines_b(Disassemble(view_b.image));
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(lines_a, x));
    const bool more_b = static_cast<bool>(std::getline(lines_b, y));
    if (!more_a && !more_b) break;
    if (more_a && (!more_b || x != y)) std::printf("%d < %s\n", line, x.c_str());
    if (more_b && (!more_a || x != y)) std::printf("%d > %s\n", line, y.c_str());
  }
  const bool same_constants = std::equal(view_a.constants.begin(), view_a.constants.end(),
                                         view_b.constants.begin(), view_b.constants.end());
  if (!same_constants)
    std::printf("constants differ (%zu | %zu bytes)\n", view_a.constants.size(),
                view_b.constants.size());
  return 1;
}

int MemoryCommand(const std::string& program) {
  const std::vector<uint8_t> bytes = ReadFile(program);
  const ContainerView view = ReadContainer(bytes, program);
  MemoryReport report = AnalyzeMemory(view.image);
  report.constants = view.constants.size();  // a view leaves them in the file
  std::fputs(MemoryMap(report).c_str(), stdout);
  return 0;
}

}  // namespace rshift
