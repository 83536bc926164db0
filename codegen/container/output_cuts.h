// Outputs whose size depends on the data: the tensor has room for the most that there can be, and
// another output, an s64, says how much of one dimension counts. Metadata "output_cuts" has a word
// "output:axis:count" for each, axis in memory order: "0:0:3 1:0:3".
#ifndef RSHIFT_CODEGEN_CONTAINER_OUTPUT_CUTS_H_
#define RSHIFT_CODEGEN_CONTAINER_OUTPUT_CUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

inline constexpr const char* kOutputCutsKey = "output_cuts";

struct ProgramCut {
  int32_t output = 0, count = 0;  // indices into ProgramImage::outputs
  int64_t axis = 0;
};

std::string OutputCutsText(const std::vector<ProgramCut>& cuts);
// Throws kCorrupt, naming `where`, for metadata that does not fit the outputs.
std::vector<ProgramCut> OutputCuts(const ProgramImage& image, const std::string& where);
// The output says how much of others counts: it is no result of the model.
bool IsCount(const std::vector<ProgramCut>& cuts, size_t output);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_OUTPUT_CUTS_H_
