// Mel filters and the cosine transform of their logarithms.
#ifndef RSHIFT_PREPROCESS_MEL_H_
#define RSHIFT_PREPROCESS_MEL_H_

#include <cstddef>
#include <span>
#include <vector>

#include "preprocess/audio_recipe.h"

namespace rshift {

// One triangle: its weights for the frequencies from `first` on; those left out are 0.
struct MelFilter {
  size_t first = 0;
  std::vector<double> weights;
};
std::vector<MelFilter> MakeMelFilters(const MelFilters& recipe, int sample_rate, int fft);
double Through(const MelFilter& filter, std::span<const double> spectrum);

// The weights of the inputs, behind one another for each coefficient: DCT of type II,
// sqrt(2 / bins) * cos(pi * k * (2 b + 1) / (2 bins)), with norm ortho sqrt(1 / 2) of it for k = 0.
std::vector<double> MakeCosines(const CosineTransform& recipe, int bins);

}  // namespace rshift

#endif  // RSHIFT_PREPROCESS_MEL_H_
