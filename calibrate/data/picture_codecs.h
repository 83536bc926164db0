// OpenCV's readers and writers of picture files. Their library brings some 120 others (GDAL, HDF5,
// MPI ...), which take 40 ms to load: that is done when the first picture needs it, and a folder of
// JPEG files never does. Not for use outside calibrate/ and its tests.
#ifndef RSHIFT_CALIBRATE_DATA_PICTURE_CODECS_H_
#define RSHIFT_CALIBRATE_DATA_PICTURE_CODECS_H_

#include <cstdint>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

namespace rshift {

// As cv::imdecode and cv::imencode. Throw kUnsupported when the library cannot be loaded.
cv::Mat DecodePicture(std::span<const uint8_t> file, int flags);
bool EncodePicture(const std::string& extension, const cv::Mat& picture,
                   std::vector<uint8_t>& bytes);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_PICTURE_CODECS_H_
