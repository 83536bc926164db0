// npy, npz and idx files: round trips, reproducible bytes, damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/atomic_file.h"
#include "calibrate/data/dataset.h"
#include "calibrate/data/idx.h"
#include "calibrate/data/npy.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::HasSubstr;

std::vector<uint8_t> Npy(const std::string& dict, const std::vector<uint8_t>& data) {
  std::vector<uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  bytes.push_back(static_cast<uint8_t>(dict.size()));
  bytes.push_back(static_cast<uint8_t>(dict.size() >> 8));
  bytes.insert(bytes.end(), dict.begin(), dict.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

TEST(NpyTest, RoundTripOfEveryType) {
  const TemporaryFolder folder;
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kF64, DType::kS8, DType::kU8, DType::kS16, DType::kU16,
        DType::kS32, DType::kU32, DType::kS64, DType::kU64, DType::kBool}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 1, 3}}) {
      NumpyArray array{"", dtype, shape, {}};
      array.bytes.resize(static_cast<size_t>(NumElements(shape)) * SizeOf(dtype), 1);
      WriteNpy(folder / "x.npy", array);
      const NumpyArray read = ReadNpy(folder / "x.npy");
      EXPECT_EQ(read.dtype, dtype);
      EXPECT_EQ(read.shape, shape);
      EXPECT_EQ(read.bytes, array.bytes);
    }
  }
}

TEST(NpyTest, HeaderIsWhatNumpyWrites) {
  const std::vector<uint8_t> header = NpyHeader({"", DType::kF32, {3}, std::vector<uint8_t>(12)});
  const std::string text(header.begin() + 10, header.end());
  EXPECT_EQ(header.size(), 128u);
  EXPECT_THAT(text,
              ::testing::StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }  "));
  EXPECT_EQ(text.back(), '\n');
}

// The element at [i, j, k] of a (2, 3, 4) array is 12 i + 4 j + k, which is its place in C order;
// in Fortran order it stands at i + 2 j + 6 k.
TEST(NpyTest, PutsFortranOrderIntoCOrder) {
  std::vector<uint8_t> fortran(48), expected(48);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        const int c_place = 12 * i + 4 * j + k;
        for (int byte = 0; byte < 2; ++byte) {
          const auto value = static_cast<uint8_t>(2 * c_place + byte);
          fortran[2 * (i + 2 * j + 6 * k) + byte] = value;
          expected[2 * c_place + byte] = value;
        }
      }
    }
  }
  const auto file = Npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }", fortran);
  const NpyView read = ParseNpy(file, "x.npy");
  EXPECT_EQ(read.shape, Shape({2, 3, 4}));
  EXPECT_EQ(std::vector<uint8_t>(read.data.begin(), read.data.end()), expected);
  const auto row = Npy("{'descr': '|u1', 'fortran_order': True, 'shape': (3,), }", {1, 2, 3});
  EXPECT_EQ(ParseNpy(row, "x.npy").reordered, nullptr);
  const auto none = Npy("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 0), }", {});
  EXPECT_TRUE(ParseNpy(none, "x.npy").data.empty());
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  const auto error = [](const std::string& dict, size_t bytes) {
    return ErrorOf([&] { ParseNpy(Npy(dict, std::vector<uint8_t>(bytes)), "x.npy"); });
  };
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }", 8), kNoError);
  EXPECT_EQ(error("{\"shape\": (2,), \"descr\": \"|u1\", \"fortran_order\": False}", 2), kNoError);
  EXPECT_THAT(error("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8),
              HasSubstr("'>f4'"));
  EXPECT_THAT(error("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8),
              HasSubstr("'|O'"));
  EXPECT_THAT(error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8),
              HasSubstr("header"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8),
              HasSubstr("needs 12"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 8),
              HasSubstr("size"));
  EXPECT_THAT(
      error("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776), }",
            8),
      HasSubstr("too large"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, }", 8), HasSubstr("missing"));
  EXPECT_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': '', }", 8),
              HasSubstr("'more'"));
  EXPECT_THAT(error("{'descr': '<f4", 8), HasSubstr("does not end"));
}

TEST(NpzTest, RoundTripAndReproducibleBytes) {
  const TemporaryFolder folder;
  const std::vector<NumpyArray> arrays = {
      MakeArray<float>("conv1/out:0", DType::kF32, {2, 2}, {1, 2, 3, 4}),
      MakeArray<uint8_t>("b", DType::kU8, {3}, {7, 8, 9})};
  WriteNpz(folder / "a.npz", arrays);
  setenv("TZ", "Asia/Tokyo", 1);
  WriteNpz(folder / "b.npz", arrays);
  EXPECT_EQ(ReadFile(folder / "a.npz"), ReadFile(folder / "b.npz"));
  const std::vector<NumpyArray> read = ReadNpz(folder / "a.npz");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "conv1/out:0");
  EXPECT_EQ(read[0].shape, (Shape{2, 2}));
  EXPECT_EQ(read[1].bytes, arrays[1].bytes);
  WriteNpz(folder / "none.npz", {});
  EXPECT_TRUE(ReadNpz(folder / "none.npz").empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3)
      << "left-over temporary files";
}

