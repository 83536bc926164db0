#include "tools/runner_data.h"

#include <cstring>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tools/tensor_view.h"

namespace rshift {

std::unique_ptr<Dataset> OpenProgramDataset(const Program& program, const std::vector<std::string>& paths,
                                            const std::string& override_path) {
  std::optional<Preprocess> preprocess;
  const auto recorded = program.image().meta.find("preprocess");
  if (!override_path.empty()) {
    preprocess = ReadPreprocess(ReadTextFile(override_path), override_path);
  } else if (recorded != program.image().meta.end() && !recorded->second.empty()) {
    preprocess = ReadPreprocess(recorded->second, program.where() + " (recorded preprocessing)");
  }
  std::vector<InputSpec> specs;
  for (const Binding& input : program.image().inputs) {
    specs.push_back({input.name, OnnxShape(program.image().tensors[input.tensor])});
  }
  return OpenDataset(paths, specs, preprocess);
}

void FillInputs(const Program& program, Session& session, const Sample& sample) {
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const Binding& binding = program.image().inputs[i];
    const TensorRecord& record = program.image().tensors[binding.tensor];
    Require(record.dtype == DType::kF32 && record.layout == Layout::kPlain, ErrorCode::kUnsupported, program.where(),
            ": input '", binding.name, "' is ", Name(record.dtype), ", this tool feeds f32 inputs");
    const std::span<std::byte> memory = session.Input(static_cast<int>(i));
    Require(memory.size() == sample.inputs[i].size() * sizeof(float), ErrorCode::kInvalidInput, sample.name, ": holds ",
            sample.inputs[i].size(), " values, input '", binding.name, "' takes ", memory.size() / sizeof(float));
    if (!memory.empty()) std::memcpy(memory.data(), sample.inputs[i].data(), memory.size());
  }
}

void ArrayCollector::Add(const NumpyArray& array) {
  const auto [at, is_new] = by_name_.try_emplace(array.name, arrays_.size());
  if (is_new) {
    arrays_.push_back(array);
    return;
  }
  NumpyArray& all = arrays_[at->second];
  Require(!array.shape.empty(), ErrorCode::kUnsupported, "tensor '", array.name,
          "' is a scalar: it cannot be stacked over samples, run one sample at a time");
  all.shape[0] += array.shape[0];
  all.bytes.insert(all.bytes.end(), array.bytes.begin(), array.bytes.end());
}

std::vector<NumpyArray> ArrayCollector::Take() { return std::move(arrays_); }

}  // namespace rshift
