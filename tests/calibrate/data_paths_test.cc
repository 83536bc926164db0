// Patterns of names, tar shards and class folders as data sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "calibrate/data/dataset.h"
#include "calibrate/data/path_patterns.h"
#include "calibrate/data/tar.h"
#include "tests/base/error_of.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<InputSpec> kGray = {{"x", {1, 1, 2, 2}}};

Preprocess GrayRecipe() {
  return ReadPreprocess("inputs:\n  - {name: x, color: GRAY, mean: [0], scale: [1]}\n", "p");
}

std::vector<uint8_t> Png(uint8_t value) {
  std::vector<uint8_t> pixels(4, value), bytes;
  cv::imencode(".png", cv::Mat(2, 2, CV_8UC1, pixels.data()), bytes);
  return bytes;
}

// One member of a ustar file, as POSIX.1-1988 has it.
void AddMember(std::vector<uint8_t>& tar, const std::string& name,
               const std::vector<uint8_t>& content) {
  std::vector<uint8_t> header(512, 0);
  const auto put = [&](size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<int64_t>(at));
  };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const uint8_t byte : header) sum += byte;
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  put(148, checksum);
  header[155] = ' ';
  tar.insert(tar.end(), header.begin(), header.end());
  tar.insert(tar.end(), content.begin(), content.end());
  tar.resize((tar.size() + 511) / 512 * 512);
}

std::vector<uint8_t> Ended(std::vector<uint8_t> tar) {
  tar.resize(tar.size() + 1024);
  return tar;
}

std::vector<uint8_t> Bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<float> FirstPixels(const Dataset& dataset) {
  std::vector<float> pixels;
  for (int64_t i = 0; i < dataset.size(); ++i) pixels.push_back(dataset.Read(i).inputs[0][0]);
  return pixels;
}

std::vector<std::string> Names(const Dataset& dataset) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < dataset.size(); ++i) names.push_back(dataset.name(i));
  return names;
}

TEST(PatternTest, BracesAndWildcards) {
  const TemporaryFolder folder;
  for (const char* name : {"s-08", "s-09", "s-10", "b", "a", "{x}"}) WriteText(folder / name, "");
  const auto found = [&](const std::string& text) {
    std::vector<std::string> names;
    for (const std::string& path : MatchPaths(folder / text).paths)
      names.push_back(path.substr(folder.path().size() + 1));
    return names;
  };
  EXPECT_THAT(found("s-{08..10}"), ElementsAre("s-08", "s-09", "s-10"));
  EXPECT_THAT(found("{b,a}"), ElementsAre("b", "a"));
  EXPECT_THAT(found("s-{08..09}*"), ElementsAre("s-08", "s-09"));
  EXPECT_THAT(found("?"), ElementsAre("a", "b"));
  EXPECT_THAT(found("s-[01]*"), ElementsAre("s-08", "s-09", "s-10"));
  EXPECT_THAT(found("{x}"), ElementsAre("{x}"));  // what exists is called so
  EXPECT_FALSE(MatchPaths(folder / "absent").is_pattern);
  EXPECT_THAT(ErrorOf([&] { found("s-{08..11}"); }), HasSubstr("s-11'"));
  EXPECT_THAT(ErrorOf([&] { found("*.jpg"); }), HasSubstr("no file matches"));
  EXPECT_THAT(ErrorOf([&] { found("s-{10..08}"); }), HasSubstr("expected to ascend"));
  EXPECT_THAT(ErrorOf([&] { found("s-{0..9999999}"); }), HasSubstr("at most 1000000"));
  EXPECT_TRUE(MatchingPaths(folder / "*.jpg").empty());
}

TEST(PatternTest, ImagesAreNamedFromThePatternsRoot) {
  const TemporaryFolder folder;
  for (const char* name : {"b", "a"}) std::filesystem::create_directory(folder / name);
  WriteBytes(folder / "b/1.png", Png(1));
  WriteBytes(folder / "a/2.png", Png(2));
  WriteBytes(folder / "a/3.jpeg", Png(3));
  const auto all = OpenDataset({folder / "*/*.png"}, kGray, GrayRecipe());
  EXPECT_THAT(Names(*all), ElementsAre("a/2.png", "b/1.png"));
  EXPECT_THAT(FirstPixels(*all), ElementsAre(2, 1));
  EXPECT_THAT(ReadLabels(kOwnLabels, *all), ElementsAre(0, 1));
  const auto folders = OpenDataset({"x=" + (folder / "[ab]")}, kGray, GrayRecipe());
  EXPECT_THAT(Names(*folders), ElementsAre("a/2.png", "a/3.jpeg", "b/1.png"));
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "c*"}, kGray, GrayRecipe()); }),
              AllOf(HasSubstr("the data set is empty"), HasSubstr("c*")));
}

