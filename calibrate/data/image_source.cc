#include "base/error.h"
#include "base/mapped_file.h"
#include "calibrate/data/limits.h"
#include "calibrate/data/npy.h"
#include "calibrate/data/presets.h"
#include "calibrate/data/regular_file.h"
#include "calibrate/data/source.h"
#include "calibrate/data/wav.h"
#include "graph/sha256.h"
#include "preprocess/apply_audio.h"
#include "quantize/numerics/quantize.h"

namespace rshift {
namespace {

void RequireOwnEntry(const InputPlan& plan, const std::string& where) {
  RSHIFT_REQUIRE(plan.preprocess != nullptr || plan.entries.empty(), ErrorCode::kInvalidInput,
                 where, ": the preprocessing is for input ", plan.entries,
                 ", the model's input is '", plan.spec.name,
                 "'; correct `name:` in the preprocessing file, or leave it out where the model "
                 "has one input");
}

}  // namespace

const InputPreprocess& NeedPreprocess(const InputPlan& plan, const std::string& where) {
  RequireOwnEntry(plan, where);
  RSHIFT_REQUIRE(plan.preprocess != nullptr, ErrorCode::kInvalidInput, where,
                 ": images need to be told how they become input '", plan.spec.name,
                 "'; give --preprocess FILE.yaml, or one of ", PresetNames());
  RSHIFT_REQUIRE(!plan.preprocess->audio, ErrorCode::kInvalidInput, where,
                 ": is an image, and input '", plan.spec.name,
                 "' takes sounds by its preprocessing; give .wav files");
  return *plan.preprocess;
}

void NeedPreprocessOf(const std::string& path, const InputPlan& plan, const std::string& where) {
  if (IsImageFile(path)) NeedPreprocess(plan, where);
  if (!IsSoundFile(path)) return;
  RequireOwnEntry(plan, where);
  RSHIFT_REQUIRE(plan.preprocess != nullptr, ErrorCode::kInvalidInput, where,
                 ": sounds need to be told how they become input '", plan.spec.name,
                 "'; give --preprocess FILE.yaml with 'audio'");
  RSHIFT_REQUIRE(plan.preprocess->audio.has_value(), ErrorCode::kInvalidInput, where,
                 ": is a sound, and input '", plan.spec.name,
                 "' takes images by its preprocessing; give images");
}

std::vector<float> ForInput(std::vector<float> values, const InputSpec& spec) {
  if (!spec.integers) return values;
  const InputIntegers& to = *spec.integers;
  for (float& value : values)
    value = static_cast<float>(
        numerics::QuantizeValue(value, to.scale, to.zero_point, to.low, to.high));
  return values;
}

std::vector<float> ReadSound(std::span<const uint8_t> file, const InputPlan& plan,
                             const std::string& where) {
  RSHIFT_REQUIRE(file.size() <= kMaxSoundBytes, ErrorCode::kInvalidInput, where, ": has ",
                 file.size(), " bytes, sounds have at most ", kMaxSoundBytes, "; cut it");
  return ForInput(ApplyAudio(*plan.preprocess, ReadWav(file, where), plan.spec.shape, where),
                  plan.spec);
}

namespace {

class FilesSource : public Source {
 public:
  FilesSource(SampleFiles files, const InputPlan& plan)
      : files_(std::move(files.files)),
        class_folders_(std::move(files.class_folders)),
        plan_(plan) {
    for (const SampleFile& file : files_) NeedPreprocessOf(file.path, plan_, file.path);
  }
  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  std::string name(int64_t index) const override { return files_[static_cast<size_t>(index)].name; }
  std::pair<std::string, int64_t> Place(int64_t index) const override {
    return {files_[static_cast<size_t>(index)].path, 0};
  }
  std::string where(int64_t index) const override {
    return files_[static_cast<size_t>(index)].path;
  }
  std::vector<float> Read(int64_t index) const override {
    const std::string& path = files_[static_cast<size_t>(index)].path;
    if (IsImageFile(path)) {
      const InputPreprocess& preprocess = *plan_.preprocess;
      return ForInput(
          Apply(preprocess, DecodeImage(path, preprocess.color), plan_.spec.shape, path),
          plan_.spec);
    }
    if (IsSoundFile(path)) {
      RegularFileSize(path);  // refuses devices and pipes
      return ReadSound(MappedFile::Map(path).bytes(), plan_, path);
    }
    const NumpyArray array = HasExtension(path, ".npz") ? ReadNpzFor(path, plan_) : ReadNpy(path);
    const int64_t count = CountSamples(array.shape, plan_.spec, path);
    RSHIFT_REQUIRE(
        count == 1, ErrorCode::kInvalidInput, path, ": holds ", count,
        " samples, a file in a folder or list is one; give the file itself as the data set");
    return ToFloats(array.dtype, array.bytes);
  }
  std::string StoredSha256(int64_t index) const override {
    const std::string& path = files_[static_cast<size_t>(index)].path;
    if (HasExtension(path, ".npz")) return Sha256Hex(ReadNpzFor(path, plan_).bytes);
    RegularFileSize(path);
    const MappedFile file = MappedFile::Map(path);
    return Sha256Hex(HasExtension(path, ".npy") ? ParseNpy(file.bytes(), path).data : file.bytes());
  }
  std::vector<OwnClass> Classes(int64_t index) const override {
    const std::string name = this->name(index);
    const size_t slash = class_folders_.empty() ? std::string::npos : name.find('/');
    return {OwnClass{slash == std::string::npos ? "" : name.substr(0, slash), {}}};
  }
  std::vector<std::string> ClassFolders() const override { return class_folders_; }

