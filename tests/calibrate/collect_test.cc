// The bundled model calibrated on a few Fashion-MNIST images: threads, shards, interruption, bad
// samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/atomic_file.h"
#include "calibrate/calibrate.h"
#include "calibrate/memory_use.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "quantize/ranges/ranges.h"
#include "runtime/onednn/float_library.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kImages = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";

class CollectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kImages))
      GTEST_SKIP() << "needs Debian's dataset-fashion-mnist: " << kImages;
    const std::string source = std::getenv("RSHIFT_SOURCE_DIR");
    RegisterFloatLibrary();
    graph_ = RunPasses(ImportOnnx(source + "/examples/fashion_mnist/model.onnx", {}));
    const std::string recipe = source + "/configs/preprocess/fashion_mnist.yaml";
    for (const ValueId id : graph_.inputs)
      specs_.push_back({graph_.value(id).name, graph_.value(id).shape});
    dataset_ = OpenDataset({kImages}, specs_, ReadPreprocess(ReadTextFile(recipe), recipe));
    samples_ = ChooseSamples(dataset_->size(), 120, 1);
  }

  StatisticsFile Collect(const std::vector<int64_t>& samples, CollectOptions options) {
    ObservedProgram program(graph_, /*portable=*/false);
    return CollectStatistics(graph_, program, *dataset_, samples, "recipe", options);
  }
  StatisticsFile Collect(int threads) {
    CollectOptions options;
    options.threads = threads;
    return Collect(samples_, options);
  }

  Graph graph_;
  std::vector<InputSpec> specs_;
  std::unique_ptr<Dataset> dataset_;
  std::vector<int64_t> samples_;
};

TEST_F(CollectTest, EveryCalibratedValueIsSeenOncePerSample) {
  const StatisticsFile file = Collect(2);
  const std::vector<ValueId> values = CalibratedValues(graph_);
  ASSERT_EQ(file.tensors.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = graph_.value(values[i]);
    EXPECT_EQ(file.tensors[i].name, value.name);
    EXPECT_EQ(file.tensors[i].count,
              static_cast<uint64_t>(NumElements(value.shape)) * samples_.size())
        << value.name;
    EXPECT_LT(file.tensors[i].min, file.tensors[i].max) << value.name;
    const RecordedSample& greatest = file.tensors[i].max_sample;
    EXPECT_TRUE(std::binary_search(file.samples.begin(), file.samples.end(),
                                   std::pair(greatest.sha256, greatest.name)))
        << value.name;
    EXPECT_EQ(greatest.sources.size(), 1u);
  }
  EXPECT_EQ(file.samples.size(), samples_.size());
  ASSERT_EQ(file.recorded.size(), kMaxRecordedSamples);
  for (size_t i = 0; i < file.recorded.size(); ++i) {
    EXPECT_EQ(file.recorded[i].sha256, file.samples[i].first);
    EXPECT_EQ(file.recorded[i].sources[0].paths, std::vector<std::string>{kImages});
  }
  EXPECT_EQ(file.model_sha256, graph_.sha256);
  EXPECT_TRUE(file.environment.contains("cpu"));
  EXPECT_TRUE(file.environment.contains("onednn"));
}

TEST_F(CollectTest, ThreadsDoNotMatter) {
  const auto one = WriteStatistics(Collect(1));
  EXPECT_EQ(WriteStatistics(Collect(2)), one);
  EXPECT_EQ(WriteStatistics(Collect(3)), one);
}

TEST_F(CollectTest, PagesAreForeseen) {
  const StatisticsFile file = Collect(2);
  uint64_t pages = 0;
  for (const TensorStatistics& tensor : file.tensors) pages += tensor.histogram.pages.size();
  const uint64_t expected = ExpectedPages(graph_, CalibratedValues(graph_), samples_.size());
  EXPECT_NEAR(static_cast<double>(expected), static_cast<double>(pages),
              0.25 * static_cast<double>(pages));
}

TEST_F(CollectTest, CountsWhereTheTimeGoes) {
  CollectTimes times;
  uint64_t bytes = 0;
  CollectOptions options;
  options.threads = 2;
  options.times = &times;
  options.memory = [&](uint64_t expected) { bytes = expected; };
  const StatisticsFile file = Collect(samples_, options);
  uint64_t observed = 0;
  for (const TensorStatistics& tensor : file.tensors) observed += tensor.count;
  EXPECT_GT(times.elements, 0u);
  EXPECT_LE(times.elements,
            observed);  // tensors that only move others' values are not counted anew
  EXPECT_GT(times.network, 0);
  EXPECT_GT(times.statistics, 0);
  EXPECT_GT(bytes, ResidentBytes() / 2);
}

