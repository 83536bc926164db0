// The last look at a program before it is written: would it load where it is to run?
#ifndef RSHIFT_PIPELINE_OWN_PROGRAM_H_
#define RSHIFT_PIPELINE_OWN_PROGRAM_H_

#include <cstdint>
#include <span>
#include <string>

namespace rshift {

// Loads the bytes as model_runner does and, where there are F32 commands, makes their steps, which
// have checks of their own. Throws kInternal naming the command and its node when the program would
// be refused. Gives a warning, or "", for one that only runs with higher limits (runtime/limits.h).
std::string CheckOwnProgram(std::span<const uint8_t> bytes, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_OWN_PROGRAM_H_
