// model_tool export: the constants of a quantized model as files of another system.
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/deploy.h"
#include "pipeline/usage.h"
#include "tools/export_ascend.h"
#include "tools/paths.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

DeployOptions OptionsOf(const ExportArguments& a, const ImportOptions& import) {
  DeployOptions options{.model = {a.model}};
  options.import = import;
  options.table.path = a.calibration;
  options.config.path = a.config;
  options.mode = a.mode == "asymmetric"  ? DeployMode::kAsymmetric
                 : a.mode == "symmetric" ? DeployMode::kSymmetric
                                         : DeployMode::kDefault;
  options.profile = ProfileId::kAscend;
  if (!a.variant.empty()) options.variant = ParseVariant(a.variant);
  options.check = false;
  return options;
}

}  // namespace

int ExportCommand(const ExportArguments& a, const ImportOptions& import, bool json) {
  CheckOutputName({"--output", a.output});
  const fs::path folder = a.output;
  std::optional<Graph> quantized;
  DeployEvents events;
  events.graph = [&](DeployStage stage, const Graph& graph) {
    if (stage == DeployStage::kQuantized) quantized = graph;
  };
  Deploy(OptionsOf(a, import), events);
  const AscendFiles files = ExportAscend(*quantized);
  std::error_code made;
  fs::create_directories(folder, made);
  RSHIFT_REQUIRE(!made, ErrorCode::kIo, a.output, ": cannot make the folder: ", made.message());
  CheckPaths(
      {.inputs = {{"the model", a.model}, {"--calibration", a.calibration}, {"--config", a.config}},
       .outputs = {{"--output", (folder / "manifest.json").string()}}});
  for (const auto& [path, bytes] : files.content) {
    std::error_code failed;
    fs::create_directories((folder / path).parent_path(), failed);
    RSHIFT_REQUIRE(!failed, ErrorCode::kIo, a.output,
                   ": cannot make the folder: ", failed.message());
    WriteFileAtomic((folder / path).string(), bytes);
  }
  WriteFileAtomic((folder / "records.txt").string(), files.records);
  WriteFileAtomic((folder / "manifest.json").string(), files.manifest.dump(1) + "\n");
  const size_t layers = files.manifest["layers"].size();
  if (json)
    PrintJson({{"output", a.output}, {"layers", layers}});
  else
    PrintText(Cat(a.output, ": ", Count(layers, "layer"), "\n"));
  return 0;
}

}  // namespace rshift
