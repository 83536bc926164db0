// The subcommands of model_tool; each returns its exit code.
#ifndef RSHIFT_TOOLS_TOOL_COMMANDS_H_
#define RSHIFT_TOOLS_TOOL_COMMANDS_H_

#include <string>

#include "graph/import.h"
#include "tools/requantize_rule.h"

namespace rshift {

// What every ONNX node becomes in an integer program: integer, F32 (with the reason), fused into a
// neighbour or needless, folded into a constant, copied (no f32 activations), unsupported (with
// reason and advice), or just supported while shapes are open. 1 when a node is unsupported.
int SupportCommand(const std::string& model, const ImportOptions& options, bool json);
int InfoCommand(const std::string& program, bool json);
int DisasmCommand(const std::string& program);
int VerifyCommand(const std::string& program);
// 0 when equal; else prints what differs, section by section, and returns 1.
int DiffCommand(const std::string& a, const std::string& b);
int MemoryCommand(const std::string& program);
// Compares the arrays of two .npz files by name. 1 below the tolerance, on a NaN, or when names or
// shapes differ.
int CompareCommand(const std::string& a, const std::string& b, const std::string& tolerance,
                   bool json);
int StatsCommand(const std::string& statistics);
// int32 accumulators on the standard input, one a line, to 8-bit integers on the standard output.
// `show`: says multiplier and rshift, or the scale, on stderr. Throws kInvalidInput naming the line
// that is no int32; what came before it has been answered.
int RequantizeCommand(const RequantizeArguments& arguments, bool show, bool json);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_TOOL_COMMANDS_H_
