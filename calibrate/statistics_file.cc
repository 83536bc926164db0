// The .stats file, little-endian:
//   8 bytes magic, u32 version, u32 CRC32C of everything behind the header, u64 size of that; then
//   text model_sha256, i32 pass_list_version, text preprocess,
//   u32 count, (text key, text value)...          environment, ascending keys
//   u32 count, (text hash, text name)...          samples, ascending
//   u32 count, (text hash, text name, u32 sources,
//     (text input, u64 index, u32 paths, text...)...)...   recorded samples
//   u32 count, (text set, u32 count, u32 index).. shards of incomplete sets, ascending
//   u32 count, (as a recorded sample)...           samples with a tensor's min or max, ascending
//   u32 count, tensors: text name, f32 min, f32 max, u32 min sample, u32 max sample (places in the
//     list above from 1, 0: nobody knows), u64 count, u64 zeros, u64 infinities, u32 peaks, (u16
//     bin, u64 samples)...,   ascending u32 pages, (u16 page, u16 bins, (u16 bin, u64 count)...)...
//     both ascending, counts > 0
//   u32 count, (text tensor, u32 channels, i32...)...   exponents of equalized tensors
//   u32 count, (text tensor, u32 channels, i32...)...   of those that are left to a trial
// A text is u32 size and its bytes. One content has one encoding, that of version 5. Older ones are
// still read: 4 has no trial, 3 no samples of min and max either, 2 no exponents, 1 no recorded
// samples, shards, infinities and peaks.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <string_view>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "calibrate/statistics.h"
#include "calibrate/statistics_stream.h"
#include "calibrate/statistics_words.h"

