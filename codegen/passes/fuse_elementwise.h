// Element-wise commands that run in the pass of the convolution, matrix product or pool before
// them.
#ifndef RSHIFT_CODEGEN_PASSES_FUSE_ELEMENTWISE_H_
#define RSHIFT_CODEGEN_PASSES_FUSE_ELEMENTWISE_H_

#include "codegen/container/image.h"
#include "codegen/memory/buffers.h"

namespace rshift {

// Sets fuse_with_previous where the result of such a command has no reader but an element-wise one:
// an addition's other operand may be anything that is complete by then. The result moves into the
// buffer of the reader's destination, and the command to the place before its reader; of two
// operands that could, the one that is made later does. Readers of readers follow them.
// Tensors are whole: parts of Concats are made afterwards.
void FuseElementwise(ProgramImage& image, BufferTable& table);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_FUSE_ELEMENTWISE_H_
