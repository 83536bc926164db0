#include "calibrate/find_bad_samples.h"

#include <optional>

#include "base/error.h"
#include "calibrate/observed_program.h"

namespace rshift {

std::vector<BadSample> FindBadSamples(const Dataset& dataset, const FindBadOptions& options) {
  const auto count = static_cast<size_t>(dataset.size());
  std::vector<std::string> errors(count);
  ProgressReport progress("looking for bad samples", dataset.size(), options.progress);
  ForEachIndex(options.threads, count, [&]() -> IndexWork {
    return [&](size_t index) {
      RSHIFT_REQUIRE(!options.interrupted || !options.interrupted(), ErrorCode::kIo,
                     "interrupted while looking for bad samples");
      try {
        dataset.Read(static_cast<int64_t>(index));
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kInvalidInput) throw;
        errors[index] = error.what();
      }
      progress.Advance();
    };
  });
  std::vector<BadSample> bad;
  for (size_t i = 0; i < count; ++i) {
    const auto index = static_cast<int64_t>(i);
    if (!errors[i].empty()) bad.push_back({index, dataset.name(index), errors[i]});
  }
  return bad;
}

}  // namespace rshift
