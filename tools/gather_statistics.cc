#include "tools/gather_statistics.h"

#include <array>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace rshift {
namespace {

// Statistics, or why there are none: the first byte says which.
enum class Kind : uint8_t { kStatistics, kError };

struct Outcome {
  StatisticsFile statistics;
  std::string error;
};

Outcome Try(const std::function<StatisticsFile()>& measure) {
  try {
    return {measure(), ""};
  } catch (const std::bad_alloc&) {
    return {{}, "out of memory"};
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
}

std::vector<uint8_t> Packed(const Outcome& outcome) {
  std::vector<uint8_t> bytes{
      static_cast<uint8_t>(outcome.error.empty() ? Kind::kStatistics : Kind::kError)};
  const std::vector<uint8_t> content =
      outcome.error.empty() ? WriteStatistics(outcome.statistics)
                            : std::vector<uint8_t>(outcome.error.begin(), outcome.error.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

// The error of the lower rank, which `into` is, goes first.
void Take(Outcome& into, const std::vector<uint8_t>& bytes, int from) {
  if (!into.error.empty()) return;
  const std::span<const uint8_t> content = std::span(bytes).subspan(1);
  if (bytes.at(0) == static_cast<uint8_t>(Kind::kError)) {
    into.error = std::string(content.begin(), content.end());
    return;
  }
  const StatisticsFile other = ReadStatistics(content, Cat("rank ", from));
  into.error = Try([&] {
                 Merge(into.statistics, other);
                 return StatisticsFile();
               }).error;
}

}  // namespace

std::optional<StatisticsFile> GatherStatistics(MpiGroup& group,
                                               const std::function<StatisticsFile()>& measure) {
  Outcome outcome = Try(measure);
  for (int step = 1; step < group.size(); step *= 2) {
    if (group.rank() % (2 * step) != 0) {
      group.Send(group.rank() - step, Packed(outcome));
      return std::nullopt;
    }
    const int other = group.rank() + step;
    if (other < group.size()) Take(outcome, group.Receive(other), other);
  }
  if (!outcome.error.empty()) Fail(ErrorCode::kInvalidInput, outcome.error);
  return std::move(outcome.statistics);
}

int FinishInGroup(MpiGroup& group, const std::function<int()>& work) {
  const auto tell = [&](uint8_t code) {
    for (int rank = 1; rank < group.size(); ++rank) group.Send(rank, std::array<uint8_t, 1>{code});
  };
  if (group.rank() != 0) return group.Receive(0).at(0);
  try {
    const int code = work();
    tell(static_cast<uint8_t>(code));
    return code;
  } catch (...) {
    tell(1);
    throw;
  }
}

}  // namespace rshift
