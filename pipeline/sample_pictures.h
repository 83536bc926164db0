// Small pictures of samples for a page.
#ifndef RSHIFT_PIPELINE_SAMPLE_PICTURES_H_
#define RSHIFT_PIPELINE_SAMPLE_PICTURES_H_

#include <map>
#include <string>

#include "pipeline/check_samples.h"

namespace rshift {

inline constexpr size_t kMaxPictures = 200;  // of 96 pixels: 3 KB each as a rule

struct SamplePictures {
  std::map<RecordedSample, std::string> images;  // "data:image/jpeg;base64,..."
  std::string why_none;  // of those that have none, for people; "": all have
};

// The first kMaxPictures samples as the network sees them, where an input holds one picture: as the
// preprocessing says, or by its channels.
SamplePictures DrawSamples(const RecordedSamples& recorded, const std::vector<InputSpec>& inputs,
                           const NoteFunction& note);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SAMPLE_PICTURES_H_
