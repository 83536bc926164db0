// The files of a folder or a list. Not for use outside calibrate/data.
#ifndef RSHIFT_CALIBRATE_DATA_SAMPLE_FILES_H_
#define RSHIFT_CALIBRATE_DATA_SAMPLE_FILES_H_

#include <string>
#include <vector>

#include "calibrate/data/path_patterns.h"
#include "calibrate/data/source.h"

namespace rshift {

// The images, .wav, .npy and .npz files of a folder and of the folders within it, sorted by their
// path from there, which is their name. Whatever begins with a dot is passed over. Throws when
// there are none.
SampleFiles FolderFiles(const std::string& folder);
// The files that a .txt list names, in its order; paths are relative to the list's folder. A sample
// is named by its path from the deepest folder that all of them share, as if that folder were the
// data set. Throws for files that do not exist or are no samples.
SampleFiles ListFiles(const std::string& list);
// What a pattern (path_patterns.h) has matched, put together as far as it is one sample a file, in
// order: images, sounds and the files of folders, named by their path from the pattern's root;
// every other file is a data set of its own, in `path`.
struct MatchedPart {
  std::string path;  // or "", and
  SampleFiles files = {};
};
std::vector<MatchedPart> MatchedFiles(const PathMatches& matches);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_SAMPLE_FILES_H_
