#include "graph/level_reading.h"

#include <algorithm>
#include <cmath>

namespace rshift {

std::optional<LevelReading> ReadLevels(float low, float high, int64_t levels) {
  const auto steps = static_cast<double>(levels - 1);
  if (!std::isfinite(low) || !std::isfinite(high)) return std::nullopt;
  if (low == 0 && high == 0) return LevelReading{};
  if (!(low < high)) return std::nullopt;
  const double scale = (static_cast<double>(high) - static_cast<double>(low)) / steps;
  const double zero = -static_cast<double>(low) / scale;
  const double nearest = std::nearbyint(zero);
  if (nearest < 0 || nearest > steps) return std::nullopt;
  LevelReading reading{scale, static_cast<int32_t>(nearest), low, high, false};
  if (std::fabs(zero - nearest) <= kZeroPointTolerance) return reading;
  if (zero < 0 || zero > steps) return std::nullopt;
  // The smaller scale that reaches both ends.
  const double below = nearest > 0 ? -static_cast<double>(low) / nearest : 0;
  const double above = nearest < steps ? static_cast<double>(high) / (steps - nearest) : 0;
  reading.scale = std::max(below, above);
  reading.low = static_cast<float>(-nearest * reading.scale);
  reading.high = static_cast<float>((steps - nearest) * reading.scale);
  reading.tuned = true;
  return reading;
}

}  // namespace rshift
