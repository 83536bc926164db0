#include "graph/onnx/entries.h"

namespace rshift {

std::vector<int64_t> Entries(const OnnxNode& node, const char* name, size_t count, int64_t fallback,
                             int64_t least) {
  std::vector<int64_t> list = node.Ints(name);
  if (list.empty()) list.assign(count, fallback);
  node.Check(list.size() == count, "attribute '", name, "' has ", list.size(),
             " entries, expected ", count);
  for (int64_t entry : list) {
    node.Check(entry >= least && entry < (int64_t{1} << 31), "attribute '", name, "' holds ", entry,
               ", expected ", least, " or more");
  }
  return list;
}

}  // namespace rshift