namespace rshift {
namespace {

constexpr std::string_view kMagic("RSTATS\x1a\0", 8);
constexpr uint32_t kVersion = 5, kOldestVersion = 1;
constexpr uint32_t kRecordedSince = 2, kEqualizationSince = 3, kExtremesSince = 4;
constexpr uint32_t kTrialSince = 5;
constexpr size_t kHeaderSize = 24;
// At most 8 KiB each: what a small crafted file may make the reader allocate stays below 2 GiB.
constexpr size_t kMaxPages = size_t{1} << 18;
constexpr uint32_t kPageIds = 512;  // sign and exponent
constexpr uint32_t kInfinityExponent = 255;
constexpr uint32_t kPeakBins = kInfinityExponent * 4;
constexpr uint32_t kMaxShards = 1 << 20;
constexpr uint64_t kMaxCount = uint64_t{1} << 56;  // sums of 256 files cannot overflow

// Samples with the minimum or maximum of a tensor, ascending.
using ExtremeSamples = std::vector<RecordedSample>;

// Where a sample is in `extremes`, from 1; 0: nobody knows it.
uint32_t PlaceOf(const RecordedSample& sample, const ExtremeSamples& extremes) {
  if (sample.sha256.empty()) return 0;
  const auto at = std::lower_bound(extremes.begin(), extremes.end(), sample);
  return static_cast<uint32_t>(at - extremes.begin()) + 1;
}

ExtremeSamples ExtremesOf(const std::vector<TensorStatistics>& tensors) {
  std::set<RecordedSample> found;
  for (const TensorStatistics& tensor : tensors) {
    for (const RecordedSample* sample : {&tensor.min_sample, &tensor.max_sample})
      if (!sample->sha256.empty()) found.insert(*sample);
  }
  return {found.begin(), found.end()};
}

void WriteTensor(const TensorStatistics& tensor, const ExtremeSamples& extremes,
                 StatisticsWriter& out) {
  out.PutText(tensor.name);
  out.Put(std::bit_cast<uint32_t>(tensor.min));
  out.Put(std::bit_cast<uint32_t>(tensor.max));
  out.Put(PlaceOf(tensor.min_sample, extremes));
  out.Put(PlaceOf(tensor.max_sample, extremes));
  out.Put(tensor.count);
  out.Put(tensor.histogram.zeros);
  out.Put(tensor.infinities);
  out.Put(static_cast<uint32_t>(tensor.peaks.size()));
  for (const auto& [bin, samples] : tensor.peaks) {
    out.Put(static_cast<uint16_t>(bin));
    out.Put(samples);
  }
  out.Put(static_cast<uint32_t>(tensor.histogram.pages.size()));
  for (const auto& [page, counts] : tensor.histogram.pages) {
    out.Put(static_cast<uint16_t>(page));
    uint16_t used = 0;
    for (size_t bin = 0; bin < HistogramPage::kBins; ++bin) used += counts[bin] != 0 ? 1 : 0;
    out.Put(used);
    for (size_t bin = 0; bin < HistogramPage::kBins; ++bin) {
      if (counts[bin] == 0) continue;
      out.Put(static_cast<uint16_t>(bin));
      out.Put(counts[bin]);
    }
  }
}

// Returns the sum of the page's counts.
uint64_t ReadPage(StatisticsReader& in, uint32_t page, HistogramPage& counts) {
  const uint32_t used = in.Get<uint16_t>("a page");
  if (used == 0 || used > HistogramPage::kBins) in.Bad("page ", page, " has ", used, " bins");
  int previous = -1;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < used; ++i) {
    const int bin = in.Get<uint16_t>("a bin");
    const uint64_t count = in.Get<uint64_t>("a bin");
    if (bin <= previous || bin >= Histogram::kPageBins)
      in.Bad("bin ", bin, " follows bin ", previous);
    if (count == 0 || count > kMaxCount || sum + count > kMaxCount)
      in.Bad("impossible count ", count);
    counts.Add(static_cast<size_t>(bin), count);
    sum += count;
    previous = bin;
  }
  return sum;
}

void CheckRange(StatisticsReader& in, const TensorStatistics& tensor) {
  if (tensor.count == 0) return;
  const std::vector<WeightedBin> bins = Bins(tensor);
  const bool finite =
      std::isfinite(tensor.min) && std::isfinite(tensor.max) && tensor.min <= tensor.max;
  // Negative bins are (low, high] in truth: the borders may belong to either side.
  if (!finite || tensor.min < bins.front().low || tensor.min > bins.front().high ||
      tensor.max < bins.back().low || tensor.max > bins.back().high) {
    in.Bad("tensor '", tensor.name, "': minimum or maximum does not fit the histogram");
  }
}

void ReadPeaks(StatisticsReader& in, TensorStatistics& tensor) {
  int64_t previous = -1;
  for (uint32_t left = in.GetCount(10, "peaks"); left > 0; --left) {
    const uint32_t bin = in.Get<uint16_t>("a peak");
    const uint64_t samples = in.Get<uint64_t>("a peak");
    if (bin <= previous || bin >= kPeakBins) in.Bad("peak bin ", bin, " follows ", previous);
    if (samples == 0 || samples > kMaxCount) in.Bad("impossible count ", samples);
    tensor.peaks[bin] = samples;
    previous = bin;
  }
}

void ReadShards(StatisticsReader& in, StatisticsFile& file) {
  for (uint32_t left = in.GetCount(12, "shards"); left > 0; --left) {
    ShardId shard;
    shard.set = in.GetText("a shard");
    shard.count = in.Get<uint32_t>("a shard");
    shard.index = in.Get<uint32_t>("a shard");
    if (shard.count > kMaxShards || shard.index >= shard.count)
      in.Bad("shard ", shard.index, " of ", shard.count);
    if (!file.shards.empty() && shard <= file.shards.back()) in.Bad("shards out of order");
    file.shards.push_back(std::move(shard));
  }
}

RecordedSample ReadExtreme(StatisticsReader& in, const ExtremeSamples& extremes) {
  const auto place = in.Get<uint32_t>("a sample's place");
  if (place > extremes.size()) in.Bad("sample ", place, " of ", extremes.size());
  return place == 0 ? RecordedSample() : extremes[place - 1];
}

TensorStatistics ReadTensor(StatisticsReader& in, uint32_t version, const ExtremeSamples& extremes,
                            size_t& pages_left) {
  TensorStatistics tensor;
  tensor.name = in.GetText("a tensor name");
  tensor.min = std::bit_cast<float>(in.Get<uint32_t>("a minimum"));
  tensor.max = std::bit_cast<float>(in.Get<uint32_t>("a maximum"));
  if (version >= kExtremesSince) {
    tensor.min_sample = ReadExtreme(in, extremes);
    tensor.max_sample = ReadExtreme(in, extremes);
  }
  tensor.count = in.Get<uint64_t>("a count");
  tensor.histogram.zeros = in.Get<uint64_t>("a count");
  if (tensor.count > kMaxCount || tensor.histogram.zeros > tensor.count)
    in.Bad("impossible count of values");
  if (version >= kRecordedSince) {
    tensor.infinities = in.Get<uint64_t>("a count");
    if (tensor.infinities > kMaxCount) in.Bad("impossible count of infinities");
    ReadPeaks(in, tensor);
  }
  const uint32_t pages = in.GetCount(14, "pages");
  if (pages > kPageIds || pages > pages_left) in.Bad("too many pages");
  pages_left -= pages;
  uint64_t sum = tensor.histogram.zeros;
  int64_t previous = -1;
  for (uint32_t i = 0; i < pages; ++i) {
    const uint32_t page = in.Get<uint16_t>("a page");
    if (page <= previous || page >= kPageIds || (page & 0xff) == kInfinityExponent)
      in.Bad("page ", page, " is wrong");
    previous = page;
    sum += ReadPage(in, page, tensor.histogram.pages[page]);
  }
  if (sum != tensor.count)
    in.Bad("tensor '", tensor.name, "': the histogram counts ", sum, " of ", tensor.count);
  CheckRange(in, tensor);
  return tensor;
}

void WriteRecorded(const std::vector<RecordedSample>& samples, StatisticsWriter& out) {
  out.Put(static_cast<uint32_t>(samples.size()));
  for (const RecordedSample& sample : samples) {
    out.PutText(sample.sha256);
    out.PutText(sample.name);
    out.Put(static_cast<uint32_t>(sample.sources.size()));
    for (const SampleSource& source : sample.sources) {
      out.PutText(source.input);
      out.Put(static_cast<uint64_t>(source.index));
      out.Put(static_cast<uint32_t>(source.paths.size()));
      for (const std::string& path : source.paths) out.PutText(path);
    }
  }
}

std::vector<RecordedSample> ReadSamples(StatisticsReader& in) {
  std::vector<RecordedSample> samples(in.GetCount(12, "recorded samples"));
  for (RecordedSample& sample : samples) {
    sample.sha256 = in.GetText("a recorded sample");
    sample.name = in.GetText("a recorded sample");
    sample.sources.resize(in.GetCount(16, "sources"));
    for (SampleSource& source : sample.sources) {
      source.input = in.GetText("a source");
      source.index = static_cast<int64_t>(in.Get<uint64_t>("a source"));
      if (source.index < 0) in.Bad("sample index ", source.index);
      source.paths.resize(in.GetCount(4, "paths"));
      for (std::string& path : source.paths) path = in.GetText("a path");
    }
  }
  return samples;
}

std::vector<RecordedSample> ReadRecorded(StatisticsReader& in) {
  std::vector<RecordedSample> samples = ReadSamples(in);
  std::vector<RecordedSample> kept = samples;
  KeepLowest(kept);
  if (kept != samples) in.Bad("recorded samples out of order, or more than are kept");
  return samples;
}

void WriteEqualization(const Equalization& equalization, StatisticsWriter& out) {
  out.Put(static_cast<uint32_t>(equalization.size()));
  for (const ChannelExponents& entry : equalization) {
    out.PutText(entry.tensor);
    out.Put(static_cast<uint32_t>(entry.exponents.size()));
    for (const int32_t exponent : entry.exponents) out.Put(static_cast<uint32_t>(exponent));
  }
}

Equalization ReadEqualization(StatisticsReader& in) {
  Equalization equalization(in.GetCount(8, "equalized tensors"));
  for (ChannelExponents& entry : equalization) {
    entry.tensor = in.GetText("an equalized tensor");
    entry.exponents.resize(in.GetCount(4, "exponents"));
    for (int32_t& exponent : entry.exponents) {
      exponent = static_cast<int32_t>(in.Get<uint32_t>("an exponent"));
      if (exponent < -kMaxChannelExponent || exponent > kMaxChannelExponent)
        in.Bad("exponent ", exponent);
    }
  }
  return equalization;
}

std::span<const uint8_t> CheckHeader(std::span<const uint8_t> bytes, const std::string& where,
                                     uint32_t& version) {
  const bool ours =
      bytes.size() >= kHeaderSize && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  RSHIFT_REQUIRE(ours, ErrorCode::kCorrupt, where,
                 ": not a statistics file, or cut off within its header", KindNote(bytes));
  StatisticsReader header(bytes.subspan(kMagic.size(), kHeaderSize - kMagic.size()), where);
  version = header.Get<uint32_t>("the header");
  const auto crc = header.Get<uint32_t>("the header");
  const auto size = header.Get<uint64_t>("the header");
  RSHIFT_REQUIRE(version >= kOldestVersion && version <= kVersion, ErrorCode::kCorrupt, where,
                 ": statistics version ", version, ", expected ", kOldestVersion, " to ", kVersion);
  const std::span<const uint8_t> content = bytes.subspan(kHeaderSize);
  RSHIFT_REQUIRE(content.size() == size, ErrorCode::kCorrupt, where, ": has ", content.size(),
                 " bytes of content, expected ", size, "; the file is cut off");
  RSHIFT_REQUIRE(Crc32c(content) == crc, ErrorCode::kCorrupt, where,
                 ": the checksum is wrong; the file is damaged");
  return content;
}

void PutContent(const StatisticsFile& file, StatisticsWriter& out) {
  out.PutText(file.model_sha256);
  out.Put(static_cast<uint32_t>(file.pass_list_version));
  out.PutText(file.preprocess);
  out.Put(static_cast<uint32_t>(file.environment.size()));
  for (const auto& [key, value] : file.environment) {
    out.PutText(key);
    out.PutText(value);
  }
  out.Put(static_cast<uint32_t>(file.samples.size()));
  for (const auto& [hash, name] : file.samples) {
    out.PutText(hash);
    out.PutText(name);
  }
  WriteRecorded(file.recorded, out);
  out.Put(static_cast<uint32_t>(file.shards.size()));
  for (const ShardId& shard : file.shards) {
    out.PutText(shard.set);
    out.Put(shard.count);
    out.Put(shard.index);
  }
  const ExtremeSamples extremes = ExtremesOf(file.tensors);
  WriteRecorded(extremes, out);
  out.Put(static_cast<uint32_t>(file.tensors.size()));
  size_t pages = 0;
  for (const TensorStatistics& tensor : file.tensors) {
    pages += tensor.histogram.pages.size();
    WriteTensor(tensor, extremes, out);
  }
  RSHIFT_REQUIRE(pages <= kMaxPages, ErrorCode::kUnsupported, "the statistics have ", pages,
                 " histogram pages, a file holds at most ", kMaxPages);
  WriteEqualization(file.equalization, out);
  WriteEqualization(file.trial, out);
  out.Flush();
}

}  // namespace

