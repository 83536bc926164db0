// A small hand-made program with integer and F32 commands, for the tests of the file format.
#ifndef RSHIFT_TESTS_CODEGEN_CONTAINER_SAMPLE_PROGRAM_H_
#define RSHIFT_TESTS_CODEGEN_CONTAINER_SAMPLE_PROGRAM_H_

#include "codegen/container/image.h"

namespace rshift {

// data (f32) -> quantize -> convolution with two 1x1 filters -> dequantize -> softmax.
ProgramImage SampleProgram();
// The same with the weights in 4 bits.
ProgramImage SampleProgramOf4Bits();

}  // namespace rshift

#endif  // RSHIFT_TESTS_CODEGEN_CONTAINER_SAMPLE_PROGRAM_H_
