// Concat without copies: whoever makes a part writes it where the Concat wants it.
#ifndef RSHIFT_CODEGEN_PASSES_PLACE_CONCAT_H_
#define RSHIFT_CODEGEN_PASSES_PLACE_CONCAT_H_

#include "codegen/container/image.h"
#include "codegen/memory/buffers.h"

namespace rshift {

// Moves the buffers of CopyInto sources into the buffers of their destinations, with all tensors
// they hold, and drops the commands that then copy bytes onto themselves. A buffer moves when
//   - it is no input and no output of the program,
//   - each of its tensors can be said with one pitch in its new place,
//   - each command that uses them may read or write views there (FieldSpec::view),
//   - nothing else is written to that place.
// A dense block of several Concats, each a prefix of the next, ends up in the last one's buffer.
void PlaceConcats(ProgramImage& image, BufferTable& table);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_PLACE_CONCAT_H_
