#include "calibrate/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cmath>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "base/half.h"
#include "calibrate/data/finite.h"
#include "calibrate/data/source.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<InputSpec> kVector = {{"x", {1, 3}}};
const std::vector<InputSpec> kGray = {{"x", {1, 1, 2, 2}}};

Preprocess GrayRecipe() {
  return ReadPreprocess("inputs:\n  - {name: x, color: GRAY, mean: [10], scale: [0.5]}\n", "p");
}

std::vector<uint8_t> IdxImages(uint32_t count, const std::vector<uint8_t>& pixels) {
  std::vector<uint8_t> bytes = {0, 0, 8, 3, 0, 0, 0, static_cast<uint8_t>(count),
                                0, 0, 0, 2, 0, 0, 0, 2};
  for (const uint8_t pixel : pixels) bytes.push_back(pixel);
  return bytes;
}

void WriteGz(const std::string& path, const std::vector<uint8_t>& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

void WritePng(const std::string& path, std::vector<uint8_t> pixels) {
  cv::imwrite(path, cv::Mat(2, 2, CV_8UC1, pixels.data()));
}

TEST(DatasetTest, NpyLeadingDimensionIsSamples) {
  const TemporaryFolder folder;
  WriteNpy(folder / "x.npy", MakeArray<float>("", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto dataset = OpenDataset({folder / "x.npy"}, kVector, std::nullopt);
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->name(1), "x.npy:1");
  EXPECT_THAT(dataset->Read(1).inputs[0], ElementsAre(4, 5, 6));
  EXPECT_NE(ContentSha256(dataset->Read(0)), ContentSha256(dataset->Read(1)));
  // hashlib.sha256(struct.pack('<3f', 1, 2, 3)).hexdigest()
  EXPECT_EQ(ContentSha256(dataset->Read(0)),
            "8e628779e6a74ee0b36991c10158f63cafec7d340ad4e075592502c8708524dd");
}

TEST(DatasetTest, NpyOfTheInputsShapeIsOneSample) {
  const TemporaryFolder folder;
  WriteNpy(folder / "x.npy", MakeArray<float>("", DType::kF32, {1, 3}, {1, 2, 3}));
  WriteNpy(folder / "y.npy", MakeArray<float>("", DType::kF32, {3}, {1, 2, 3}));
  const std::vector<InputSpec> wide = {{"x", {2, 3}}};
  WriteNpy(folder / "z.npy", MakeArray<float>("", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(OpenDataset({folder / "x.npy"}, kVector, std::nullopt)->name(0), "x.npy");
  EXPECT_EQ(OpenDataset({folder / "y.npy"}, kVector, std::nullopt)->size(), 1);
  EXPECT_EQ(OpenDataset({folder / "z.npy"}, wide, std::nullopt)->Read(0).inputs[0].size(), 6u);
}

TEST(DatasetTest, OtherElementTypesAreConverted) {
  const TemporaryFolder folder;
  WriteNpy(folder / "u8.npy", MakeArray<uint8_t>("", DType::kU8, {1, 3}, {0, 128, 255}));
  WriteNpy(folder / "f16.npy",
           MakeArray<uint16_t>("", DType::kF16, {1, 3},
                               {FloatToHalf(1.5f), FloatToHalf(-2), FloatToHalf(0.25f)}));
  WriteNpy(folder / "f64.npy", MakeArray<double>("", DType::kF64, {1, 3}, {0.1, -3, 1e10}));
  WriteNpy(folder / "s64.npy", MakeArray<int64_t>("", DType::kS64, {1, 3}, {-7, 0, 9}));
  const auto read = [&](const char* name) {
    return OpenDataset({folder / name}, kVector, std::nullopt)->Read(0).inputs[0];
  };
  EXPECT_THAT(read("u8.npy"), ElementsAre(0, 128, 255));
  EXPECT_THAT(read("f16.npy"), ElementsAre(1.5f, -2, 0.25f));
  EXPECT_THAT(read("f64.npy"), ElementsAre(0.1f, -3, 1e10f));
  EXPECT_THAT(read("s64.npy"), ElementsAre(-7, 0, 9));
}

TEST(DatasetTest, NpzFeedsInputsByName) {
  const TemporaryFolder folder;
  const std::vector<InputSpec> two = {{"a", {1, 2}}, {"b", {1, 1}}};
  WriteNpz(folder / "s.npz", {MakeArray<float>("b", DType::kF32, {2, 1}, {5, 6}),
                              MakeArray<float>("a", DType::kF32, {2, 2}, {1, 2, 3, 4})});
  const auto dataset = OpenDataset({folder / "s.npz"}, two, std::nullopt);
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_THAT(dataset->Read(1).inputs[0], ElementsAre(3, 4));
  EXPECT_THAT(dataset->Read(1).inputs[1], ElementsAre(6));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "s.npz"}, kVector, std::nullopt); }),
              HasSubstr("no array 'x'"));
}

