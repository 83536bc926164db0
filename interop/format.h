// A format of scales: what each of the files of this folder that reads or writes one defines.
#ifndef RSHIFT_INTEROP_FORMAT_H_
#define RSHIFT_INTEROP_FORMAT_H_

#include <string>

#include "interop/scale_set.h"

namespace rshift {

// How a set is written.
struct WriteOptions {
  bool symmetric = false;  // formats with zero points: take thresholds where the set has them
  std::string header;      // first line of a TensorRT cache; "": the set's, or that of TensorRT 8.6
};

// What of these a format takes; the others mean nothing to it.
struct TakenOptions {
  bool symmetric = false, header = false;
};

struct ScaleFormat {
  const char* name;   // "tensorrt", for --from and --to
  const char* what;   // one line for people
  const char* names;  // endings of file names that choose it, separated by blanks
  // Looks at the first kilobytes of a text; the first format that says yes is taken.
  bool (*recognise)(const std::string& text);
  // `where`: path, for messages and for files beside it. Throws kInvalidInput with the line where
  // there is one.
  ScaleSet (*read)(const std::string& text, const std::string& where);
  // Null: reading only.
  std::string (*write)(const ScaleSet& set, const WriteOptions& options, Losses* losses);
  TakenOptions takes = {};
};

}  // namespace rshift

#endif  // RSHIFT_INTEROP_FORMAT_H_
