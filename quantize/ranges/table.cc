#include "quantize/ranges/table.h"

#include <algorithm>

namespace rshift {

// Tables have at most a few thousand entries and are searched once per value: PropagateRanges
// builds its own index, so a linear search is enough here.
const TensorRange* CalibrationTable::Find(const std::string& tensor) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const auto& entry) { return entry.first == tensor; });
  return found == tensors.end() ? nullptr : &found->second;
}

}  // namespace rshift
