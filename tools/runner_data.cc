#include "tools/runner_data.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "pipeline/program_interface.h"
#include "pipeline/tensor_view.h"
#include "quantize/types.h"
#include "tools/tool_main.h"

namespace rshift {

namespace {

// Bytes of pixels, and those of a model that takes bytes itself, are what preprocessing gives.
std::optional<InputIntegers> IntegersOf(const ProgramImage& image, const Binding& input) {
  const TensorRecord& record = image.tensors[input.tensor];
  const bool has_scale =
      record.dtype == DType::kS16 || TakesOwnIntegers(image.meta, input.name, record.dtype);
  if (!record.quantized || !has_scale) return {};
  const IntType type{record.dtype, {record.scale, record.zero_point}};
  return InputIntegers{record.scale, record.zero_point, type.qmin(), type.qmax()};
}

// Whether minus infinities of the input may be a mask: bytes have none, and products of them are
// NaN.
bool MayMask(const ProgramImage& image, int32_t input) {
  if (image.tensors[input].dtype != DType::kF32) return false;
  std::set<int32_t> holders{input};
  for (const Command& command : image.commands) {
    const OpSpec& spec = *FindOp(command.opcode);
    const bool reads = std::any_of(spec.fields.begin(), spec.fields.end(), [&](const FieldSpec& f) {
      return IsTensor(f.kind) && f.kind != FieldKind::kTensorOut &&
             holders.contains(command.Tensor(f.field));
    });
    if (!reads) continue;
    if (spec.op_class == OpClass::kInteger || spec.traits.macs != MacForm::kNone) return false;
    if (spec.op_class == OpClass::kMove) holders.insert(command.Tensor(Field::kDst));
  }
  return true;
}

std::vector<InputSpec> SpecsOf(const ProgramImage& image) {
  std::vector<InputSpec> specs;
  for (const Binding& input : image.inputs)
    specs.push_back({input.name, OnnxShape(image.tensors[input.tensor]), IntegersOf(image, input),
                     MayMask(image, input.tensor)});
  return specs;
}

}  // namespace

std::optional<Preprocess> ProgramPreprocess(const Program& program,
                                            const PreprocessChoice& choice) {
  const std::vector<InputSpec> specs = SpecsOf(program.image());
  std::optional<Preprocess> preprocess;
  const auto recorded = program.image().meta.find("preprocess");
  if (recorded != program.image().meta.end() && !recorded->second.empty()) {
    preprocess = ReadPreprocess(recorded->second, program.where() + " (recorded preprocessing)");
  }
  preprocess = choice.Resolve(specs, preprocess);
  PrintNote(choice.Note(specs));
  if (preprocess) KeepPixels(program.image().meta, &*preprocess);
  return preprocess;
}

std::unique_ptr<Dataset> OpenProgramDataset(const Program& program,
                                            const std::vector<std::string>& paths,
                                            const std::optional<Preprocess>& preprocess,
                                            const std::vector<CarriedInput>& carried) {
  std::vector<InputSpec> specs = SpecsOf(program.image());
  for (auto one = carried.rbegin(); one != carried.rend(); ++one)
    specs.erase(specs.begin() + static_cast<std::ptrdiff_t>(one->input));
  return OpenDataset(paths, specs, preprocess, PrintNote);
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
  if (all.shape.empty()) all.shape = {1};  // scalars become a list of them
  const Shape shape = array.shape.empty() ? Shape{1} : array.shape;
  // Only outputs whose size depends on the data differ, in more than the first dimension maybe.
  RSHIFT_REQUIRE(std::equal(all.shape.begin() + 1, all.shape.end(), shape.begin() + 1, shape.end()),
                 ErrorCode::kUnsupported, "tensor '", array.name, "' is ", ToString(all.shape),
                 " of earlier samples and ", ToString(shape),
                 " of this one: it cannot be stacked over samples, run one sample at a time");
  all.shape[0] += shape[0];
  all.bytes.insert(all.bytes.end(), array.bytes.begin(), array.bytes.end());
}

std::vector<NumpyArray> ArrayCollector::Take() { return std::move(arrays_); }

}  // namespace rshift