TEST(NpzTest, FailedWriteLeavesTheOldFile) {
  const TemporaryFolder folder;
  WriteText(folder / "a.npz", "old");
  const NumpyArray wrong{"x", DType::kF32, {3}, {1, 2}};
  EXPECT_NE(ErrorOf([&] { WriteNpz(folder / "a.npz", {wrong}); }), kNoError);
  EXPECT_EQ(ReadTextFile(folder / "a.npz"), "old");
}

// Any bytes give an array or an Error: cut at every length, and with random bytes changed.
void Damage(const std::vector<uint8_t>& good, const std::string& path,
            const std::function<void()>& read) {
  for (size_t size = 0; size < good.size(); ++size) {
    WriteBytes(path, {good.begin(), good.begin() + static_cast<int64_t>(size)});
    EXPECT_NE(ErrorOf(read), kNoError) << "cut to " << size;
  }
  constexpr unsigned kSeed = 20;
  std::mt19937 random(kSeed);
  for (int i = 0; i < 600; ++i) {
    std::vector<uint8_t> bytes = good;
    for (unsigned n = 1 + random() % 4; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    WriteBytes(path, bytes);
    ErrorOf(read);  // anything but a crash, another exception or an endless allocation
  }
}

// What a directory or a header claims is checked before anything is unpacked.
TEST(LimitTest, ArchivesThatWouldFillTheMemoryAreRefused) {
  const TemporaryFolder folder;
  WriteNpz(folder / "x.npz", {MakeArray<float>("x", DType::kF32, {1}, {1})});
  std::vector<uint8_t> bytes = ReadFile(folder / "x.npz");
  const std::string entry = "PK\1\2";
  const auto directory = std::search(bytes.begin(), bytes.end(), entry.begin(), entry.end());
  ASSERT_NE(directory, bytes.end());
  directory[24 + 3] = 0xe0;  // the size unpacked: more than 3.7e9 bytes
  WriteBytes(folder / "bomb.npz", bytes);
  EXPECT_THAT(ErrorOf([&] { ReadNpz(folder / "bomb.npz"); }),
              HasSubstr("more than 1073741824 bytes unpacked"));
  WriteBytes(folder / "bomb.idx", {0, 0, 8, 3, 1, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 28});
  EXPECT_THAT(ErrorOf([&] { ReadIdx(folder / "bomb.idx"); }), HasSubstr("gunzip"));
}

TEST(NpzTest, SampleNamesAreAnArrayOfTextThatReadersPassOver) {
  const TemporaryFolder folder;
  const NumpyArray x = MakeArray<float>("x", DType::kF32, {2}, {1, 2});
  WriteNpz(folder / "x.npz", {x}, {"a.jpg", "Z\xc3\xbcrich \xff.jpg"});
  const std::vector<NumpyArray> read = ReadNpz(folder / "x.npz");
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].bytes, x.bytes);
  const std::vector<uint8_t> bytes = ReadFile(folder / "x.npz");
  const auto holds = [&](const std::string& text) {
    const std::vector<uint8_t> part(text.begin(), text.end());
    return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
  };
  EXPECT_TRUE(holds("sample_names.npy"));
  EXPECT_TRUE(holds("'descr': '<U12', 'fortran_order': False, 'shape': (2,)"));
  EXPECT_TRUE(holds(std::string("Z\0\0\0\xfc\0\0\0r\0\0\0", 12)));
  EXPECT_TRUE(holds(std::string("\xfd\xff\0\0.\0\0\0", 8)));
}

TEST(DamagedFileTest, Npy) {
  const TemporaryFolder folder;
  WriteNpy(folder / "x.npy", MakeArray<float>("", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  Damage(ReadFile(folder / "x.npy"), folder / "d.npy", [&] { ReadNpy(folder / "d.npy"); });
}

TEST(DamagedFileTest, Npz) {
  const TemporaryFolder folder;
  WriteNpz(folder / "x.npz", {MakeArray<float>("x", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6})});
  Damage(ReadFile(folder / "x.npz"), folder / "d.npz", [&] { ReadNpz(folder / "d.npz"); });
}

TEST(DamagedFileTest, Idx) {
  const TemporaryFolder folder;
  const std::vector<uint8_t> good = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4};
  Damage(good, folder / "d", [&] { ReadIdx(folder / "d"); });
  WriteBytes(folder / "d", {0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 1, 0, 0, 0, 1, 0, 1});
  EXPECT_THAT(ErrorOf([&] { ReadIdx(folder / "d"); }), HasSubstr("damaged"));
  WriteBytes(folder / "d", {0, 0, 13, 1, 0, 0, 0, 1, 1, 2, 3, 4});
  EXPECT_THAT(ErrorOf([&] { ReadIdx(folder / "d"); }), HasSubstr("element type 13"));
}

}  // namespace
}  // namespace rshift