void StreamStatistics(const StatisticsFile& file,
                      const std::function<void(std::span<const uint8_t>)>& sink,
                      const std::function<void(uint64_t size)>& begin) {
  uint64_t size = 0;
  uint32_t checksum = 0;
  StatisticsWriter measured([&](std::span<const uint8_t> piece) {
    size += piece.size();
    checksum = Crc32c(piece, checksum);
  });
  PutContent(file, measured);
  begin(kHeaderSize + size);
  sink({reinterpret_cast<const uint8_t*>(kMagic.data()), kMagic.size()});
  StatisticsWriter out(sink);
  out.Put(kVersion);
  out.Put(checksum);
  out.Put(size);
  PutContent(file, out);
}

std::vector<uint8_t> WriteStatistics(const StatisticsFile& file) {
  std::vector<uint8_t> bytes;
  StreamStatistics(
      file,
      [&](std::span<const uint8_t> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
      },
      [&](uint64_t size) { bytes.reserve(size); });
  return bytes;
}

StatisticsFile ReadStatistics(std::span<const uint8_t> bytes, const std::string& where) {
  uint32_t version = 0;
  StatisticsReader in(CheckHeader(bytes, where, version), where);
  StatisticsFile file;
  file.model_sha256 = in.GetText("the model's hash");
  file.pass_list_version = static_cast<int32_t>(in.Get<uint32_t>("the pass list version"));
  file.preprocess = in.GetText("the preprocessing");
  for (uint32_t left = in.GetCount(8, "environment entries"); left > 0; --left) {
    const std::string key = in.GetText("the environment");
    if (!file.environment.empty() && key <= file.environment.rbegin()->first)
      in.Bad("environment out of order");
    file.environment[key] = in.GetText("the environment");
  }
  for (uint32_t left = in.GetCount(8, "samples"); left > 0; --left) {
    std::string hash = in.GetText("a sample"), name = in.GetText("a sample");
    file.samples.emplace_back(std::move(hash), std::move(name));
    const size_t count = file.samples.size();
    if (count > 1 && file.samples[count - 1] < file.samples[count - 2])
      in.Bad("samples out of order");
  }
  if (version >= kRecordedSince) file.recorded = ReadRecorded(in);
  if (version >= kRecordedSince) ReadShards(in, file);
  ExtremeSamples extremes;
  if (version >= kExtremesSince) extremes = ReadSamples(in);
  size_t pages_left = kMaxPages;
  for (uint32_t left = in.GetCount(32, "tensors"); left > 0; --left)
    file.tensors.push_back(ReadTensor(in, version, extremes, pages_left));
  // Neither out of order nor without a tensor that has it.
  if (extremes != ExtremesOf(file.tensors)) in.Bad("samples of extremes are not those of tensors");
  if (version >= kEqualizationSince) file.equalization = ReadEqualization(in);
  if (version >= kTrialSince) file.trial = ReadEqualization(in);
  if (!in.AtEnd()) in.Bad("bytes behind the last entry");
  return file;
}

}  // namespace rshift