TEST(DatasetTest, LoneNpzArrayFeedsTheOnlyInputWhateverItsName) {
  const TemporaryFolder folder;
  WriteNpz(folder / "s.npz", {MakeArray<float>("arr_0", DType::kF32, {1, 3}, {1, 2, 3})});
  EXPECT_EQ(OpenDataset({folder / "s.npz"}, kVector, std::nullopt)->size(), 1);
}

TEST(DatasetTest, NamedInputsNeedEquallyManySamples) {
  const TemporaryFolder folder;
  const std::vector<InputSpec> two = {{"a", {1, 1}}, {"b", {1, 1}}};
  WriteNpy(folder / "1.npy", MakeArray<float>("", DType::kF32, {1, 1}, {1}));
  WriteNpy(folder / "2.npy", MakeArray<float>("", DType::kF32, {2, 1}, {1, 2}));
  const auto open = [&](const std::vector<std::string>& paths) {
    return OpenDataset(paths, two, std::nullopt);
  };
  EXPECT_EQ(open({"b=" + folder / "2.npy", "a=" + folder / "2.npy"})->size(), 2);
  EXPECT_THAT(ErrorOf([&] {
                open({"b=" + folder / "2.npy", "a=" + folder / "1.npy"});
              }),
              HasSubstr("has 2 samples"));
  EXPECT_THAT(ErrorOf([&] { open({"b=" + folder / "2.npy"}); }),
              HasSubstr("no samples for input 'a'"));
  EXPECT_THAT(ErrorOf([&] { open({"c=" + folder / "2.npy"}); }), HasSubstr("no input 'c'"));
  EXPECT_THAT(ErrorOf([&] { open({folder / "2.npy"}); }), HasSubstr("say which one"));
}

TEST(DatasetTest, IdxImagesArePreprocessed) {
  const TemporaryFolder folder;
  const auto bytes = IdxImages(2, {0, 10, 20, 30, 40, 50, 60, 70});
  WriteBytes(folder / "train-images-idx3-ubyte", bytes);
  WriteGz(folder / "packed-ubyte.gz", bytes);
  const auto plain = OpenDataset({folder / "train-images-idx3-ubyte"}, kGray, GrayRecipe());
  const auto packed = OpenDataset({folder / "packed-ubyte.gz"}, kGray, GrayRecipe());
  ASSERT_EQ(plain->size(), 2);
  EXPECT_EQ(plain->name(1), "train-images-idx3-ubyte:1");
  EXPECT_EQ(packed->name(0), "packed-ubyte:0");
  EXPECT_THAT(plain->Read(1).inputs[0], ElementsAre(15, 20, 25, 30));
  EXPECT_EQ(ContentSha256(plain->Read(1)), ContentSha256(packed->Read(1)));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "packed-ubyte.gz"}, kGray, std::nullopt); }),
              HasSubstr("--preprocess"));
}

TEST(DatasetTest, IdxIsGrayAndColourRecipesAreRefused) {
  const TemporaryFolder folder;
  WriteBytes(folder / "i-ubyte", IdxImages(1, {1, 2, 3, 4}));
  const auto recipe = ReadPreprocess("inputs:\n  - {name: x, color: RGB}\n", "p");
  const auto dataset = OpenDataset({folder / "i-ubyte"}, kGray, recipe);
  EXPECT_THAT(ErrorOf([&] { dataset->Read(0); }), HasSubstr("1 channel"));
}

