// What samples are stored as: the same for a file however the data set is given, and cheaper than
// decoding it.
#ifndef RSHIFT_CALIBRATE_DATA_STORED_SAMPLES_H_
#define RSHIFT_CALIBRATE_DATA_STORED_SAMPLES_H_

#include <cstdint>
#include <string>

#include "calibrate/data/dataset.h"

namespace rshift {

// A data set whose samples are stored as bytes somewhere is one of these too.
class StoredSamples {
 public:
  virtual ~StoredSamples() = default;
  virtual std::string StoredSha256(int64_t index) const = 0;
};

// Of the sample's file, or of its elements in an array; of a sample that is stored nowhere, of its
// values. Throws as Read does.
std::string StoredSha256(const Dataset& dataset, int64_t index);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_STORED_SAMPLES_H_
