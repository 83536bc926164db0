// What AIMET's encodings of versions 0 and 1 share. An encoding is real = (q + offset) * scale with
// unsigned q in 0..2^bits - 1; of signed integers around 0 it says is_symmetric and an offset of
// -2^(bits-1). Layers that it leaves out of quantization are listed as excluded_layers.
#ifndef RSHIFT_INTEROP_AIMET_H_
#define RSHIFT_INTEROP_AIMET_H_

#include <string>
#include <vector>

#include "interop/json_file.h"
#include "interop/scale_set.h"

namespace rshift {

// True for a text with activation_encodings of version 0 ('0') or 1 ('1'); of version 2, which is
// not read, for '1' too.
bool IsAimet(const std::string& text, char major);

struct AimetEncoding {
  int64_t bits = 8;
  bool is_float = false, is_symmetric = false;
  std::vector<double> scales = {};
  std::vector<int64_t> offsets = {};  // as many, or none
};

ScaleEntry FromAimet(const std::string& name, Subject subject, const AimetEncoding& encoding,
                     const std::string& what);
AimetEncoding ToAimet(const ScaleEntry& entry, bool symmetric);
// Counts what AIMET cannot hold; false: the entry is left out.
bool AimetTakes(const ScaleEntry& entry, Losses* losses);
void CountAimetLosses(const ScaleSet& set, Losses* losses);

// Precision F32 of layers, in and out.
void ReadExcluded(const Json& json, const std::string& where, ScaleSet* set);
Json ExcludedLayers(const ScaleSet& set);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_AIMET_H_