TEST(DatasetTest, FolderIsSortedAndIgnoresOtherFiles) {
  const TemporaryFolder folder;
  WritePng(folder / "b.png", {1, 2, 3, 4});
  WritePng(folder / "a.PNG", {5, 6, 7, 8});
  WriteText(folder / "labels.txt", "a.PNG 1\nb.png 2\n");
  const auto dataset = OpenDataset({folder.path()}, kGray, GrayRecipe());
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->name(0), "a.PNG");
  EXPECT_EQ(dataset->name(1), "b.png");
  EXPECT_THAT(dataset->Read(0).inputs[0], ElementsAre(-2.5f, -2, -1.5f, -1));
}

TEST(DatasetTest, FoldersWithinAreEnteredInOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"set", "set/cat", "set/dog", "set/.cache"})
    std::filesystem::create_directory(folder / name);
  for (const char* name : {"dog/1", "cat/2", "cat/1", "zebra", ".cache/1", "dog/.hidden"})
    WritePng(folder / ("set/" + std::string(name) + ".png"), {1, 2, 3, 4});
  std::filesystem::create_directory_symlink(folder / "set", folder / "set/dog/loop");
  const auto dataset = OpenDataset({folder / "set"}, kGray, GrayRecipe());
  std::vector<std::string> names;
  for (int64_t i = 0; i < dataset->size(); ++i) names.push_back(dataset->name(i));
  EXPECT_THAT(names, ElementsAre("cat/1.png", "cat/2.png", "dog/1.png", "zebra.png"));
  WriteText(folder / "by_path.txt", "cat/1.png 3\ncat/2.png 3\ndog/1.png 5\nzebra.png 7\n");
  EXPECT_THAT(ReadLabels(folder / "by_path.txt", *dataset), ElementsAre(3, 3, 5, 7));
  WriteText(folder / "by_name.txt", "1.png 3\n2.png 3\nzebra.png 7\n");
  EXPECT_THAT(ErrorOf([&] { ReadLabels(folder / "by_name.txt", *dataset); }),
              HasSubstr("'1.png' may be sample 'cat/1.png' or 'dog/1.png'"));
}

TEST(DatasetTest, DevicesAndPipesAreRefused) {
  const TemporaryFolder folder;
  for (const char* name : {"pipe", "pipe.npy", "pipe.npz", "pipe.txt", "pipe.png", "pipe.gz"})
    ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0);
  WritePng(folder / "a.png", {1, 2, 3, 4});
  const auto dataset = OpenDataset({folder / "a.png"}, kGray, GrayRecipe());
  for (const std::string& path :
       {folder / "pipe", folder / "pipe.npy", folder / "pipe.npz", folder / "pipe.txt",
        folder / "pipe.png", folder / "pipe.gz", std::string("/dev/zero")}) {
    EXPECT_THAT(ErrorOf([&] { OpenDataset({path}, kGray, GrayRecipe()); }),
                HasSubstr(path + ": is a device or a pipe"));
    EXPECT_THAT(ErrorOf([&] { ReadLabels(path, *dataset); }), HasSubstr("is a device or a pipe"));
  }
}

TEST(DatasetTest, PreprocessingOfAnotherInputIsNamed) {
  const TemporaryFolder folder;
  WritePng(folder / "a.png", {1, 2, 3, 4});
  const auto recipe = ReadPreprocess("inputs:\n  - {name: data, color: GRAY}\n", "p");
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "a.png"}, kGray, recipe); }),
              HasSubstr("the preprocessing is for input 'data', the model's input is 'x'"));
  const auto nameless = ReadPreprocess("inputs:\n  - {color: GRAY}\n", "p");
  EXPECT_THAT(OpenDataset({folder / "a.png"}, kGray, nameless)->Read(0).inputs[0],
              ElementsAre(1, 2, 3, 4));
  const std::vector<InputSpec> two = {{"a", {1, 1, 2, 2}}, {"b", {1, 1, 2, 2}}};
  EXPECT_THAT(ErrorOf([&] { OpenDataset({"a=" + folder / "a.png"}, two, nameless); }),
              HasSubstr("'a', 'b'"));
}

