#include "tools/zerosim/output_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zerosim {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, removed at the end.
class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest()
      : folder_(fs::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  int FilesInFolder() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), {}));
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void Put(const std::string& path, const std::string& text) {
    OutputFile file(path);
    file.Write(text);
    file.Commit();
  }

 private:
  fs::path folder_;
};

std::string ErrorOf(const std::string& path, std::size_t bytes) {
  try {
    OutputFile file(path);
    file.Write(std::string(bytes, 'x'));
    file.Commit();
    return "";
  } catch (const EnvironmentError& e) {
    return e.what();
  }
}

TEST_F(OutputFileTest, AppearsWholeOnCommitAndNotBefore) {
  const std::string path = Path("a.json");
  {
    OutputFile file(path);
    file.Write(std::string(1 << 20, 'a'));  // more than a buffer
    file.Write("end");
    EXPECT_FALSE(fs::exists(path));
    file.Commit();
  }
  EXPECT_EQ(Content(path), std::string(1 << 20, 'a') + "end");
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(OutputFileTest, LeavesTheOldFileIfItIsNotCommitted) {
  const std::string path = Path("a.json");
  Put(path, "old");
  {
    OutputFile file(path);
    file.Write(std::string(1 << 20, 'n'));
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(FilesInFolder(), 1);
}

TEST_F(OutputFileTest, WritesToTheTargetOfALink) {
  Put(Path("target"), "old");
  fs::create_symlink(Path("target"), Path("link"));
  Put(Path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Content(Path("target")), "new");
}

TEST_F(OutputFileTest, NamesThePathAndTheReasonIfItCannotWrite) {
  EXPECT_EQ(ErrorOf(Path("none/a.json"), 1),
            Path("none/a.json") + ": cannot write: No such file or directory");
  EXPECT_EQ(ErrorOf(Path("."), 1), Path(".") + ": cannot write: Is a directory");
}

TEST_F(OutputFileTest, ReportsAFullDisk) {
  EXPECT_EQ(ErrorOf("/dev/full", 1), "/dev/full: cannot write: No space left on device");
  EXPECT_EQ(ErrorOf("/dev/full", 1 << 20), "/dev/full: cannot write: No space left on device");
}

TEST_F(OutputFileTest, DoesNotReplaceADevice) {
  EXPECT_EQ(ErrorOf("/dev/null", 1), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace zerosim
