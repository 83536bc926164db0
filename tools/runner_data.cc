#include "tools/runner_data.h"

#include <optional>

#include "base/error.h"
#include "codegen/container/strip.h"
#include "tools/program_interface.h"
#include "tools/tensor_view.h"

namespace rshift {

std::unique_ptr<Dataset> OpenProgramDataset(const Program& program,
                                            const std::vector<std::string>& paths,
                                            const PreprocessArguments& arguments) {
  std::vector<InputSpec> specs;
  for (const Binding& input : program.image().inputs) {
    specs.push_back({input.name, OnnxShape(program.image().tensors[input.tensor])});
  }
  std::optional<Preprocess> preprocess;
  const auto recorded = program.image().meta.find("preprocess");
  if (recorded != program.image().meta.end() && !recorded->second.empty()) {
    preprocess = ReadPreprocess(recorded->second, program.where() + " (recorded preprocessing)");
  }
  preprocess = arguments.Resolve(specs, preprocess);
  if (preprocess) KeepPixels(program.image().meta, &*preprocess);
  return OpenDataset(paths, specs, preprocess);
}

namespace {

bool Reads(const Command& command, int32_t tensor) {
  for (const FieldSpec& field : FindOp(command.opcode)->fields) {
    const bool is_input =
        field.kind == FieldKind::kTensorIn || field.kind == FieldKind::kTensorInOpt;
    if (is_input && command.Tensor(field.field) == tensor) return true;
  }
  return false;
}

}  // namespace

CompleteTensors CompletedTensors(const ProgramImage& image) {
  constexpr int kNever = -2, kFromStart = -1;
  const int commands = static_cast<int>(image.commands.size());
  std::vector<int> done(image.tensors.size(), kNever);
  for (int c = 0; c < commands; ++c) done[image.commands[c].Tensor(Field::kDst)] = c;
  std::vector<bool> is_input(image.tensors.size());
  for (const Binding& input : image.inputs) is_input[input.tensor] = true;
  for (size_t t = 0; t < image.tensors.size(); ++t) {
    if (done[t] != kNever || is_input[t] || image.tensors[t].region != Region::kArena) continue;
    // A view: complete with the last write to its bytes before it is first read, and before the
    // commands of later nodes: a part of a Concat is read by no command, and its bytes are used
    // again afterwards. Tensors are listed in the order of the nodes that make them.
    for (const Binding& input : image.inputs) {
      if (Overlap(image.tensors[input.tensor], image.tensors[t])) done[t] = kFromStart;
    }
    for (int c = 0; c < commands && !Reads(image.commands[c], static_cast<int32_t>(t)); ++c) {
      const int32_t dst = image.commands[c].Tensor(Field::kDst);
      if (dst > static_cast<int32_t>(t)) break;
      if (Overlap(image.tensors[dst], image.tensors[t])) done[t] = c;
    }
  }
  CompleteTensors complete{.at_start = {}, .after = {}};
  complete.after.resize(image.commands.size());
  for (size_t t = 0; t < done.size(); ++t) {
    if (done[t] == kFromStart) complete.at_start.push_back(static_cast<int32_t>(t));
    if (done[t] >= 0) complete.after[done[t]].push_back(static_cast<int32_t>(t));
  }
  return complete;
}

int64_t BatchOf(const ProgramImage& image) {
  int64_t batch = 0;  // none seen
  for (const std::vector<Binding>* bindings : {&image.inputs, &image.outputs}) {
    for (const Binding& binding : *bindings) {
      const Shape shape = OnnxShape(image.tensors[binding.tensor]);
      const int64_t first = shape.size() < 2 ? 1 : shape[0];
      if (batch != 0 && batch != first) return 1;
      batch = first;
    }
  }
  return std::max<int64_t>(batch, 1);
}

void ArrayCollector::Add(const NumpyArray& array) {
  const auto [at, is_new] = by_name_.try_emplace(array.name, arrays_.size());
  if (is_new) {
    arrays_.push_back(array);
    return;
  }
  NumpyArray& all = arrays_[at->second];
  RSHIFT_REQUIRE(!array.shape.empty(), ErrorCode::kUnsupported, "tensor '", array.name,
                 "' is a scalar: it cannot be stacked over samples, run one sample at a time");
  all.shape[0] += array.shape[0];
  all.bytes.insert(all.bytes.end(), array.bytes.begin(), array.bytes.end());
}

std::vector<NumpyArray> ArrayCollector::Take() { return std::move(arrays_); }

}  // namespace rshift
