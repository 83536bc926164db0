#include "pipeline/own_program.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/container/container.h"
#include "runtime/onednn/float_library.h"
#include "runtime/runtime.h"

namespace rshift {
namespace {

// What the verifier says of files from elsewhere.
constexpr const char* kDamaged = "; the file is damaged or was written by another version";

[[noreturn]] void Refuse(std::string message) {
  const size_t at = message.find(kDamaged);
  if (at != std::string::npos) message.erase(at);
  Fail(ErrorCode::kInternal, message,
       ": the program made of this model would be refused by its own loader, so it is not written; "
       "please report it; leaving this node in F32 (--config) may help");
}

void LoadAndOpen(std::span<const uint8_t> bytes, const std::string& where) {
  const Program program = Program::FromBytes(bytes, where, Limits::None());
  const std::vector<Command>& commands = program.image().commands;
  const bool floats = std::any_of(commands.begin(), commands.end(), [](const Command& command) {
    return IsFloatCompute(command.opcode);
  });
  if (!floats) return;
  RegisterFloatLibrary();
  const Session session(program, {.threads = 1});
}

}  // namespace

std::string CheckOwnProgram(std::span<const uint8_t> bytes, const std::string& where) {
  try {
    LoadAndOpen(bytes, where);
  } catch (const Error& error) {
    // A machine too small for the program says nothing about it.
    if (error.code() != ErrorCode::kIo) Refuse(error.what());
  }
  try {
    CheckLimits(ReadStructure(bytes, where).image, {}, where);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace rshift
