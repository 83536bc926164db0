// Element-wise functions of floats where their operand lies.
#ifndef RSHIFT_CODEGEN_PASSES_REUSE_IN_PLACE_H_
#define RSHIFT_CODEGEN_PASSES_REUSE_IN_PLACE_H_

#include "codegen/container/image.h"
#include "codegen/memory/buffers.h"

namespace rshift {

// Where an F32 command may work in place and alone reads an operand of the size of its result, the
// operand is written where the result will be: less memory to touch, and to plan. Buffers with
// several tensors, inputs and outputs keep their own. Before the arena is planned.
void ReuseInPlace(const ProgramImage& image, BufferTable& table);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_REUSE_IN_PLACE_H_
