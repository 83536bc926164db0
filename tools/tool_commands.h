// The subcommands of model_tool; each returns its exit code.
#ifndef RSHIFT_TOOLS_TOOL_COMMANDS_H_
#define RSHIFT_TOOLS_TOOL_COMMANDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/import.h"
#include "pipeline/diagnose/measure.h"
#include "quantize/profile.h"
#include "tools/preprocess_options.h"
#include "tools/requantize_rule.h"
#include "tools/tool_main.h"

namespace rshift {

// What every ONNX node becomes in an integer program: integer, F32 (with the reason), fused into a
// neighbour or needless, folded into a constant, copied (no f32 activations), unsupported (with
// reason and advice), or just supported while shapes are open; and how many of the
// multiply-accumulates are integer. Both integer modes, no calibration. 1 when a node is
// unsupported.
int SupportCommand(const std::string& model, const ImportOptions& options, const Profile& profile,
                   bool json);
int InfoCommand(const std::string& program, bool json);
int DisasmCommand(const std::string& program, bool json);
// `limits`: for ParseLimits.
int VerifyCommand(const std::string& program, const std::string& limits, bool json);
// 0 when equal; else prints what differs, section by section, and returns 1.
int DiffCommand(const std::string& a, const std::string& b, bool json);
int MemoryCommand(const std::string& program, bool json);

struct CompareArguments {
  std::string a, b;  // b is the reference
  std::string tolerance = "0.99,0.90";
  bool common = false;                  // only arrays that both files have
  std::vector<std::string> exceptions;  // names or wildcards of arrays to leave out
};
// Compares the arrays of two .npz files by name, all of them. 1 when one is below the tolerance,
// has a NaN or another shape, or when one file alone has an array. Throws kInvalidInput for
// exceptions that no file has, and when there is nothing to compare.
int CompareCommand(const CompareArguments& arguments, bool json);
int StatsCommand(const std::string& statistics, bool json);
// int32 accumulators on the standard input, one a line, to 8-bit integers on the standard output.
// `show`: says multiplier and rshift, or the scale, on stderr. Throws kInvalidInput naming the line
// that is no int32; what came before it has been answered.
int RequantizeCommand(const RequantizeArguments& arguments, bool show, bool json);

struct VectorsArguments {
  std::string program, output;     // a folder
  std::vector<std::string> input;  // what OpenDataset takes
  int64_t sample = 0;              // which of it
};
// For each command a .npz with its weights in ONNX order, biases, multipliers, shifts, and what it
// reads and writes of one sample; manifest.json, written last, says what is where.
int VectorsCommand(const VectorsArguments& arguments, bool json);

struct ExportArguments {
  std::string model, format, calibration, config, mode, variant;
  std::string output;  // a folder
};
// Writes the constants of the quantized model as the files of the format (ascend), the manifest
// last.
int ExportCommand(const ExportArguments& arguments, const ImportOptions& import, bool json);

struct GraphArguments {
  std::string file;          // a .rshift program, or a model
  std::string report;        // of model_deploy --report-json: figures for the nodes; may be empty
  std::string output;        // an HTML page
  Profile profile;           // of a model: what becomes integer
  std::string model_option;  // one that is given and that programs have no use for; "": none
};
// Throws UsageError where neither a page nor `json` is asked for, and for an option about models
// with a program.
int GraphCommand(const GraphArguments& arguments, const ImportOptions& import, bool json);

struct ExplainArguments {
  std::string table, tensor;  // "": the joins of tensors far apart
  std::string model;          // its file; may be empty with a tensor
};
// Throws UsageError where neither tensor nor model is given.
int ExplainCommand(const ExplainArguments& arguments, const ImportOptions& import, bool json);

// Adds up what `model_runner --labels --shard --json` printed of every shard: the same counts as of
// a run in one piece. Throws kInvalidInput naming the file that is of another set, and the shards
// that are missing or there twice.
int AccuracyCommand(const std::vector<std::string>& files, bool json);

struct DiagnoseArguments {
  std::string labels, calibration, mode = "symmetric";
  std::vector<std::string> dataset;
  PreprocessArguments preprocess;
  int64_t label_offset = 0, samples = kDiagnoseSamples;
  uint64_t seed = 0;
  int threads = 0;
  bool strict = false, rules = false;
};
// Says what is wrong with a model, its data and its integer program, and what to try. 1 only where
// `strict` is set and there is a finding. `rules`: lists the rules instead.
int DiagnoseCommand(const DiagnoseArguments& arguments, const ModelArguments& model, bool json);

// Whether a file begins as programs do; else it is a model.
bool IsProgramFile(const std::vector<uint8_t>& bytes);

struct WeightsArguments {
  std::string file;          // a .rshift program, or a model
  std::string output;        // a folder for .npy files; may be empty
  std::string model_option;  // as of GraphArguments
};
// Throws UsageError for `option`, unless it is "": what `file` holds is no model.
void RefuseModelOption(const std::string& file, const std::string& option);
// Every constant: who reads it, shape, type, scales, range, shares of zeros and of the ends.
int WeightsCommand(const WeightsArguments& arguments, const ImportOptions& import, bool json);

struct CutArguments {
  std::string output;
  std::vector<std::string> inputs, outputs;  // tensors; none: CutEnds of graph/cut.h
};
void AddCutOptions(CLI::App& command, ModelArguments& model, CutArguments& arguments);
int CutCommand(const CutArguments& arguments, const ModelArguments& model, bool json);

struct ScalesArguments {
  std::string action, file, output;  // convert FILE OUTPUT, or show FILE
  std::string from, to;              // formats; "": by content, by the output's name
  std::string model;                 // names tensors for layers and the other way round
  std::string header;                // WriteOptions
  bool symmetric = false;
};
// What cannot be carried over is said on stderr, one line for each kind.
int ScalesCommand(const ScalesArguments& arguments, bool json);
// "  tensorrt   calibration cache of TensorRT; .cache", one line for each format.
std::string ScaleFormatList();

}  // namespace rshift

#endif  // RSHIFT_TOOLS_TOOL_COMMANDS_H_
