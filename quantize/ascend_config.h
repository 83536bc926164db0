// Reads `ascend:` of a --config entry and record files (scale_d, offset_d, scale_w of each layer).
#ifndef RSHIFT_QUANTIZE_ASCEND_CONFIG_H_
#define RSHIFT_QUANTIZE_ASCEND_CONFIG_H_

#include <map>
#include <string>

#include "quantize/ascend_attributes.h"
#include "yaml/reader.h"

namespace rshift {

// Throws kInvalidInput with the line; `what` names the entry.
AscendConfig ReadAscendConfig(const YamlPart& part, const std::string& what);

// Keys that `config` leaves open, from `other`.
void CompleteAscend(AscendConfig* config, const AscendConfig& other);

// A record file by layer: blocks `record { key: "conv1" value { scale_d: 0.1 offset_d: -128
// scale_w: 0.02 scale_w: 0.03 offset_w: 0 } }`. `line`: where the block begins.
struct AscendRecord {
  AscendConfig config;
  int line = 0;
};
std::map<std::string, AscendRecord> ReadAscendRecords(const std::string& text,
                                                      const std::string& where);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_ASCEND_CONFIG_H_
