// Reads `onednn:` of a --config entry.
#ifndef RSHIFT_QUANTIZE_READ_ONEDNN_CONFIG_H_
#define RSHIFT_QUANTIZE_READ_ONEDNN_CONFIG_H_

#include <string>

#include "quantize/onednn_config.h"
#include "yaml/reader.h"

namespace rshift {

// Files it names are beside the configuration. Throws kInvalidInput with the line; `what` names the
// entry.
OneDnnConfig ReadOneDnnConfig(const YamlPart& part, const std::string& what);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_READ_ONEDNN_CONFIG_H_
