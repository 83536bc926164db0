#include "pipeline/unequalized.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "quantize/ranges/equalization.h"

namespace rshift {

StatisticsFile TakeUnequalized(StatisticsFile* statistics) {
  std::vector<TensorStatistics> all = std::move(statistics->tensors);
  statistics->tensors.clear();
  StatisticsFile taken = *statistics;
  taken.equalization.clear();
  const auto first = std::find_if(all.begin(), all.end(), [](const TensorStatistics& tensor) {
    return tensor.name.ends_with(kUnequalizedSuffix);
  });
  taken.tensors.assign(std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
  statistics->tensors = std::move(all);
  for (TensorStatistics& tensor : taken.tensors)
    tensor.name.resize(tensor.name.size() - kUnequalizedSuffix.size());
  return taken;
}

void PutBackUnequalized(StatisticsFile unequalized, StatisticsFile* statistics) {
  for (TensorStatistics& tensor : unequalized.tensors) {
    tensor.name += kUnequalizedSuffix;
    statistics->tensors.push_back(std::move(tensor));
  }
}

}  // namespace rshift
