#include "calibrate/data/batch_source.h"

#include <algorithm>

#include "graph/sha256.h"

namespace rshift {
namespace {

class Batches : public Source {
 public:
  Batches(std::vector<std::unique_ptr<Source>> items, int64_t batch)
      : items_(std::move(items)), batch_(batch) {
    int64_t end = 0;
    for (const auto& source : items_) ends_.push_back(end += source->size());
  }
  int64_t size() const override { return ends_.back() / batch_; }
  std::string name(int64_t index) const override {
    const auto [source, at] = Locate(index * batch_);
    return source->name(at) + " and " + std::to_string(batch_ - 1) + " more";
  }
  std::string where(int64_t index) const override {
    const auto [source, at] = Locate(index * batch_);
    return source->where(at) + " and " + std::to_string(batch_ - 1) + " more";
  }
  std::pair<std::string, int64_t> Place(int64_t index) const override {
    const auto [source, at] = Locate(index * batch_);
    return source->Place(at);
  }
  // Files of one item each, in order; or one file, of which this is a whole batch.
  std::pair<std::vector<std::string>, int64_t> Places(int64_t index) const override {
    std::vector<std::string> paths;
    bool lone = true, together = true;
    const auto first = Place(index);
    for (int64_t i = index * batch_; i < (index + 1) * batch_; ++i) {
      const auto [source, at] = Locate(i);
      const auto [path, place] = source->Place(at);
      together = together && path == first.first && place == first.second + i - index * batch_;
      lone = lone && place == 0;
      paths.push_back(path);
    }
    if (lone) return {paths, 0};
    if (together && first.second % batch_ == 0) return {{first.first}, first.second / batch_};
    return {};
  }
  std::vector<float> Read(int64_t index) const override {
    std::vector<float> values;
    for (int64_t i = index * batch_; i < (index + 1) * batch_; ++i) {
      const auto [source, at] = Locate(i);
      const std::vector<float> one = source->Read(at);
      if (values.empty()) values.reserve(one.size() * static_cast<size_t>(batch_));
      values.insert(values.end(), one.begin(), one.end());
    }
    return values;
  }
  std::string StoredSha256(int64_t index) const override {
    std::string hashes;
    for (int64_t i = index * batch_; i < (index + 1) * batch_; ++i) {
      const auto [source, at] = Locate(i);
      hashes += source->StoredSha256(at);
    }
    return Sha256OfText(hashes);
  }
  std::vector<OwnClass> Classes(int64_t index) const override {
    std::vector<OwnClass> classes;
    for (int64_t i = index * batch_; i < (index + 1) * batch_; ++i) {
      const auto [source, at] = Locate(i);
      classes.push_back(source->Classes(at)[0]);
    }
    return classes;
  }
  std::vector<std::string> ClassFolders() const override {
    std::vector<std::string> all;
    for (const auto& source : items_) {
      const std::vector<std::string> some = source->ClassFolders();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

 private:
  std::pair<const Source*, int64_t> Locate(int64_t item) const {
    const auto at = std::upper_bound(ends_.begin(), ends_.end(), item) - ends_.begin();
    const auto i = static_cast<size_t>(at);
    return {items_[i].get(), i == 0 ? item : item - ends_[i - 1]};
  }

  std::vector<std::unique_ptr<Source>> items_;
  std::vector<int64_t> ends_;
  int64_t batch_;
};

}  // namespace

int64_t BatchOf(const InputSpec& spec) {
  return spec.shape.size() < 2 ? 1 : std::max<int64_t>(1, spec.shape[0]);
}

InputPlan OfOneSample(InputPlan plan) {
  plan.spec.shape[0] = 1;
  return plan;
}

std::unique_ptr<Source> BatchSource(std::vector<std::unique_ptr<Source>> items, int64_t batch) {
  return std::make_unique<Batches>(std::move(items), batch);
}

}  // namespace rshift
