// Which factors between channels make a network's products lose less to 8 bits.
#ifndef RSHIFT_QUANTIZE_EQUALIZE_CHOOSE_H_
#define RSHIFT_QUANTIZE_EQUALIZE_CHOOSE_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "quantize/equalize/channel_groups.h"
#include "quantize/ranges/equalization.h"

namespace rshift {

// What was measured of the channels of one tensor (indices of its last dimension).
struct ChannelRanges {
  std::vector<float> peak;     // the largest |x|
  std::vector<double> square;  // the mean of x^2
};
using MeasuredChannels = std::map<std::string, ChannelRanges>;  // by tensor

// The tensors that ChooseEqualization wants measured, in graph order: those whose channels are free
// (channel_groups.h) and read by products of constant weights or functions, directly or through
// others, and what all such products read. Empty: nothing can be equalized.
std::vector<ValueId> EqualizableValues(const Graph& graph, EqualizeThrough through);

// Tensors that share channels are decided together. They are scaled where the products that read
// them would leave the network's outputs less than kEqualizeBelowDb of signal to noise, and gain
// kEqualizeGainDb by it, both estimated (noise.h): elsewhere the ranges that calibration finds say
// more than the estimate, which moves by half a dB with the choice of samples. There they are left
// to a trial of the integer programs (pipeline/equalization_trial.h), down to kTryGainDb: the
// denoiser of docs/int16.md gains 2 dB by it, the autoencoder loses as much. An input of the model
// is never tried. Tensors that functions read or make are scaled wherever that wins them one bit:
// there is one such tensor for every layer, and what each of many layers adds, none of them shows
// alone (YOLOX-Nano, symmetric, finds 87 % of its boxes; 47 % with the limit of the others).
// What wins them less is tried, too: PP-OCR's recognizer gains 2 dB. Deterministic.
inline constexpr double kEqualizeBelowDb = 19, kEqualizeGainDb = 3;
inline constexpr double kEqualizeFunctionsBelowDb = 60, kEqualizeFunctionsGainDb = 6;
inline constexpr double kTryBelowDb = 60, kTryGainDb = 1;

struct EqualizedTensors {
  std::vector<std::string> tensors;    // decided together, in graph order
  double before_db = 0, after_db = 0;  // estimated signal to noise of the products that read them
};
struct EqualizationChoice {
  Equalization equalization;
  std::vector<EqualizedTensors> gains;  // of those, worst before first
  Equalization trial;                   // tensors to be tried, beside those
};
// `graph`: after RunPasses.
EqualizationChoice ChooseEqualization(const Graph& graph, EqualizeThrough through,
                                      const MeasuredChannels& measured);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_EQUALIZE_CHOOSE_H_
