// One look at the values of a tensor, channel by channel. Not for use outside calibrate/ and its
// tests.
#ifndef RSHIFT_CALIBRATE_CHANNEL_SCAN_H_
#define RSHIFT_CALIBRATE_CHANNEL_SCAN_H_

#include <cstddef>
#include <span>
#include <vector>

namespace rshift {

// Of the channels of one tensor.
struct ChannelSums {
  std::vector<float> peak;      // the largest |x|
  std::vector<double> squares;  // the sum of x^2
};

// `values`: rows of `channels` (> 0) values. What is not finite counts as 0. The same bits on every
// CPU: the order of each sum is fixed, and the product of two floats is exact in a double.
ChannelSums ScanChannels(std::span<const float> values, size_t channels);

// All forms of it that this CPU can run; the last is the one that runs. Adds to peak and squares,
// of `channels` each, what `rows` rows hold.
using ChannelScanFunction = void (*)(const float* values, size_t rows, size_t channels, float* peak,
                                     double* squares);
std::vector<ChannelScanFunction> ChannelScanForms();

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_CHANNEL_SCAN_H_