TEST(ClassFolderTest, LabelsAreTheSortedFoldersOrThoseOfANamesFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "set/cat/young");
  std::filesystem::create_directories(folder / "set/ant");
  WriteBytes(folder / "set/cat/young/1.png", Png(1));
  WriteBytes(folder / "set/ant/2.png", Png(2));
  const auto set = OpenDataset({folder / "set"}, kGray, GrayRecipe());
  std::string note;
  EXPECT_THAT(ReadLabels(kOwnLabels, *set, {.note = [&](const std::string& n) { note = n; }}),
              ElementsAre(0, 1));
  EXPECT_THAT(note, HasSubstr("2 class folders, sorted: ant = 0, cat = 1"));
  WriteText(folder / "names.txt", "dog\ncat\nant\n");
  EXPECT_THAT(ReadLabels(kOwnLabels, *set, {.names = folder / "names.txt"}), ElementsAre(2, 1));
  WriteText(folder / "other.txt", "one\ntwo\n");
  EXPECT_THAT(ReadLabels(kOwnLabels, *set, {.names = folder / "other.txt"}), ElementsAre(0, 1));
  WriteText(folder / "half.txt", "one\ncat\n");
  EXPECT_THAT(ErrorOf([&] { ReadLabels(kOwnLabels, *set, {.names = folder / "half.txt"}); }),
              HasSubstr("has no class 'ant'"));
  std::filesystem::create_directory(folder / "set/bee");
  const auto gap = OpenDataset({folder / "set"}, kGray, GrayRecipe());
  EXPECT_THAT(ErrorOf([&] { ReadLabels(kOwnLabels, *gap); }), HasSubstr("class folder 'bee'"));
  const auto flat = OpenDataset({folder / "set/ant"}, kGray, GrayRecipe());
  EXPECT_THAT(ErrorOf([&] { ReadLabels(kOwnLabels, *flat); }),
              HasSubstr("'2.png' lies in no class folder"));
  std::filesystem::create_directories(folder / "bare/a/b");
  EXPECT_THAT(ErrorOf([&] { OpenDataset({folder / "bare"}, kGray, GrayRecipe()); }),
              HasSubstr("neither the folder nor those within it hold images"));
}

TEST(TarTest, SamplesAreReadInPlaceSortedByKey) {
  const TemporaryFolder folder;
  std::vector<uint8_t> tar;
  AddMember(tar, "in/002.png", Png(2));
  AddMember(tar, "in/002.cls", Bytes("7\n"));
  AddMember(tar, "in/001.seg.png", Png(9));  // of key 001, of another kind
  AddMember(tar, "./in/001.png", Png(1));
  AddMember(tar, "in/001.json", Bytes("{}"));
  AddMember(tar, "in/001.cls", Bytes("3"));
  WriteBytes(folder / "s.tar", Ended(tar));
  const auto set = OpenDataset({folder / "s.tar"}, kGray, GrayRecipe());
  EXPECT_THAT(Names(*set), ElementsAre("s.tar/in/001.png", "s.tar/in/002.png"));
  EXPECT_THAT(FirstPixels(*set), ElementsAre(1, 2));
  EXPECT_THAT(ReadLabels(kOwnLabels, *set), ElementsAre(3, 7));
  WriteText(folder / "labels.txt", "001.png 4\n002.png 5\n");
  EXPECT_THAT(ReadLabels(folder / "labels.txt", *set), ElementsAre(4, 5));
  const auto sources = set->sources(1);
  EXPECT_EQ(OpenDataset(sources[0].paths, kGray, GrayRecipe())->Read(sources[0].index).inputs,
            set->Read(1).inputs);
}

TEST(TarTest, BadShardsAreOneClearLine) {
  const TemporaryFolder folder;
  std::vector<uint8_t> tar;
  AddMember(tar, "1.png", Png(1));
  const auto error = [&](const std::vector<uint8_t>& bytes) {
    WriteBytes(folder / "s.tar", bytes);
    return ErrorOf([&] { OpenDataset({folder / "s.tar"}, kGray, GrayRecipe()); });
  };
  EXPECT_EQ(error(Ended(tar)), kNoError);
  EXPECT_THAT(error(tar), HasSubstr("is cut off"));
  for (const size_t size : {size_t{1}, size_t{100}, size_t{512}, size_t{530}, tar.size() - 1}) {
    EXPECT_THAT(error({tar.begin(), tar.begin() + static_cast<int64_t>(size)}),
                AllOf(HasSubstr("s.tar"),
                      ::testing::AnyOf(HasSubstr("cut off"), HasSubstr("cannot be read"))))
        << size;
  }
  EXPECT_THAT(error({}), HasSubstr("s.tar"));
  std::vector<uint8_t> twice = tar;
  AddMember(twice, "1.jpg", Png(1));
  EXPECT_THAT(error(Ended(twice)), HasSubstr("key '1' occurs twice ('1.png' and '1.jpg')"));
  std::vector<uint8_t> text;
  AddMember(text, "readme.txt", Bytes("x"));
  EXPECT_THAT(error(Ended(text)), HasSubstr("the first is 'readme.txt'"));
  std::vector<uint8_t> label = tar;
  AddMember(label, "1.cls", Bytes("cat"));
  EXPECT_THAT(error(Ended(label)), HasSubstr("1.cls: expected the class as a whole number"));
  std::vector<uint8_t> damaged;
  AddMember(damaged, "1.png", Bytes("not a picture"));
  WriteBytes(folder / "s.tar", Ended(damaged));
  const auto set = OpenDataset({folder / "s.tar"}, kGray, GrayRecipe());
  EXPECT_THAT(ErrorOf([&] { set->Read(0); }), HasSubstr("s.tar/1.png: is no picture"));
}

}  // namespace
}  // namespace rshift
