// SQNR channel by channel. One scale for a tensor whose channels differ much in size represents
// the small ones badly; the tensor's own SQNR, which the large ones decide, does not show it.
#ifndef RSHIFT_PIPELINE_CHANNEL_ERROR_H_
#define RSHIFT_PIPELINE_CHANNEL_ERROR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

// Elements in memory order seen as [outer, channels, inner].
struct ChannelView {
  int64_t outer = 1, channels = 1, inner = 1;
};

// How the elements of a dense tensor fall into channels: the last dimension of NHWC and of two
// dimensions, the second of four and more. Of three dimensions either the second or the third may
// be the channels (tokens x features, channels x time): both views.
std::vector<ChannelView> ChannelViews(Layout layout, const Shape& shape);

struct ChannelSqnr {
  int64_t channels = 0;  // that are not all zero in the reference; with none, the rest is 200
  double median_db = 200, worst_decile_db = 200, worst_db = 200;
  int64_t worst_channel = -1;
};

// Sums over any number of pieces of one tensor (one per sample).
class ChannelErrorSum {
 public:
  explicit ChannelErrorSum(const std::vector<ChannelView>& views);
  // a: under test, b: the reference, in the order of the views.
  void Add(std::span<const float> a, std::span<const float> b);
  // Of the view whose median is lowest. SQNR as in compare.h; a channel with a NaN has -200.
  ChannelSqnr Result() const;

 private:
  struct Sums {
    ChannelView view;
    std::vector<double> power, error;  // by channel
  };
  std::vector<Sums> sums_;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CHANNEL_ERROR_H_
