// The table of formats.
#ifndef RSHIFT_INTEROP_FORMATS_H_
#define RSHIFT_INTEROP_FORMATS_H_

#include <span>
#include <string>

#include "interop/format.h"

namespace rshift {

// In the order in which they are asked whether a text is theirs.
std::span<const ScaleFormat> ScaleFormats();
// Throws kInvalidInput listing all names.
const ScaleFormat& FindScaleFormat(const std::string& name);
// Of a file to be written, by the longest ending that its name has. Throws kInvalidInput asking for
// --to.
const ScaleFormat& ScaleFormatForPath(const std::string& path);

// `from`: a format's name, or "" to find it by content. The result has passed CheckScales.
// A byte order mark in front is passed over.
ScaleSet ReadScales(const std::string& bytes, const std::string& where, const std::string& from);
// Reads the file.
ScaleSet ReadScaleFile(const std::string& path, const std::string& from);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_FORMATS_H_
