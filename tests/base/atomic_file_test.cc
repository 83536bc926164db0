#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/base/error_of.h"

namespace rshift {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() {
    std::string pattern = (fs::temp_directory_path() / "atomic_file_test.XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~AtomicFileTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path directory_;
};

// Makes write() fail after `bytes` bytes of a file, as a full disk would, for root as well.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(AtomicFileTest, ReadsBackWhatWasWritten) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{1000003}}) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
    WriteFileAtomic(Path("data"), bytes);
    EXPECT_EQ(ReadFile(Path("data")), bytes);
  }
  WriteFileAtomic(Path("text"), std::string_view("a\0b\n", 4));
  EXPECT_EQ(ReadTextFile(Path("text")), std::string("a\0b\n", 4));
  EXPECT_EQ(Names(), (std::vector<std::string>{"data", "text"}));
}

TEST_F(AtomicFileTest, FailedWriteLeavesTheOldFileWholeAndNothingBeside) {
  const std::string old = "the old content";
  WriteFileAtomic(Path("file"), old);
  std::string message;
  {
    const FileSizeLimit limit(64 * 1024);
    const std::vector<uint8_t> large(1024 * 1024, 1);
    message = ErrorOf(ErrorCode::kIo, [&] { WriteFileAtomic(Path("file"), large); });
  }
  EXPECT_THAT(message, HasSubstr(Path("file") + ": cannot write: File too large"));
  EXPECT_EQ(ReadTextFile(Path("file")), old);
  EXPECT_EQ(Names(), std::vector<std::string>{"file"});
}

TEST_F(AtomicFileTest, FailedFirstWriteLeavesNoFile) {
  {
    const FileSizeLimit limit(10);
    EXPECT_NE(
        ErrorOf(ErrorCode::kIo, [&] { WriteFileAtomic(Path("file"), "more than ten bytes"); }),
        kNoError);
  }
  EXPECT_TRUE(Names().empty());
}

TEST_F(AtomicFileTest, ErrorsNameTheFileAndTheReason) {
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { ReadFile(Path("none")); }),
            Path("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { ReadFile(directory_); }),
            directory_.string() + ": cannot open: is a directory, expected a file");
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { WriteFileAtomic(directory_, "x"); }),
            directory_.string() + ": cannot write: is a directory, expected a file name");
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { WriteFileAtomic(Path("no/such"), "x"); }),
            Path("no/such") + ": cannot write: the folder " + Path("no") +
                " does not exist; create it first");
  WriteFileAtomic(Path("file"), "x");
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { WriteFileAtomic(Path("file/x"), "x"); }),
            Path("file/x") + ": cannot write: " + Path("file") + " is not a folder");
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { WriteFileAtomic("/proc/x", "x"); }),
            "/proc/x: cannot create a file in the folder /proc: No such file or directory");
  EXPECT_THAT(ErrorOf(ErrorCode::kIo, [] { ReadFile(""); }), HasSubstr("(empty file name)"));
}

TEST_F(AtomicFileTest, CheckWritableRefusesWhatAWriteWouldRefuseAndLeavesNoTrace) {
  WriteFileAtomic(Path("file"), "old");
  CheckWritable(Path("file"));
  CheckWritable(Path("new"));
  CheckWritable("/dev/null");
  EXPECT_EQ(ReadTextFile(Path("file")), "old");
  EXPECT_EQ(Names(), std::vector<std::string>{"file"});
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { CheckWritable(directory_); }),
            directory_.string() + ": cannot write: is a directory, expected a file name");
  EXPECT_EQ(ErrorOf(ErrorCode::kIo, [&] { CheckWritable(Path("no/such")); }),
            Path("no/such") + ": cannot write: the folder " + Path("no") +
                " does not exist; create it first");
}

TEST_F(AtomicFileTest, ReplacesTheFileBehindALinkAndKeepsItsPermissions) {
  WriteFileAtomic(Path("file"), "old");
  fs::permissions(Path("file"), fs::perms::owner_all);
  fs::create_symlink("file", Path("link"));
  WriteFileAtomic(Path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ReadTextFile(Path("file")), "new");
  EXPECT_EQ(fs::status(Path("file")).permissions(), fs::perms::owner_all);
}

TEST_F(AtomicFileTest, WritesThroughAPipeInsteadOfReplacingIt) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = ReadTextFile(Path("pipe")); });
  WriteFileAtomic(Path("pipe"), "through");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
}

TEST_F(AtomicFileTest, LongestAllowedNameCanBeWritten) {
  const std::string name(255, 'n');
  WriteFileAtomic(Path(name), "x");
  EXPECT_EQ(Names(), std::vector<std::string>{name});
}

