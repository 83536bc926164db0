
#include "base/error.h"
#include "base/mapped_file.h"
#include "calibrate/data/npy.h"
#include "calibrate/data/source.h"
#include "graph/sha256.h"

namespace rshift {
namespace {

class ArraySource : public Source {
 public:
  // `file` or `held` owns what `view` points to.
  ArraySource(MappedFile file, NumpyArray held, NpyView view, const std::string& path,
              const InputSpec& spec)
      : file_(std::move(file)),
        held_(std::move(held)),
        view_(std::move(view)),
        path_(path),
        name_(FileName(path)),
        size_(CountSamples(view_.shape, spec, path)) {}

  int64_t size() const override { return size_; }
  std::string name(int64_t index) const override {
    return size_ == 1 ? name_ : name_ + ":" + std::to_string(index);
  }
  std::string where(int64_t index) const override {
    return size_ == 1 ? path_ : path_ + ":" + std::to_string(index);
  }
  std::pair<std::string, int64_t> Place(int64_t index) const override { return {path_, index}; }
  std::vector<float> Read(int64_t index) const override {
    return ToFloats(view_.dtype, Stored(index));
  }
  std::string StoredSha256(int64_t index) const override { return Sha256Hex(Stored(index)); }

 private:
  std::span<const uint8_t> Stored(int64_t index) const {
    const size_t bytes = view_.data.size() / static_cast<size_t>(size_);
    return view_.data.subspan(static_cast<size_t>(index) * bytes, bytes);
  }

  MappedFile file_;
  NumpyArray held_;
  NpyView view_;
  std::string path_, name_;
  int64_t size_ = 0;
};

}  // namespace

int64_t CountSamples(const Shape& array, const InputSpec& spec, const std::string& where) {
  const Shape& shape = spec.shape;
  if (array == shape) return 1;
  const bool batch_of_one = !shape.empty() && shape[0] == 1;
  const Shape sample(batch_of_one ? shape.begin() + 1 : shape.begin(), shape.end());
  if (array == sample) return 1;
  if (!array.empty() && Shape(array.begin() + 1, array.end()) == sample) return array[0];
  if (!array.empty() && Shape(array.begin() + 1, array.end()) == shape) return array[0];
  Fail(ErrorCode::kInvalidInput, where, ": the array has the shape ", ToString(array), ", input '",
       spec.name, "' takes ", ToString(shape),
       shape.empty() || shape[0] <= 1
           ? " (one sample) or a leading dimension of samples; reshape the array"
           : Cat(" (", shape[0],
                 " samples), any number of samples without that dimension, or a "
                 "leading dimension of such batches; reshape the array"));
}

NumpyArray ReadNpzFor(const std::string& path, const InputPlan& plan) {
  std::vector<NumpyArray> arrays = ReadNpz(path);
  std::string names;
  for (NumpyArray& array : arrays) {
    if (array.name == plan.spec.name) return std::move(array);
    names += (names.empty() ? "'" : ", '") + array.name + "'";
  }
  RSHIFT_REQUIRE(plan.only_input && arrays.size() == 1, ErrorCode::kInvalidInput, path,
                 ": has no array '", plan.spec.name,
                 "' for the model's input of that name, it has ", names.empty() ? "none" : names);
  return std::move(arrays[0]);
}

std::unique_ptr<Source> NpySource(const std::string& path, const InputPlan& plan) {
  MappedFile file = MappedFile::Map(path);
  NpyView view = ParseNpy(file.bytes(), path);
  return std::make_unique<ArraySource>(std::move(file), NumpyArray{}, std::move(view), path,
                                       plan.spec);
}

std::unique_ptr<Source> NpzSource(const std::string& path, const InputPlan& plan) {
  NumpyArray array = ReadNpzFor(path, plan);
  NpyView view{array.dtype, array.shape,
               array.bytes};  // moving a vector keeps its elements in place
  return std::make_unique<ArraySource>(MappedFile(), std::move(array), std::move(view), path,
                                       plan.spec);
}

}  // namespace rshift
