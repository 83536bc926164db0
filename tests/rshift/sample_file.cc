#include "tests/rshift/sample_file.h"

#include "tests/runtime/program_builder.h"

std::vector<uint8_t> SampleFile() {
  rshift::testing::ProgramBuilder b;
  const rshift::testing::TensorSpec spec{rshift::DType::kS8, {2, 3}, 0.5f, 1};
  const int32_t x = b.Input(spec), y = b.Output(spec);
  b.Add(rshift::Opcode::kExpand, y, x);
  b.image.meta["model"] = "sample";
  return b.File();
}