TEST_F(CollectTest, MergedShardsAreTheWhole) {
  std::vector<int64_t> shards[3];
  for (size_t i = 0; i < samples_.size(); ++i) shards[i % 3].push_back(samples_[i]);
  StatisticsFile merged = Collect(shards[2], {});
  Merge(merged, Collect(shards[0], {}));
  Merge(merged, Collect(shards[1], {}));
  const StatisticsFile whole = Collect(1);
  EXPECT_EQ(WriteStatistics(merged), WriteStatistics(whole));
  EXPECT_EQ(WriteTable(DeriveTable(merged, {})), WriteTable(DeriveTable(whole, {})));
}

TEST_F(CollectTest, InterruptedRunCarriesOn) {
  const TemporaryFolder folder;
  CollectOptions options;
  options.threads = 2;
  options.checkpoint = folder / "partial.stats";
  std::atomic<int> polls = 0;
  options.interrupted = [&] { return ++polls > 70; };
  EXPECT_THAT(ErrorOf([&] { Collect(samples_, options); }),
              HasSubstr("interrupted; carry on with --resume"));
  const StatisticsFile partial = ReadStatistics(ReadFile(options.checkpoint), "partial");
  EXPECT_EQ(partial.samples.size(), 70u);
  options.interrupted = nullptr;
  options.resume = true;
  EXPECT_EQ(WriteStatistics(Collect(samples_, options)), WriteStatistics(Collect(1)));
  EXPECT_THAT(ErrorOf([&] {
                Collect({samples_[0], samples_[1]}, options);
              }),
              HasSubstr("does not use"));
}

TEST_F(CollectTest, ReportsTheFirstBadSampleWhateverTheThreads) {
  const TemporaryFolder folder;
  std::vector<float> values(20 * 28 * 28, 0.5f);
  for (const int bad : {17, 6, 11}) values[bad * 28 * 28 + 3] = std::nanf("");
  WriteNpy(folder / "x.npy", MakeArray<float>("", DType::kF32, {20, 1, 28, 28}, values));
  dataset_ = OpenDataset({folder / "x.npy"}, specs_, std::nullopt);
  for (const int threads : {1, 2, 4}) {
    CollectOptions options;
    options.threads = threads;
    EXPECT_THAT(ErrorOf([&] { Collect(ChooseSamples(20, 0, 0), options); }), HasSubstr("x.npy:6: "))
        << threads;
  }
}

TEST_F(CollectTest, ABadSampleCostsNoneOfTheOthers) {
  const TemporaryFolder folder;
  std::vector<float> values(120 * 28 * 28, 0.5f);
  for (size_t i = 0; i < values.size(); i += 28 * 28) values[i] = static_cast<float>(i);
  const auto open = [&] {
    WriteNpy(folder / "x.npy", MakeArray<float>("", DType::kF32, {120, 1, 28, 28}, values));
    dataset_ = OpenDataset({folder / "x.npy"}, specs_, std::nullopt);
  };
  values[117 * 28 * 28 + 3] = std::nanf("");
  open();
  CollectOptions options;
  options.checkpoint = folder / "partial.stats";
  EXPECT_THAT(ErrorOf([&] { Collect(ChooseSamples(120, 0, 0), options); }),
              AllOf(HasSubstr("x.npy:117: "), HasSubstr("carry on with --resume")));
  EXPECT_GE(ReadStatistics(ReadFile(options.checkpoint), "partial").samples.size(), 50u);
  values[117 * 28 * 28 + 3] = 0.25f;
  open();
  options.resume = true;
  const auto resumed = WriteStatistics(Collect(ChooseSamples(120, 0, 0), options));
  EXPECT_EQ(resumed, WriteStatistics(Collect(ChooseSamples(120, 0, 0), {})));
}

TEST_F(CollectTest, OverflowInsideTheModelNamesTensorAndSample) {
  const TemporaryFolder folder;
  WriteNpy(folder / "x.npy",
           MakeArray<float>("", DType::kF32, {1, 1, 28, 28}, std::vector<float>(28 * 28, 3e38f)));
  dataset_ = OpenDataset({folder / "x.npy"}, specs_, std::nullopt);
  const std::string error = ErrorOf([&] { Collect({0}, {}); });
  EXPECT_THAT(error, HasSubstr("tensor '"));
  EXPECT_THAT(error, HasSubstr("sample 'x.npy'"));
}

}  // namespace
}  // namespace rshift