// Readers see one of the writers' files, whole, at any moment.
TEST_F(AtomicFileTest, ConcurrentWritersNeverMix) {
  WriteFileAtomic(Path("file"), std::string(50000, 'a'));
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c'}) {
    writers.emplace_back([this, letter] {
      for (int i = 0; i < 20; ++i) WriteFileAtomic(Path("file"), std::string(50000, letter));
    });
  }
  for (int i = 0; i < 100; ++i) {
    const std::string text = ReadTextFile(Path("file"));
    EXPECT_EQ(text, std::string(50000, text.empty() ? '?' : text[0]));
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Names(), std::vector<std::string>{"file"});
}

TEST_F(AtomicFileTest, TemporaryFileReplacesOnlyOnCommit) {
  WriteFileAtomic(Path("file"), "old");
  {
    const TemporaryFile abandoned(Path("file"));
    std::ofstream(abandoned.path()) << "half a file";
  }
  EXPECT_EQ(ReadTextFile(Path("file")), "old");
  {
    TemporaryFile finished(Path("file"));
    std::ofstream(finished.path()) << "new";
    EXPECT_EQ(ReadTextFile(Path("file")), "old");
    finished.Commit();
  }
  EXPECT_EQ(ReadTextFile(Path("file")), "new");
  EXPECT_EQ(Names(), std::vector<std::string>{"file"});
}

// Starts a process that writes beside `path` and waits for ever.
pid_t StartUnfinishedWriter(const std::string& path) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const TemporaryFile temporary(path);
    std::ofstream(temporary.path()) << "half a file";
    std::ofstream(temporary.path() + ".Zip123") << "what libzip leaves";
    (void)!write(ready[1], "r", 1);
    for (;;) pause();
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

void Kill(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(AtomicFileTest, FilesOfAKilledWriterAreRemovedByTheNextOne) {
  Kill(StartUnfinishedWriter(Path("file")));
  ASSERT_EQ(Names().size(), 2U);
  WriteFileAtomic(Path("file"), "whole");
  EXPECT_EQ(Names(), std::vector<std::string>{"file"});
}

TEST_F(AtomicFileTest, FilesOfALivingWriterStay) {
  const pid_t child = StartUnfinishedWriter(Path("file"));
  WriteFileAtomic(Path("file"), "whole");
  EXPECT_EQ(Names().size(), 3U);
  Kill(child);
}

TEST_F(AtomicFileTest, FilesThatAnotherMachineOrAUserMayHaveWrittenStay) {
  Kill(StartUnfinishedWriter(Path("file")));
  std::vector<std::string> others = {".rshift-", ".rshift-x-1-2.tmp", ".rshift-my-own.tmp"};
  for (const std::string& name : Names()) {
    // Another boot or container; a name that only begins like ours.
    others.push_back(".rshift-0" + name.substr(std::string(".rshift-").size()));
    if (name.ends_with(".tmp")) others.push_back(name + "o");
    fs::remove(Path(name));
  }
  std::sort(others.begin(), others.end());
  for (const std::string& name : others) std::ofstream(Path(name)) << "not ours to remove";
  CheckWritable(Path("file"));
  EXPECT_EQ(Names(), others);
}

TEST_F(AtomicFileTest, SameFileSeesThroughSpellingsAndLinks) {
  const auto touch = [&](const char* name) { std::ofstream(Path(name)) << name; };
  touch("a");
  touch("b");
  fs::create_directory(Path("folder"));
  fs::create_symlink("a", Path("symbolic"));
  fs::create_hard_link(Path("a"), Path("hard"));
  for (const char* name : {"a", "./a", "folder/../a", "symbolic", "hard"}) {
    EXPECT_TRUE(SameFile(Path("a"), Path(name))) << name;
    EXPECT_TRUE(SameFile(Path(name), Path("a"))) << name;
    EXPECT_FALSE(SameFile(Path("b"), Path(name))) << name;
    EXPECT_FALSE(SameFile(Path("new"), Path(name))) << name;
  }
  EXPECT_TRUE(SameFile(Path("new"), Path("folder/../new")));
  EXPECT_FALSE(SameFile(Path("new"), Path("folder/new")));
  EXPECT_FALSE(SameFile(Path("none/new"), Path("none/new")));  // cannot be written at all
  EXPECT_FALSE(SameFile(Path("folder"), Path("folder")));
  EXPECT_FALSE(SameFile("/dev/null", "/dev/null"));
  EXPECT_FALSE(SameFile("", ""));
}

TEST_F(AtomicFileTest, CommitFailsWhenTheWriterLeftNothing) {
  TemporaryFile temporary(Path("file"));
  fs::remove(temporary.path());
  EXPECT_THAT(ErrorOf(ErrorCode::kIo, [&] { temporary.Commit(); }), HasSubstr("is gone"));
}

}  // namespace
}  // namespace rshift
