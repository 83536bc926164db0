// What feeds one model input: a run of samples out of one file or folder. Not for use outside
// calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_SOURCE_H_
#define RSHIFT_CALIBRATE_DATA_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/data/dataset.h"
#include "calibrate/data/idx.h"
#include "calibrate/data/preprocess.h"

namespace rshift {

class Source {
 public:
  virtual ~Source() = default;
  virtual int64_t size() const = 0;
  virtual std::string name(int64_t index) const = 0;
  // The file that holds this sample, and which one it is of that file opened by itself.
  virtual std::pair<std::string, int64_t> Place(int64_t index) const = 0;
  // The files that, opened as one data set, have this sample at `second`; several for a batch of
  // images. Empty when no such data set is known.
  virtual std::pair<std::vector<std::string>, int64_t> Places(int64_t index) const {
    auto [path, at] = Place(index);
    return {{std::move(path)}, at};
  }
  // For messages: the path as it was given or found, and the index where a file holds several.
  virtual std::string where(int64_t index) const = 0;
  // Thread-safe; the values of one sample in the input's shape.
  virtual std::vector<float> Read(int64_t index) const = 0;
  // Of the bytes that the sample is stored as: a picture's file, the elements of an array.
  virtual std::string StoredSha256(int64_t index) const = 0;
  // What the data themselves say of the classes of a sample's items (one, or those of a batch), and
  // every folder that stands for a class, sorted.
  virtual std::vector<OwnClass> Classes(int64_t /*index*/) const { return {OwnClass{}}; }
  virtual std::vector<std::string> ClassFolders() const { return {}; }
};

// One model input: its shape and, for images and sounds, how they are prepared (null: there is no
// entry for it).
struct InputPlan {
  InputSpec spec;
  const InputPreprocess* preprocess = nullptr;
  std::string entries;     // the inputs that the preprocessing has entries for, for messages
  bool only_input = true;  // of the model: a lone array of an .npz feeds it whatever its name
};

// By the extension: .jpg, .jpeg, .png, .bmp, .webp, .tif, .tiff, .pgm, .ppm, .pnm (in any case).
bool IsImageFile(const std::string& path);
bool IsSoundFile(const std::string& path);  // .wav, in any case
bool HasExtension(const std::string& path, const char* extension);
std::string FileName(const std::string& path);
// Of the beginning that names the deepest folder in which all of these lie, its slash included.
size_t CommonFolderLength(const std::vector<std::string>& paths);

// A file that is one sample: an image, a .wav, a .npy, or a .npz.
struct SampleFile {
  std::string path, name;
};
struct SampleFiles {
  std::vector<SampleFile> files;
  // The folders right in the data set's, sorted, where it is a folder or a pattern: a class each.
  std::vector<std::string> class_folders = {};
};
std::unique_ptr<Source> FileSource(SampleFiles files, const InputPlan& plan);
// A tar shard: the images (or sounds) and .npy files in it, sorted by their keys, read where they
// lie.
std::unique_ptr<Source> TarSource(const std::string& path, const InputPlan& plan);
// The entry for the plan's input; throws kInvalidInput naming `where` when there is none, or when
// it is for sounds.
const InputPreprocess& NeedPreprocess(const InputPlan& plan, const std::string& where);
// Of an image or a sound by the name of its file; other files need none.
void NeedPreprocessOf(const std::string& path, const InputPlan& plan, const std::string& where);
// What preprocessing has made of a picture or a sound, as the input takes it.
std::vector<float> ForInput(std::vector<float> values, const InputSpec& spec);
// The values that a .wav file becomes.
std::vector<float> ReadSound(std::span<const uint8_t> file, const InputPlan& plan,
                             const std::string& where);
// Throws kInvalidInput when there is no preprocessing or the array is not [N, H, W].
std::unique_ptr<Source> IdxSource(IdxArray images, const std::string& path, const InputPlan& plan);
// .npy (mapped) and .npz (held in memory): the first dimension is the samples.
std::unique_ptr<Source> NpySource(const std::string& path, const InputPlan& plan);
std::unique_ptr<Source> NpzSource(const std::string& path, const InputPlan& plan);

// The array of an .npz that feeds this input: the one of its name, or the only one of the only
// input.
NumpyArray ReadNpzFor(const std::string& path, const InputPlan& plan);
// How many samples an array of this shape holds for an input: 1 for its shape (a batch dimension of
// 1 may be left out), else the leading dimension. Throws kInvalidInput when it does not fit.
int64_t CountSamples(const Shape& array, const InputSpec& spec, const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_SOURCE_H_
