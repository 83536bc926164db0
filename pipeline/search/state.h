// What a search has measured so far, in a file: a search that was killed goes on where it was.
#ifndef RSHIFT_PIPELINE_SEARCH_STATE_H_
#define RSHIFT_PIPELINE_SEARCH_STATE_H_

#include <map>
#include <string>
#include <vector>

#include "pipeline/search/scores.h"

namespace rshift {

// One candidate on every sample, and what it costs.
struct Measured {
  std::vector<SampleScore> scores;
  double nanoseconds = 0;                           // predicted, one thread
  int64_t macs_8 = 0, macs_16 = 0, macs_float = 0;  // multiply-accumulates by type
  int64_t conversions = 0;                          // commands that only change the type
};

// Keyed by KeyOf; written whole after each new entry. With path "" it is kept in memory alone.
class SearchState {
 public:
  // `identity`: of all that the figures depend on. Reads the file where it exists; throws
  // kInvalidInput when it belongs to another search or is none.
  SearchState(std::string path, std::string identity);

  const Measured* Find(const std::string& key) const;
  const Measured& Add(const std::string& key, Measured measured);
  // Of the one pass that finds what the groups lose: plain numbers under a name.
  const std::vector<double>* FindNumbers(const std::string& key) const;
  void AddNumbers(const std::string& key, std::vector<double> numbers);
  bool resumed() const { return resumed_; }

 private:
  void Read();
  void Write() const;

  const std::string path_, identity_;
  bool resumed_ = false;
  std::map<std::string, Measured> measured_;
  std::map<std::string, std::vector<double>> numbers_;
};

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SEARCH_STATE_H_
