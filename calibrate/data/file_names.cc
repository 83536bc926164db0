// What a file is taken for by its name. Apart from what reads files: programs that only ask for the
// kind of a file do not link an image library.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "calibrate/data/dataset.h"
#include "calibrate/data/source.h"

namespace rshift {

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

size_t CommonFolderLength(const std::vector<std::string>& paths) {
  if (paths.empty()) return 0;
  size_t length = paths[0].rfind('/') + 1;  // 0 where there is none
  for (const std::string& path : paths) {
    while (length > 0 && path.compare(0, length, paths[0], 0, length) != 0)
      length = length < 2 ? 0 : paths[0].rfind('/', length - 2) + 1;
  }
  return length;
}

bool HasExtension(const std::string& path, const char* extension) {
  std::string found = std::filesystem::path(path).extension().string();
  std::transform(found.begin(), found.end(), found.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return found == extension;
}

bool IsImageFile(const std::string& path) {
  constexpr const char* kExtensions[] = {".jpg", ".jpeg", ".png", ".bmp", ".webp",
                                         ".tif", ".tiff", ".pgm", ".ppm", ".pnm"};
  return std::any_of(std::begin(kExtensions), std::end(kExtensions),
                     [&](const char* extension) { return HasExtension(path, extension); });
}

bool IsSoundFile(const std::string& path) { return HasExtension(path, ".wav"); }

bool IsSampleFile(const std::string& path) {
  return IsImageFile(path) || IsSoundFile(path) || HasExtension(path, ".npy") ||
         HasExtension(path, ".npz");
}

}  // namespace rshift