TEST(DatasetTest, FolderOfArraysIsOneSampleEach) {
  const TemporaryFolder folder;
  WriteNpz(folder / "2.npz", {MakeArray<float>("x", DType::kF32, {1, 3}, {4, 5, 6})});
  WriteNpy(folder / "1.npy", MakeArray<float>("", DType::kF32, {3}, {1, 2, 3}));
  const auto dataset = OpenDataset({folder.path()}, kVector, std::nullopt);
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_THAT(dataset->Read(0).inputs[0], ElementsAre(1, 2, 3));
  EXPECT_THAT(dataset->Read(1).inputs[0], ElementsAre(4, 5, 6));
  WriteNpy(folder / "3.npy", MakeArray<float>("", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder.path()}, kVector, std::nullopt)->Read(2); }),
              HasSubstr("3.npy"));
}

TEST(DatasetTest, ListIsRelativeToItself) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  WritePng(folder / "sub/b.png", {1, 2, 3, 4});
  WritePng(folder / "a.png", {5, 6, 7, 8});
  WriteText(folder / "list.txt", "\xEF\xBB\xBF# images\n\n  sub/b.png \r\na.png\n");
  const auto dataset = OpenDataset({folder / "list.txt"}, kGray, GrayRecipe());
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->name(0), "sub/b.png");
  WriteText(folder / "above.txt", "./sub/b.png\n");
  EXPECT_EQ(OpenDataset({folder / "above.txt"}, kGray, GrayRecipe())->name(0), "b.png");
  WriteText(folder / "bad.txt", "a.png\n\nmissing.png\n");
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "bad.txt"}, kGray, GrayRecipe()); }),
              HasSubstr("bad.txt:3"));
}

TEST(DatasetTest, CommonFolderIsTheDeepest) {
  const auto common = [](const std::vector<std::string>& paths) {
    return paths.empty() ? "" : paths[0].substr(0, CommonFolderLength(paths));
  };
  EXPECT_EQ(common({"a/b/1", "a/b/2"}), "a/b/");
  EXPECT_EQ(common({"a/b/1", "a/bc/2"}), "a/");
  EXPECT_EQ(common({"a/b/c/1", "a/d", "a/b/2"}), "a/");
  EXPECT_EQ(common({"/a/1", "/b/1"}), "/");
  EXPECT_EQ(common({"a/1", "b/1"}), "");
  EXPECT_EQ(common({"1", "a/1"}), "");
  EXPECT_EQ(common({"/x"}), "/");
  EXPECT_EQ(CommonFolderLength({}), 0u);
}

