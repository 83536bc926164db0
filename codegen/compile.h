// Graph (float, integer or mixed; after the passes) -> program image.
#ifndef RSHIFT_CODEGEN_COMPILE_H_
#define RSHIFT_CODEGEN_COMPILE_H_

#include <map>
#include <string>

#include "codegen/container/image.h"
#include "graph/graph.h"

namespace rshift {

struct CompileOptions {
  // No aliasing: every value of the graph has a tensor of its own, whose memory nothing else is
  // written to (dumps, comparison). A value is complete after the last command whose dst is the
  // tensor of its name (a Concat has one command for each part).
  bool observable = false;
  // With observable: memory is used again once its tensor has been read for the last time.
  // Enough where each value is looked at as soon as it is complete (calibration).
  bool reuse_observed = false;
  // Element-wise operators run in the pass of the convolution or pool before them, Concats need no
  // copies: their parts are written in place. Off, each operator is a command of its own on tensors
  // of its own (and so it is when observable): the same bytes, more slowly.
  bool fuse = true;
  std::map<std::string, std::string> meta;
};

// Throws kUnsupported naming node and operator when a node has no command.
ProgramImage Compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_COMPILE_H_
