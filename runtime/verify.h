// The proof that a program may run: after it, no input bytes can make a command read or write
// outside its tensors, overflow an accumulator, or read bytes that nobody wrote. Whatever a file
// holds, it is refused here or it is safe.
#ifndef RSHIFT_RUNTIME_VERIFY_H_
#define RSHIFT_RUNTIME_VERIFY_H_

#include <string>

#include "codegen/container/container.h"
#include "runtime/proof.h"

namespace rshift {

// `image` has passed ReadStructure(): tensors lie inside their regions, command fields in the ISA
// table's ranges, destinations in the arena. Checks, for each command: element types, shape
// algebra, constants (sizes and contents), the accumulator bound |bias| + 255 * sum|w - zero_w| <
// 2^31, that its destination overlaps no operand (but for in-place element-wise commands) and that
// every byte it reads is an input's or was written before; at the end, that every output was.
// Throws kCorrupt naming `where`, the command and the tensor. The constants may still be unchecked:
// what is proved holds for the bytes as they are. They are taken into the checksum shortly before
// they are read, where they are many; Finish() is the caller's.
Proof Verify(const ProgramImage& image, ConstantsCheck& constants, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_VERIFY_H_