TEST(DatasetTest, SeveralPathsFollowEachOther) {
  const TemporaryFolder folder;
  WriteNpy(folder / "1.npy", MakeArray<float>("", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  WriteNpy(folder / "2.npy", MakeArray<float>("", DType::kF32, {1, 3}, {7, 8, 9}));
  const auto dataset = OpenDataset({folder / "1.npy", folder / "2.npy"}, kVector, std::nullopt);
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(dataset->name(2), "2.npy");
  EXPECT_THAT(dataset->Read(2).inputs[0], ElementsAre(7, 8, 9));
}

// What a calibration table records: every sample can be opened again by itself.
void ExpectReadableAgain(const Dataset& dataset, const std::vector<InputSpec>& specs,
                         const std::optional<Preprocess>& preprocess) {
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const std::vector<SampleSource> sources = dataset.sources(i);
    ASSERT_EQ(sources.size(), specs.size());
    std::vector<std::string> paths;
    for (size_t k = 0; k < specs.size(); ++k) {
      EXPECT_EQ(sources[k].input, specs[k].name);
      EXPECT_EQ(sources[k].index, sources[0].index);
      for (const std::string& path : sources[k].paths) paths.push_back(specs[k].name + "=" + path);
    }
    const auto again = OpenDataset(paths, specs, preprocess);
    EXPECT_EQ(ContentSha256(again->Read(sources[0].index)), ContentSha256(dataset.Read(i)))
        << dataset.name(i);
  }
}

TEST(DatasetTest, EverySampleSaysWhereItIsReadFrom) {
  const TemporaryFolder folder;
  WritePng(folder / "a.png", {1, 2, 3, 4});
  WritePng(folder / "b.png", {5, 6, 7, 8});
  WriteText(folder / "list.txt", "b.png\na.png\n");
  WriteGz(folder / "images.gz", IdxImages(2, {1, 2, 3, 4, 5, 6, 7, 9}));
  const auto images =
      OpenDataset({folder / "images.gz", folder / "list.txt", folder.path(), folder / "a.png"},
                  kGray, GrayRecipe());
  ASSERT_EQ(images->size(), 7);
  ExpectReadableAgain(*images, kGray, GrayRecipe());
  EXPECT_EQ(images->sources(1)[0], (SampleSource{"x", {folder / "images.gz"}, 1}));

  const std::vector<InputSpec> pair = {{"x", {1, 3}}, {"y", {1, 2}}};
  const auto x = MakeArray<float>("x", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = MakeArray<float>("y", DType::kF32, {2, 2}, {7, 8, 9, 10});
  WriteNpz(folder / "both.npz", {y, x});
  WriteNpy(folder / "x.npy", x);
  WriteNpy(folder / "y.npy", y);
  ExpectReadableAgain(*OpenDataset({folder / "both.npz"}, pair, {}), pair, {});
  ExpectReadableAgain(
      *OpenDataset({"y=" + (folder / "y.npy"), "x=" + (folder / "x.npy")}, pair, {}), pair, {});
}

TEST(DatasetTest, EmptyDataSetsAreErrors) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "empty");
  WriteText(folder / "empty.txt", "# nothing\n");
  WriteNpy(folder / "none.npy", MakeArray<float>("", DType::kF32, {0, 3}, {}));
  WriteBytes(folder / "none-ubyte", IdxImages(0, {}));
  for (const char* name : {"empty", "empty.txt", "none.npy"}) {
    EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / name}, kVector, std::nullopt); }),
                HasSubstr("empty"))
        << name;
  }
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "none-ubyte"}, kGray, GrayRecipe()); }),
              HasSubstr("empty"));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({}, kVector, std::nullopt); }), HasSubstr("no samples"));
}

TEST(DatasetTest, BadSamplesAreNamed) {
  const TemporaryFolder folder;
  WriteText(folder / "broken.png", "\x89PNG\r\n\x1a\n then nothing");
  WriteNpy(folder / "nan.npy",
           MakeArray<float>("", DType::kF32, {2, 3}, {1, 2, 3, 4, std::nanf(""), 6}));
  WriteNpy(folder / "wrong.npy", MakeArray<float>("", DType::kF32, {1, 4}, {1, 2, 3, 4}));
  WriteText(folder / "strange.bin", "hello");
  const auto broken = OpenDataset({folder / "broken.png"}, kGray, GrayRecipe());
  EXPECT_THAT(ErrorOf([&] { broken->Read(0); }), HasSubstr("broken.png"));
  const auto nan = OpenDataset({folder / "nan.npy"}, kVector, std::nullopt);
  EXPECT_EQ(ErrorOf([&] { nan->Read(0); }), kNoError);
  EXPECT_THAT(ErrorOf([&] { nan->Read(1); }),
              HasSubstr(folder / "nan.npy:1: input 'x': element 1 (at 0x1 of 1x3) is nan"));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "wrong.npy"}, kVector, std::nullopt); }),
              HasSubstr("1x4"));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "absent"}, kVector, std::nullopt); }),
              HasSubstr("absent"));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "strange.bin"}, kVector, std::nullopt); }),
              HasSubstr("unknown kind"));
}

