// The .npy format (versions 1 to 3), little-endian; arrays in Fortran order are read, those written
// are in C order. Not for use outside calibrate/data and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_NPY_H_
#define RSHIFT_CALIBRATE_DATA_NPY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"

namespace rshift {

struct NpyView {
  DType dtype = DType::kF32;
  Shape shape;
  std::span<const uint8_t> data;  // in C order, exactly the shape's elements
  // What `data` points into when the file is in Fortran order; null where it points into the file.
  std::shared_ptr<const std::vector<uint8_t>> reordered = nullptr;
};

// Throws kInvalidInput naming `where` for anything that is not a complete array of numbers. An
// array in Fortran order (numpy.save of x.T, of a pandas table) takes its size in memory.
NpyView ParseNpy(std::span<const uint8_t> file, const std::string& where);
// Array header as numpy writes it (version 1.0, padded to 64 bytes); the elements follow.
std::vector<uint8_t> NpyHeader(const NumpyArray& array);
// The same for any numpy type: "<U12".
std::vector<uint8_t> NpyHeaderOf(const std::string& descr, const Shape& shape);
// Elements as F32: integers and f64 are rounded to the nearest, bool is 0 and 1.
std::vector<float> ToFloats(DType dtype, std::span<const uint8_t> data);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_NPY_H_
