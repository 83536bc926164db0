// Statistics of random values.
#ifndef RSHIFT_TESTS_CALIBRATE_RANDOM_STATISTICS_H_
#define RSHIFT_TESTS_CALIBRATE_RANDOM_STATISTICS_H_

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "calibrate/statistics.h"

namespace rshift {

inline TensorStatistics Empty(const std::string& name) {
  TensorStatistics statistics;
  statistics.name = name;
  return statistics;
}

inline std::vector<float> RandomValues(std::mt19937& random, int count) {
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back(random() % 5 == 0 ? 0.0f : std::exp(normal(random)) * normal(random));
  return values;
}

}  // namespace rshift

#endif  // RSHIFT_TESTS_CALIBRATE_RANDOM_STATISTICS_H_