TEST(FirstNotFiniteTest, FindsTheFirstWhereverItIs) {
  for (const float bad : {std::nanf(""), -std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    for (const size_t at : {0, 1, 255, 256, 600, 1023, 1024, 1030}) {
      std::vector<float> values(1031, std::numeric_limits<float>::max());
      values[at] = bad;
      values.back() = bad;
      EXPECT_EQ(FirstNotFinite(values), at);
    }
  }
  const std::vector<float> fine(1031, -std::numeric_limits<float>::max());
  EXPECT_EQ(FirstNotFinite(fine), fine.size());
  EXPECT_EQ(FirstNotFinite({}), 0u);
}

TEST(ChooseSamplesTest, AscendingDistinctAndFixed) {
  const auto chosen = ChooseSamples(1000, 50, 7);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::set<int64_t>(chosen.begin(), chosen.end()).size(), 50u);
  EXPECT_GE(chosen.front(), 0);
  EXPECT_LT(chosen.back(), 1000);
  EXPECT_EQ(chosen, ChooseSamples(1000, 50, 7));
  EXPECT_NE(chosen, ChooseSamples(1000, 50, 8));
  EXPECT_THAT(ChooseSamples(3, 0, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(ChooseSamples(3, 10, 1), ElementsAre(0, 1, 2));
  // The choice is part of a table's meaning: it must never change.
  EXPECT_THAT(ChooseSamples(10, 3, 0), ElementsAre(1, 5, 9)) << "changes every calibration table";
}

TEST(ReadLabelsTest, ByNameByArrayAndByIdx) {
  const TemporaryFolder folder;
  WritePng(folder / "a.png", {1, 2, 3, 4});
  WritePng(folder / "b c.png", {5, 6, 7, 8});
  const auto dataset = OpenDataset({folder / "a.png", folder / "b c.png"}, kGray, GrayRecipe());
  WriteText(folder / "labels.txt", "# file class\nb c.png 7\na.png\t3\nother.png 1\n");
  EXPECT_THAT(ReadLabels(folder / "labels.txt", *dataset), ElementsAre(3, 7));
  WriteNpy(folder / "y.npy", MakeArray<int32_t>("", DType::kS32, {2}, {-1, 5}));
  EXPECT_THAT(ReadLabels(folder / "y.npy", *dataset), ElementsAre(-1, 5));
  WriteBytes(folder / "y-ubyte", {0, 0, 8, 1, 0, 0, 0, 2, 9, 200});
  EXPECT_THAT(ReadLabels(folder / "y-ubyte", *dataset), ElementsAre(9, 200));
}

TEST(ReadLabelsTest, MissingExtraAndMalformedLabelsAreErrors) {
  const TemporaryFolder folder;
  WritePng(folder / "a.png", {1, 2, 3, 4});
  const auto dataset = OpenDataset({folder / "a.png"}, kGray, GrayRecipe());
  WriteText(folder / "missing.txt", "b.png 1\n");
  WriteText(folder / "twice.txt", "a.png 1\na.png 2\n");
  WriteText(folder / "bad.txt", "a.png one\n");
  WriteNpy(folder / "long.npy", MakeArray<int32_t>("", DType::kS32, {2}, {1, 2}));
  WriteNpy(folder / "real.npy", MakeArray<float>("", DType::kF32, {1}, {1}));
  const auto error = [&](const char* name) {
    return ErrorOf([&] { ReadLabels(folder / name, *dataset); });
  };
  EXPECT_THAT(error("missing.txt"), HasSubstr("no label for sample 'a.png'"));
  EXPECT_THAT(error("twice.txt"), HasSubstr("twice.txt:2"));
  EXPECT_THAT(error("bad.txt"), HasSubstr("bad.txt:1"));
  EXPECT_THAT(error("long.npy"), HasSubstr("2 labels"));
  EXPECT_THAT(error("real.npy"), HasSubstr("expected integers"));
  EXPECT_THAT(error("absent.txt"), HasSubstr("absent.txt"));
}

}  // namespace
}  // namespace rshift
