// Everything that feeds one input of a model. Not for use outside calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_INPUT_FEED_H_
#define RSHIFT_CALIBRATE_DATA_INPUT_FEED_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/data/source.h"

namespace rshift {

// The samples of all paths that feed one input, in the order given.
class InputFeed {
 public:
  using OpenFunction = std::function<std::unique_ptr<Source>(const InputPlan& plan)>;

  explicit InputFeed(InputSpec spec) : spec_(std::move(spec)) {}
  // `path`: a file, a folder or a pattern.
  void Add(const std::string& path, const InputPlan& plan);
  // Once all paths are there: single samples become batches. `note` hears of samples left over.
  void Finish(const NoteFunction& note);

  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  std::string name(int64_t index) const;
  // Throws kInvalidInput for a value that is not finite; minus infinities may be masks (InputSpec).
  std::vector<float> Read(int64_t index) const;
  std::string StoredSha256(int64_t index) const;
  SampleSource source(int64_t index) const;
  std::vector<OwnClass> Classes(int64_t index) const;
  std::vector<std::string> ClassFolders() const;  // of all sources, sorted
  const std::string& input_name() const { return spec_.name; }

 private:
  void AddPath(const std::string& path, const InputPlan& plan);
  void AddSource(const OpenFunction& open, const InputPlan& plan, bool arrays);
  void Append(std::unique_ptr<Source> source);
  std::pair<const Source*, int64_t> Locate(int64_t index) const;

  InputSpec spec_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<int64_t> ends_;
  std::vector<std::unique_ptr<Source>> items_;  // single samples, until Finish
};

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_INPUT_FEED_H_
