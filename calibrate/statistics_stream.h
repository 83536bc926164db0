// A .stats file written piece by piece: as a whole it would be the largest thing in memory.
#ifndef RSHIFT_CALIBRATE_STATISTICS_STREAM_H_
#define RSHIFT_CALIBRATE_STATISTICS_STREAM_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "calibrate/statistics.h"

namespace rshift {

// Gives the bytes of WriteStatistics to `sink`, in order; `begin` hears their number first. The
// header has the size and the checksum of the content, which is therefore made twice.
void StreamStatistics(const StatisticsFile& file,
                      const std::function<void(std::span<const uint8_t>)>& sink,
                      const std::function<void(uint64_t size)>& begin);

// The file of these bytes, by WriteFileAtomic's rules.
void SaveStatistics(const std::string& path, const StatisticsFile& file);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_STATISTICS_STREAM_H_
