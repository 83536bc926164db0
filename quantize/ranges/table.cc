#include "quantize/ranges/table.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace rshift {

// Tables have at most a few thousand entries and are searched once per value: PropagateRanges
// builds its own index, so a linear search is enough here.
const TensorRange* CalibrationTable::Find(const std::string& tensor) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const auto& entry) { return entry.first == tensor; });
  return found == tensors.end() ? nullptr : &found->second;
}

CalibrationTable WithoutEqualization(CalibrationTable table, const std::string& where) {
  std::map<std::string, std::string> scaled;  // the model's name by the scaled tensor's
  for (const ChannelExponents& entry : table.equalization)
    scaled[Cat(entry.tensor, kEqualizedSuffix)] = entry.tensor;
  std::map<std::string, TensorRange*> own;
  for (auto& [name, range] : table.unequalized) own[name] = &range;
  std::set<std::string> named;
  for (const auto& [name, range] : table.tensors) named.insert(name);
  std::vector<std::pair<std::string, TensorRange>> tensors;
  for (auto& [name, range] : table.tensors) {
    const auto of_model = scaled.find(name);
    if (of_model == scaled.end()) {
      tensors.emplace_back(name, std::move(range));
    } else if (const auto found = own.find(of_model->second); found != own.end()) {
      tensors.emplace_back(of_model->second, std::move(*found->second));
    } else {
      // An input of the model stays beside its scaled one.
      RSHIFT_REQUIRE(named.contains(of_model->second), ErrorCode::kInvalidInput, where,
                     ": equalizes ", table.equalization.size(), " tensors and has no range of '",
                     of_model->second,
                     "' as the model has it (an older model_calibrate made it); "
                     "calibrate again");
    }
  }
  table.tensors = std::move(tensors);
  table.equalization.clear();
  table.unequalized.clear();
  return table;
}

}  // namespace rshift