 private:
  std::vector<SampleFile> files_;
  std::vector<std::string> class_folders_;
  InputPlan plan_;
};

class IdxImages : public Source {
 public:
  IdxImages(IdxArray images, const std::string& path, const InputPlan& plan)
      : images_(std::move(images)), path_(path), name_(FileName(path)), plan_(plan) {
    if (name_.ends_with(".gz")) name_.resize(name_.size() - 3);
  }
  int64_t size() const override { return images_.shape[0]; }
  std::string name(int64_t index) const override { return name_ + ":" + std::to_string(index); }
  std::string where(int64_t index) const override { return path_ + ":" + std::to_string(index); }
  std::pair<std::string, int64_t> Place(int64_t index) const override { return {path_, index}; }
  std::vector<float> Read(int64_t index) const override {
    const auto height = static_cast<int>(images_.shape[1]),
               width = static_cast<int>(images_.shape[2]);
    const std::span<const uint8_t> pixels = Stored(index);
    const Image image{height, width, 1, {pixels.begin(), pixels.end()}};
    return ForInput(Apply(*plan_.preprocess, image, plan_.spec.shape, where(index)), plan_.spec);
  }
  std::string StoredSha256(int64_t index) const override { return Sha256Hex(Stored(index)); }

 private:
  std::span<const uint8_t> Stored(int64_t index) const {
    const auto pixels = static_cast<size_t>(images_.shape[1] * images_.shape[2]);
    return std::span(images_.bytes).subspan(static_cast<size_t>(index) * pixels, pixels);
  }

  IdxArray images_;
  std::string path_, name_;
  InputPlan plan_;
};

}  // namespace

std::unique_ptr<Source> FileSource(SampleFiles files, const InputPlan& plan) {
  return std::make_unique<FilesSource>(std::move(files), plan);
}

std::unique_ptr<Source> IdxSource(IdxArray images, const std::string& path, const InputPlan& plan) {
  NeedPreprocess(plan, path);
  RSHIFT_REQUIRE(images.shape.size() == 3, ErrorCode::kInvalidInput, path, ": has the shape ",
                 ToString(images.shape), ", idx images are NxHxW; is this the file of the labels?");
  constexpr int64_t kMaxSide = 65536;
  RSHIFT_REQUIRE(images.shape[1] <= kMaxSide && images.shape[2] <= kMaxSide,
                 ErrorCode::kInvalidInput, path, ": images of ", images.shape[1], "x",
                 images.shape[2], " pixels, expected at most ", kMaxSide, " a side");
  return std::make_unique<IdxImages>(std::move(images), path, plan);
}

}  // namespace rshift
