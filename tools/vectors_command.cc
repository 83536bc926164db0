// model_tool vectors: a folder with manifest.json and one .npz for each command of a program.
#include <array>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "interop/json_file.h"
#include "isa/isa.h"
#include "pipeline/complete_tensors.h"
#include "pipeline/json_text.h"
#include "pipeline/tensor_view.h"
#include "pipeline/usage.h"
#include "runtime/onednn/float_library.h"
#include "tools/paths.h"
#include "tools/print.h"
#include "tools/runner_data.h"
#include "tools/tool_commands.h"
#include "tools/vectors.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;

// Every tensor of the arena by its id, integers as they are, in ONNX order.
std::vector<NumpyArray> RunOnce(const Program& program, const Sample& sample) {
  const ProgramImage& image = program.image();
  Session session(program, {.threads = 1, .one_by_one = true});
  FillInputs(program, session, sample);
  std::vector<NumpyArray> values(image.tensors.size());
  const auto keep = [&](int32_t id) {
    values[id] = ToArray(image.tensors[id], session.Tensor(id), /*raw=*/true);
    values[id].name = image.tensors[id].name;
  };
  for (const Binding& input : image.inputs) keep(input.tensor);
  const CompleteTensors complete = CompletedTensors(image);
  for (const int32_t id : complete.at_start) keep(id);
  session.RunObserved([&](int command) {
    for (const int32_t id : complete.after[static_cast<size_t>(command)]) keep(id);
  });
  return values;
}

Json Bindings(const ProgramImage& image, const std::vector<Binding>& bindings) {
  Json list = Json::array();
  for (const Binding& binding : bindings)
    list.push_back({{"name", binding.name}, {"tensor", image.tensors[binding.tensor].name}});
  return list;
}

std::string FileName(const ProgramImage& image, int command) {
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "%05d_", command);
  return Cat(number.data(), FindOp(image.commands[command].opcode)->name, ".npz");
}

// None of what is written replaces what is read. Files that are not there yet replace nothing.
void CheckOutputs(const Program& program, const VectorsArguments& a) {
  const fs::path folder = a.output;
  RunPaths paths{.inputs = {{"the program", a.program}},
                 .outputs = {{"--output", (folder / "manifest.json").string()}}};
  paths.AddData("--input", a.input);
  CheckPaths(paths);
  const ProgramImage& image = program.image();
  for (int c = 0; c < static_cast<int>(image.commands.size()); ++c) {
    const fs::path file = folder / FileName(image, c);
    paths.outputs = {{"--output", file.string()}};
    std::error_code ignored;
    if (fs::exists(file, ignored)) CheckPaths(paths);
  }
}

Sample ReadSample(const Program& program, const VectorsArguments& a) {
  if (program.image().inputs.empty()) return {};
  RequireUsage(!a.input.empty(), "vectors: --input is missing: one sample of the program's inputs");
  const auto dataset = OpenProgramDataset(program, a.input, ProgramPreprocess(program, {}));
  RSHIFT_REQUIRE(a.sample < dataset->size(), ErrorCode::kInvalidInput, "--sample ", a.sample,
                 ": --input has ", dataset->size(), " samples, counted from 0");
  return dataset->Read(a.sample);
}

}  // namespace

int VectorsCommand(const VectorsArguments& a, bool json) {
  CheckOutputName({"--output", a.output});
  const fs::path folder = a.output;
  RegisterFloatLibrary();
  const Program program = Program::Load(a.program);
  const Sample sample = ReadSample(program, a);
  std::error_code failed;
  fs::create_directories(folder, failed);
  RSHIFT_REQUIRE(!failed, ErrorCode::kIo, a.output, ": cannot make the folder: ", failed.message());
  CheckOutputs(program, a);
  const std::vector<NumpyArray> values = RunOnce(program, sample);
  const ProgramImage& image = program.image();
  Json manifest = {{"rshift_vectors", 1},
                   {"meta", image.meta},
                   {"sample", sample.name},
                   {"inputs", Bindings(image, image.inputs)},
                   {"outputs", Bindings(image, image.outputs)},
                   {"commands", Json::array()}};
  for (int c = 0; c < static_cast<int>(image.commands.size()); ++c) {
    CommandVectors vectors = DescribeCommand(program, c, values);
    const std::string name = FileName(program.image(), c);
    WriteNpz((folder / name).string(), vectors.arrays);
    vectors.entry["file"] = name;
    manifest["commands"].push_back(std::move(vectors.entry));
  }
  WriteFileAtomic((folder / "manifest.json").string(), JsonText(manifest, 1) + "\n");
  if (json)
    PrintJson({{"output", a.output}, {"commands", image.commands.size()}});
  else
    PrintText(Cat(a.output, ": ", Count(image.commands.size(), "command"), "\n"));
  return 0;
}

}  // namespace rshift
