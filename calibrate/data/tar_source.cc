// Tar shards, named as WebDataset names them: the key of a sample is the path of its members up to
// the first dot of the file's name; KEY.jpg is its image or KEY.wav its sound, KEY.cls its class.
#include <charconv>
#include <map>

#include "base/error.h"
#include "base/mapped_file.h"
#include "calibrate/data/npy.h"
#include "calibrate/data/source.h"
#include "calibrate/data/tar.h"
#include "graph/sha256.h"

namespace rshift {
namespace {

struct ShardSample {
  const TarMember* data = nullptr;  // the image, the sound or the array
  std::optional<int64_t> label;
};

// The key and what follows it, without the dot between them.
std::pair<std::string, std::string> SplitKey(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.find('.', slash == std::string::npos ? 0 : slash + 1);
  if (dot == std::string::npos) return {path, ""};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

int64_t ReadClass(const TarMember& member, const std::string& where) {
  const char* first = reinterpret_cast<const char*>(member.bytes.data());
  const char* last = first + member.bytes.size();
  while (last > first && (last[-1] == '\n' || last[-1] == '\r' || last[-1] == ' ')) --last;
  int64_t label = 0;
  const auto [end, error] = std::from_chars(first, last, label);
  RSHIFT_REQUIRE(error == std::errc() && end == last && label >= 0, ErrorCode::kInvalidInput, where,
                 "/", member.path, ": expected the class as a whole number in text");
  return label;
}

class Shard : public Source {
 public:
  Shard(const std::string& path, const InputPlan& plan)
      : path_(path), plan_(plan), file_(MappedFile::Map(path)) {
    members_ = ListTar(file_.bytes(), path);
    std::map<std::string, ShardSample> by_key;
    for (const TarMember& member : members_) Take(member, by_key);
    for (const auto& [key, sample] : by_key) {
      if (sample.data != nullptr) samples_.push_back(sample);
    }
    RSHIFT_REQUIRE(!samples_.empty(), ErrorCode::kInvalidInput, path,
                   ": the data set is empty: none of its ", members_.size(), " files is ",
                   TakesSounds() ? "KEY.wav" : "KEY.jpg (or of another kind of picture)",
                   " or KEY.npy, KEY without dots",
                   members_.empty() ? "" : Cat("; the first is '", members_[0].path, "'"));
  }
  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  std::string name(int64_t index) const override {
    return FileName(path_) + "/" + At(index).data->path;
  }
  std::string where(int64_t index) const override { return path_ + "/" + At(index).data->path; }
  std::pair<std::string, int64_t> Place(int64_t index) const override { return {path_, index}; }
  std::vector<OwnClass> Classes(int64_t index) const override {
    return {OwnClass{"", At(index).label}};
  }
  std::vector<float> Read(int64_t index) const override {
    const TarMember& member = *At(index).data;
    const std::string place = where(index);
    if (IsImageFile(member.path)) {
      const InputPreprocess& preprocess = *plan_.preprocess;
      return ForInput(Apply(preprocess, DecodeImage(member.bytes, preprocess.color, place),
                            plan_.spec.shape, place),
                      plan_.spec);
    }
    if (IsSoundFile(member.path)) return ReadSound(member.bytes, plan_, place);
    const NpyView array = ParseNpy(member.bytes, place);
    RSHIFT_REQUIRE(CountSamples(array.shape, plan_.spec, place) == 1, ErrorCode::kInvalidInput,
                   place, ": holds several samples, a file in a tar shard is one");
    return ToFloats(array.dtype, array.data);
  }
  std::string StoredSha256(int64_t index) const override {
    const TarMember& member = *At(index).data;
    const bool is_array = HasExtension(member.path, ".npy");
    return Sha256Hex(is_array ? ParseNpy(member.bytes, where(index)).data : member.bytes);
  }

 private:
  const ShardSample& At(int64_t index) const { return samples_[static_cast<size_t>(index)]; }

  // A shard may hold both: the picture of a film and what is heard.
  bool TakesSounds() const { return plan_.preprocess != nullptr && plan_.preprocess->audio; }

  void Take(const TarMember& member, std::map<std::string, ShardSample>& by_key) const {
    const auto [key, extension] = SplitKey(member.path);
    ShardSample& sample = by_key[key];
    if (extension == "cls") {
      RSHIFT_REQUIRE(!sample.label, ErrorCode::kInvalidInput, path_, ": key '", key,
                     "' has two classes; every sample needs a key of its own");
      sample.label = ReadClass(member, path_);
    } else if (const std::string file = "x." + extension;
               extension.find('.') == std::string::npos &&
               (HasExtension(file, ".npy") ||
                (TakesSounds() ? IsSoundFile(file) : IsImageFile(file)))) {
      RSHIFT_REQUIRE(sample.data == nullptr, ErrorCode::kInvalidInput, path_, ": key '", key,
                     "' occurs twice ('", sample.data->path, "' and '", member.path,
                     "'); every sample needs a key of its own");
      NeedPreprocessOf(file, plan_, path_);
      sample.data = &member;
    }
  }

  std::string path_;
  InputPlan plan_;
  MappedFile file_;
  std::vector<TarMember> members_;
  std::vector<ShardSample> samples_;
};

}  // namespace

std::unique_ptr<Source> TarSource(const std::string& path, const InputPlan& plan) {
  return std::make_unique<Shard>(path, plan);
}

}  // namespace rshift
