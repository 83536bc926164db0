// libsndfile brings eight libraries of codecs along, so it is loaded when the first sound needs it.
#include "calibrate/data/wav.h"

#ifdef RSHIFT_SNDFILE
#include <dlfcn.h>
#include <sndfile.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"

namespace rshift {
namespace {

#ifdef RSHIFT_SNDFILE
struct SoundLibrary {
  decltype(&sf_open_virtual) open = nullptr;
  decltype(&sf_readf_double) read = nullptr;
  decltype(&sf_strerror) error_text = nullptr;
  decltype(&sf_close) close = nullptr;
};

template <typename Function>
void FindIn(void* library, const char* name, Function& function) {
  void* const symbol = dlsym(library, name);
  RSHIFT_REQUIRE(symbol != nullptr, ErrorCode::kUnsupported, RSHIFT_SNDFILE, " has no ", name,
                 "; install the version that Rshift was built with");
  function = reinterpret_cast<Function>(symbol);
}

SoundLibrary LoadSoundLibrary() {
  void* const library = dlopen(RSHIFT_SNDFILE, RTLD_NOW);
  const char* const reason = library == nullptr ? dlerror() : "";
  RSHIFT_REQUIRE(library != nullptr, ErrorCode::kUnsupported, "a .wav file needs the library ",
                 RSHIFT_SNDFILE, ", which cannot be loaded (", reason,
                 "); install it, or give features as .npy");
  SoundLibrary loaded;
  FindIn(library, "sf_open_virtual", loaded.open);
  FindIn(library, "sf_readf_double", loaded.read);
  FindIn(library, "sf_strerror", loaded.error_text);
  FindIn(library, "sf_close", loaded.close);
  return loaded;
}

// A failed attempt throws each time.
const SoundLibrary& LoadedSoundLibrary() {
  static const SoundLibrary library = LoadSoundLibrary();
  return library;
}

// A file in memory, as libsndfile reads it.
struct SoundBytes {
  std::span<const uint8_t> file;
  sf_count_t at = 0;

  sf_count_t size() const { return static_cast<sf_count_t>(file.size()); }
};

sf_count_t SizeOfBytes(void* user) { return static_cast<SoundBytes*>(user)->size(); }

sf_count_t SeekInBytes(sf_count_t offset, int whence, void* user) {
  auto& bytes = *static_cast<SoundBytes*>(user);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? bytes.at : bytes.size();
  if (from + offset < 0 || from + offset > bytes.size()) return -1;
  return bytes.at = from + offset;
}

sf_count_t ReadBytes(void* to, sf_count_t count, void* user) {
  auto& bytes = *static_cast<SoundBytes*>(user);
  count = std::clamp<sf_count_t>(count, 0, bytes.size() - bytes.at);
  std::memcpy(to, bytes.file.data() + bytes.at, static_cast<size_t>(count));
  bytes.at += count;
  return count;
}

sf_count_t TellInBytes(void* user) { return static_cast<SoundBytes*>(user)->at; }

Sound DecodeWav(std::span<const uint8_t> file, const std::string& where) {
  const SoundLibrary& library = LoadedSoundLibrary();
  SoundBytes bytes{file};
  SF_VIRTUAL_IO io{SizeOfBytes, SeekInBytes, ReadBytes, nullptr, TellInBytes};
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, decltype(library.close)> opened(
      library.open(&io, SFM_READ, &info, &bytes), library.close);
  RSHIFT_REQUIRE(opened != nullptr, ErrorCode::kInvalidInput, where, ": cannot be read as .wav (",
                 library.error_text(nullptr), "); write the file again");
  Sound sound{info.samplerate, {}};
  constexpr sf_count_t kBlock = 4096;
  const auto channels = static_cast<size_t>(info.channels);
  std::vector<double> block(kBlock * channels);
  for (sf_count_t got = 0; (got = library.read(opened.get(), block.data(), kBlock)) > 0;) {
    for (size_t i = 0; i < static_cast<size_t>(got); ++i) {
      double sum = 0;
      for (size_t c = 0; c < channels; ++c) sum += block[i * channels + c];
      sound.samples.push_back(sum / static_cast<double>(channels));
    }
  }
  RSHIFT_REQUIRE(static_cast<sf_count_t>(sound.samples.size()) == info.frames,
                 ErrorCode::kInvalidInput, where, ": is damaged: ", sound.samples.size(), " of ",
                 info.frames, " samples can be read; write the file again");
  return sound;
}
#else
Sound DecodeWav(std::span<const uint8_t>, const std::string& where) {
  Fail(ErrorCode::kUnsupported, where,
       ": this build reads no .wav files: libsndfile was missing when it was configured; install "
       "libsndfile1-dev and build again, or give features as .npy");
}
#endif

uint32_t Number32(std::span<const uint8_t> file, size_t at) {
  return static_cast<uint32_t>(file[at]) | static_cast<uint32_t>(file[at + 1]) << 8 |
         static_cast<uint32_t>(file[at + 2]) << 16 | static_cast<uint32_t>(file[at + 3]) << 24;
}

bool HasTag(std::span<const uint8_t> file, size_t at, const char* tag) {
  return std::memcmp(file.data() + at, tag, 4) == 0;
}

// libsndfile reads a file that is cut off as a shorter sound.
void RequireWholeWav(std::span<const uint8_t> file, const std::string& where) {
  constexpr size_t kHead = 12, kChunkHead = 8;
  RSHIFT_REQUIRE(file.size() >= kHead && HasTag(file, 0, "RIFF") && HasTag(file, 8, "WAVE"),
                 ErrorCode::kInvalidInput, where,
                 ": is no .wav file (RIFF, WAVE); convert it: sox IN OUT.wav");
  for (size_t at = kHead; at + kChunkHead <= file.size();) {
    const size_t size = Number32(file, at + 4), left = file.size() - at - kChunkHead;
    RSHIFT_REQUIRE(size <= left, ErrorCode::kInvalidInput, where, ": is cut off: a part of ", size,
                   " bytes has ", left,
                   " (or it was written into a pipe); write the file again: sox IN.wav OUT.wav");
    if (HasTag(file, at, "data")) return;
    at += kChunkHead + size + size % 2;
  }
  Fail(ErrorCode::kInvalidInput, where, ": is cut off: it has no samples; write the file again");
}

}  // namespace

Sound ReadWav(std::span<const uint8_t> file, const std::string& where) {
  RequireWholeWav(file, where);
  Sound sound = DecodeWav(file, where);
  for (size_t i = 0; i < sound.samples.size(); ++i) {
    RSHIFT_REQUIRE(std::isfinite(sound.samples[i]), ErrorCode::kInvalidInput, where, ": sample ", i,
                   " is ", sound.samples[i], ", expected finite values; leave the file out");
  }
  return sound;
}

}  // namespace rshift
