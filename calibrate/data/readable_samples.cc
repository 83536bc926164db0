#include "calibrate/data/readable_samples.h"

#include <utility>

#include "base/error.h"
#include "calibrate/data/stored_samples.h"

namespace rshift {
namespace {

class ReadableDataset : public Dataset, public StoredSamples {
 public:
  ReadableDataset(std::unique_ptr<Dataset> all, const std::vector<BadSample>& bad)
      : all_(std::move(all)) {
    auto next = bad.begin();
    for (int64_t i = 0; i < all_->size(); ++i) {
      if (next != bad.end() && next->index == i)
        ++next;
      else
        kept_.push_back(i);
    }
  }
  int64_t size() const override { return static_cast<int64_t>(kept_.size()); }
  std::string name(int64_t index) const override { return all_->name(At(index)); }
  std::vector<SampleSource> sources(int64_t index) const override {
    return all_->sources(At(index));
  }
  std::vector<OwnClass> Classes(int64_t index) const override { return all_->Classes(At(index)); }
  std::vector<std::string> ClassFolders() const override { return all_->ClassFolders(); }
  Sample Read(int64_t index) const override { return all_->Read(At(index)); }
  std::string StoredSha256(int64_t index) const override {
    return rshift::StoredSha256(*all_, At(index));
  }

 private:
  int64_t At(int64_t index) const { return kept_[static_cast<size_t>(index)]; }

  std::unique_ptr<Dataset> all_;
  std::vector<int64_t> kept_;
};

}  // namespace

std::unique_ptr<Dataset> WithoutSamples(std::unique_ptr<Dataset> dataset,
                                        const std::vector<BadSample>& bad) {
  return std::make_unique<ReadableDataset>(std::move(dataset), bad);
}

void RequireFewBad(const std::vector<BadSample>& bad, int64_t total) {
  const auto count = static_cast<int64_t>(bad.size());
  RSHIFT_REQUIRE(count * kGoodForOneBad <= total, ErrorCode::kInvalidInput, "--skip-bad: ", count,
                 " of ", total, " samples cannot be read, at most one in ", kGoodForOneBad,
                 " may be left out; the first: ", bad[0].error);
}

}  // namespace rshift
