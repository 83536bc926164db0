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
    const std::string& plain = of_model == scaled.end() ? name : of_model->second;
    if (const auto found = own.find(plain); found != own.end()) {
      tensors.emplace_back(plain, std::move(*found->second));
      continue;
    }
    if (of_model == scaled.end()) {
      tensors.emplace_back(name, std::move(range));
      continue;
    }
    // An input of the model stays beside its scaled one.
    RSHIFT_REQUIRE(named.contains(plain), ErrorCode::kInvalidInput, where, ": equalizes ",
                   table.equalization.size(), " tensors and has no range of '", plain,
                   "' as the model has it (an older model_calibrate made it); calibrate again");
  }
  table.tensors = std::move(tensors);
  table.equalization.clear();
  table.unequalized.clear();
  table.trial.clear();
  table.trial_tensors.clear();
  return table;
}

CalibrationTable WithTrial(CalibrationTable table) {
  std::map<std::string, TensorRange*> scaled;  // by the model's name
  for (auto& [name, range] : table.trial_tensors) scaled[ModelName(name)] = &range;
  std::vector<std::pair<std::string, TensorRange>> tensors;
  for (auto& [name, range] : table.tensors) {
    const auto found = scaled.find(name);
    if (found == scaled.end()) {
      tensors.emplace_back(name, std::move(range));
      continue;
    }
    tensors.emplace_back(Cat(name, kEqualizedSuffix), std::move(*found->second));
    table.unequalized.emplace_back(name, std::move(range));
  }
  table.tensors = std::move(tensors);
  table.equalization.insert(table.equalization.end(), table.trial.begin(), table.trial.end());
  table.trial.clear();
  table.trial_tensors.clear();
  return table;
}

}  // namespace rshift
