#include "tests/runtime/view_program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/container/strided_bytes.h"

namespace rshift::testing {
namespace {

bool SharesBytes(const ProgramImage& image) {
  for (size_t i = 0; i < image.tensors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool arena = image.tensors[i].region == Region::kArena;
      if (arena && Overlap(image.tensors[i], image.tensors[j])) return true;
    }
  }
  return false;
}

// What commands ask of views beyond FieldSpec::view.
bool TakesViews(const ProgramImage& image, const Command& command) {
  const bool window = command.opcode == Opcode::kConv || command.opcode == Opcode::kDepthwise ||
                      command.opcode == Opcode::kMatMul;
  if (window) return command.Tensor(Field::kSrc2) < 0;  // a post-operation's addend
  if (command.opcode != Opcode::kCopyInto) return true;
  const Shape& shape = image.tensors[static_cast<size_t>(command.Tensor(Field::kSrc))].shape;
  const int64_t axis = command.Get(Field::kAxis);
  return axis + 1 == static_cast<int64_t>(shape.size()) ||
         NumElements(Shape(shape.begin(), shape.begin() + axis)) == 1;
}

std::vector<bool> ViewTensors(const ProgramImage& image) {
  std::vector<bool> views;
  for (const TensorRecord& t : image.tensors)
    views.push_back(t.region == Region::kArena && !t.shape.empty() && t.bytes() > 0);
  for (const Command& command : image.commands) {
    const bool takes = TakesViews(image, command);
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      if (IsTensor(field.kind) && command.Tensor(field.field) >= 0 && !(field.view && takes))
        views[static_cast<size_t>(command.Tensor(field.field))] = false;
    }
  }
  return views;
}

class Converter {
 public:
  explicit Converter(const ProgramBuilder& program) : original_(program.image) {
    out_.builder = program;
    out_.builder.image.commands.clear();
    out_.builder.image.command_names.clear();
    out_.builder.image.outputs.clear();
  }

  ViewProgram Convert() {
    view_of_.assign(original_.tensors.size(), -1);
    const std::vector<bool> views = ViewTensors(original_);
    for (size_t t = 0; t < views.size(); ++t) {
      if (views[t] && !SharesBytes(original_)) MakeView(static_cast<int32_t>(t));
    }
    for (const Binding& input : original_.inputs) {
      const int32_t view = ViewOf(input.tensor);
      if (view != input.tensor) Copy(view, input.tensor);
    }
    for (Command command : original_.commands) {
      for (const FieldSpec& field : FindOp(command.opcode)->fields) {
        const int32_t tensor = IsTensor(field.kind) ? command.Tensor(field.field) : -1;
        if (tensor >= 0) command.Set(field.field, ViewOf(tensor));
      }
      image().commands.push_back(command);
    }
    for (const Binding& output : original_.outputs) {
      const int32_t view = ViewOf(output.tensor);
      if (view != output.tensor) Copy(output.tensor, view);
      image().outputs.push_back(output);
    }
    for (const int32_t wide : wide_) image().outputs.push_back({Cat("wide", wide), wide});
    return std::move(out_);
  }

 private:
  ProgramImage& image() { return out_.builder.image; }
  int32_t ViewOf(int32_t tensor) const {
    const int32_t view = view_of_[static_cast<size_t>(tensor)];
    return view < 0 ? tensor : view;
  }
  void Copy(int32_t dst, int32_t src) {
    const int64_t last = static_cast<int64_t>(out_.builder[src].shape.size()) - 1;
    out_.builder.Add(Opcode::kCopyInto, dst, src).Set(Field::kAxis, last);
  }

  void MakeView(int32_t tensor) {
    const TensorRecord original = original_.tensors[static_cast<size_t>(tensor)];
    const int64_t left = 1 + tensor % 3, right = 1 + tensor % 5;
    TensorSpec spec{original.dtype, original.shape, original.scale, original.zero_point};
    spec.shape.back() += left + right;
    const int32_t wide = out_.builder.Arena(spec);
    Bytes before(out_.builder[wide].bytes());
    for (size_t i = 0; i < before.size(); ++i) before[i] = static_cast<uint8_t>(i * 37 + 11);
    const int32_t pattern = out_.builder.Const(original.dtype, spec.shape, before);
    Copy(wide, pattern);

    TensorRecord view = original;
    const auto element = static_cast<int64_t>(SizeOf(original.dtype));
    view.name = Cat(original.name, ".view");
    view.offset = out_.builder[wide].offset + static_cast<uint64_t>(left * element);
    view.pitch = view.rows() > 1 ? static_cast<uint32_t>(out_.builder[wide].row_bytes()) : 0;
    image().tensors.push_back(view);
    view_of_[static_cast<size_t>(tensor)] = static_cast<int32_t>(image().tensors.size()) - 1;
    wide_.push_back(wide);
    view.offset = static_cast<uint64_t>(left * element);
    out_.wide.push_back({std::move(before), StridedBytesOf(view)});
  }

  const ProgramImage& original_;
  ViewProgram out_;
  std::vector<int32_t> view_of_;  // per original tensor
  std::vector<int32_t> wide_;
};

}  // namespace

ViewProgram AsViews(const ProgramBuilder& program) { return Converter(program).Convert(); }

Bytes RunViews(const ViewProgram& views, const Program& built, const std::vector<Bytes>& inputs,
               const RunOptions& options) {
  Bytes all = RunProgram(built, inputs, options);
  size_t size = all.size();
  for (const ViewProgram::Wide& wide : views.wide) size -= wide.before.size();
  size_t at = size;
  for (const ViewProgram::Wide& wide : views.wide) {
    Bytes expected = wide.before;
    for (uint64_t run = 0; run < wide.view.runs; ++run) {
      const size_t begin = wide.view.offset + run * wide.view.pitch;
      std::copy_n(all.begin() + static_cast<int64_t>(at + begin), wide.view.run,
                  expected.begin() + static_cast<int64_t>(begin));
    }
    EXPECT_TRUE(
        std::equal(expected.begin(), expected.end(), all.begin() + static_cast<int64_t>(at)))
        << "bytes beside a view were written";
    at += wide.before.size();
  }
  all.resize(size);
  return all;
}

}  // namespace rshift::testing
