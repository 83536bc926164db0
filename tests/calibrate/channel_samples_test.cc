// Which samples equalization looks at: by what they hold, not by what they are called.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "calibrate/channel_ranges.h"
#include "tests/calibrate/temporary_folder.h"

namespace rshift {
namespace {

constexpr int kCount = 40;
const std::vector<InputSpec> kRow = {{"x", {1, 8}}};

std::vector<std::vector<float>> RandomRows() {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<std::vector<float>> rows(kCount, std::vector<float>(8));
  for (std::vector<float>& row : rows)
    std::generate(row.begin(), row.end(), [&] { return uniform(random); });
  return rows;
}

// What is chosen, in its order.
std::vector<std::vector<float>> ChosenOf(const std::vector<std::string>& paths) {
  const auto dataset = OpenDataset(paths, kRow, {});
  std::vector<std::vector<float>> chosen;
  for (const int64_t index :
       ChooseChannelSamples(*dataset, ChooseSamples(dataset->size(), 0, 0), 2))
    chosen.push_back(dataset->Read(index).inputs[0]);
  return chosen;
}

void WriteRow(const std::string& path, const std::vector<float>& row) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  WriteNpy(path, MakeArray("", DType::kF32, {1, 8}, row));
}

TEST(ChooseChannelSamples, FoldersWithTheSameNamesInAnyOrderAndArrays) {
  const TemporaryFolder folder;
  const std::vector<std::vector<float>> rows = RandomRows();
  std::vector<float> all;
  for (int i = 0; i < kCount; ++i) {
    const std::vector<float>& row = rows[static_cast<size_t>(i)];
    WriteRow(folder / Cat(i % 2 == 0 ? "a/" : "b/", i / 2, ".npy"), row);
    WriteRow(folder / Cat("c/", 100 - i, ".npy"), row);
    all.insert(all.end(), row.begin(), row.end());
  }
  WriteNpy(folder / "all.npy", MakeArray("", DType::kF32, {kCount, 8}, all));
  const auto chosen = ChosenOf({folder / "a", folder / "b"});
  EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), kChannelSamples);
  EXPECT_EQ(chosen, ChosenOf({folder / "b", folder / "a"}));
  EXPECT_EQ(chosen, ChosenOf({folder / "c"}));
  EXPECT_EQ(chosen, ChosenOf({folder / "all.npy"}));
}

TEST(ChooseChannelSamples, WhatCannotBeReadIsNotChosen) {
  const TemporaryFolder folder;
  const std::vector<std::vector<float>> rows = RandomRows();
  for (int i = 0; i < 5; ++i) WriteRow(folder / Cat("a/", i, ".npy"), rows[static_cast<size_t>(i)]);
  WriteText(folder / "a/damaged.npy", "no array");
  EXPECT_EQ(ChosenOf({folder / "a"}).size(), 5u);
}

}  // namespace
}  // namespace rshift
