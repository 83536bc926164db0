// What an entry of a scale set is in a calibration table.
#ifndef RSHIFT_INTEROP_ENTRY_RANGE_H_
#define RSHIFT_INTEROP_ENTRY_RANGE_H_

#include "interop/scale_set.h"
#include "quantize/ranges/table.h"

namespace rshift {

// The floats of which quantization makes the entry's scale and zero point again, to the last bit,
// where there are such floats (255 steps of one u8 scale in 250 are none: then the next scale); of
// scales by channel the largest; a threshold stays one. The entry has numbers (it is not
// `is_float`).
TensorRange RangeOfEntry(const ScaleEntry& entry);

}  // namespace rshift

#endif  // RSHIFT_INTEROP_ENTRY_RANGE_H_
