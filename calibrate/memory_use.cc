#include "calibrate/memory_use.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "calibrate/statistics.h"
#include "quantize/ranges/known_bounds.h"

namespace rshift {
namespace {

constexpr double kOctavesOfTail = 2;  // above most of the values
constexpr double kMostOctaves = 254;  // of a sign

constexpr uint64_t kFirstRun = 1 << 20;      // of libraries, once they run
constexpr uint64_t kPictureBytes = 1 << 20;  // decoded and resized, if it is one

double PagesOfSign(double values) {
  return values < 1 ? 0 : std::min(std::log2(values) + kOctavesOfTail, kMostOctaves);
}

}  // namespace

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t whole = 0, resident = 0;
  if (!(file >> whole >> resident)) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Not getrusage: that counts what this process was before it became this program.
uint64_t PeakResidentBytes() {
  constexpr std::string_view kName = "VmHWM:";
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kName))
      return std::strtoull(line.c_str() + kName.size(), nullptr, 10) << 10;  // "    1234 kB"
  }
  return 0;
}

uint64_t ExpectedPages(const Graph& graph, const std::vector<ValueId>& values, size_t samples) {
  const std::vector<KnownBounds> bounds = FindKnownBounds(graph);
  double pages = 0;
  for (const ValueId id : values) {
    const double count =
        static_cast<double>(NumElements(graph.value(id).shape)) * static_cast<double>(samples);
    const KnownBounds& known = bounds[id.index()];
    // A Relu makes zeros of about half of the values, which have no page.
    if (known.low >= 0 || known.high <= 0)
      pages += PagesOfSign(count / 2);
    else
      pages += 2 * PagesOfSign(count / 2);
  }
  return static_cast<uint64_t>(pages);
}

void ReturnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

uint64_t ExpectedPeak(const MemoryPlan& plan) {
  // Few octaves have a count of more than 32 bits.
  constexpr uint64_t kPage = Histogram::kPageBins * sizeof(uint32_t);
  const uint64_t histograms = plan.pages * kPage;
  // Each thread has a sample in its hands and as many wait; one more thread reads.
  const uint64_t samples = (2 * plan.threads + 1) * plan.sample_bytes +
                           (plan.pictures ? (plan.threads + 1) * kPictureBytes : 0);
  return std::max(PeakResidentBytes(), ResidentBytes() + kFirstRun + histograms + samples);
}

}  // namespace rshift
