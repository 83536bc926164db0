// Data sets: images, sounds, folders, patterns of names, .txt lists, .npy, .npz, tar shards,
// idx-ubyte (.gz too). A data set is a list of samples read one at a time; its memory does not grow
// with their number.
#ifndef RSHIFT_CALIBRATE_DATA_DATASET_H_
#define RSHIFT_CALIBRATE_DATA_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "calibrate/data/preprocess.h"
#include "quantize/ranges/recorded_sample.h"

namespace rshift {

// An array as numpy files hold it (little-endian, C order).
struct NumpyArray {
  std::string name;  // key in an .npz, "" otherwise
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<uint8_t> bytes;
};
NumpyArray ReadNpy(const std::string& path);
// Arrays of text are passed over; `texts`, where given, gets their names. WriteNpz's own array of
// the samples' names is none of them.
std::vector<NumpyArray> ReadNpz(const std::string& path, std::vector<std::string>* texts = nullptr);
void WriteNpy(const std::string& path, const NumpyArray& array);
// The same bytes for the same arrays. With `sample_names`, one more array of that name holds them
// as text, unless an array of yours has this name.
void WriteNpz(const std::string& path, const std::vector<NumpyArray>& arrays,
              const std::vector<std::string>& sample_names = {});

// The integers of an input, [low, high], that stand for real numbers: scale * (q - zero_point).
struct InputIntegers {
  float scale = 1;
  int32_t zero_point = 0, low = 0, high = 0;
};

// What the model wants: a name and a static ONNX-order shape. With `integers`, pictures and sounds,
// whose preprocessing gives real numbers, become those; arrays are taken as they are.
struct InputSpec {
  std::string name;
  Shape shape;
  std::optional<InputIntegers> integers = {};
  bool masks = false;  // minus infinity is a mask, as of an attention, not an error
};

// One sample: an F32 array per model input, in ONNX order and shape.
struct Sample {
  std::string name;                        // file name, or file name and index "train-images:17"
  std::vector<std::vector<float>> inputs;  // one per InputSpec
};

// Of the values of every input, behind one another. Costs a pass over them, so only where asked
// for.
std::string ContentSha256(const Sample& sample);

// What a data set itself says of the class of a sample: the folder that it lies in, or the number
// that stands beside it in a tar shard. Neither: it says nothing.
struct OwnClass {
  std::string folder;
  std::optional<int64_t> number;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual std::string name(int64_t index) const = 0;
  // One per model input: how to read this sample again with OpenDataset. Empty when it cannot be.
  virtual std::vector<SampleSource> sources(int64_t /*index*/) const { return {}; }
  // One for each item of a sample (several for a batch), and the folders that stand for classes,
  // sorted, also those without samples.
  virtual std::vector<OwnClass> Classes(int64_t /*index*/) const { return {}; }
  virtual std::vector<std::string> ClassFolders() const { return {}; }
  // Thread-safe. Throws kInvalidInput naming the sample (unreadable image, wrong channels, wrong
  // shape, wrong type).
  virtual Sample Read(int64_t index) const = 0;
};

// By the extension: whether a file of a folder is taken for a sample.
bool IsSampleFile(const std::string& path);

// The files and folders that a path of a data set stands for: itself, or what a pattern
// ('photos/*.jpg', 'train-{000..003}.tar') matches; none where it matches nothing.
std::vector<std::string> MatchingPaths(const std::string& text);

// Opens `paths` as one data set, in the order given (folders and patterns: sorted by name). With
// one model input a plain path feeds it; "NAME=path" feeds a named input, and all named inputs must
// have equally many samples. Image, sound and idx sources need a Preprocess entry for their input.
// Throws kInvalidInput for an empty data set. `note` hears of samples that fill no batch.
using NoteFunction = std::function<void(const std::string& note)>;
std::unique_ptr<Dataset> OpenDataset(const std::vector<std::string>& paths,
                                     const std::vector<InputSpec>& inputs,
                                     const std::optional<Preprocess>& preprocess,
                                     const NoteFunction& note = {});

// `count` of [0, size) (0: all), chosen by `seed`, ascending: a permutation that does not depend on
// platform.
std::vector<int64_t> ChooseSamples(int64_t size, int64_t count, uint64_t seed);

// A text file of at most kMaxTextBytes (limits.h); refuses folders, devices and pipes.
std::string ReadSmallText(const std::string& path);

// The lines of a file of classes' names, class 0 first; those at the end that are empty are left
// out.
std::vector<std::string> ReadClassNames(const std::string& path);

struct LabelOptions {
  int64_t batch = 1;       // how many a sample of a static batch has
  std::string names = {};  // a file of classes' names, or ""
  NoteFunction note = {};  // hears which class each folder is
};
// The labels that the data set itself has, in its order: the .cls of tar shards; or class folders,
// sorted, the first being class 0, or the lines of `names` where these are the names of the
// folders.
std::vector<int64_t> OwnLabels(const Dataset& dataset, const LabelOptions& options);

// Labels: kOwnLabels, `name class` per line (matched by file name), .npy of integers, or idx-ubyte;
// one per sample, in the data set's order. Samples of a static batch have several each, which have
// no names; labels of what is left over at the end are passed over. Throws when a sample has no
// label.
inline constexpr const char* kOwnLabels = "auto";
std::vector<int64_t> ReadLabels(const std::string& path, const Dataset& dataset,
                                const LabelOptions& options = {});

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_DATASET_H_
