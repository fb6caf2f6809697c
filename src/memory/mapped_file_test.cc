#include "memory/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tare {
namespace {

using Mode = MappedFile::Mode;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() : dir_(std::filesystem::temp_directory_path() / fmt::format("tare_mapped_file_{}", getpid())) {
    std::filesystem::create_directories(dir_);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(dir_); }
  std::string Write(const std::string& name, std::string_view bytes) {
    std::ofstream(dir_ / name, std::ios::binary) << bytes;
    return dir_ / name;
  }
  const std::filesystem::path dir_;
  Ref<Account> account_ = MakeRef<Account>("m");
};

TEST_F(MappedFileTest, HasTheFilesBytesMappedOrReadAndIsChargedForThem) {
  std::string bytes(100'000, 'w');
  bytes[99'999] = 'e';
  std::string path = Write("data", bytes);
  for (auto [mode, kind] : {std::pair{Mode::kMap, Kind::kMappedWeights}, {Mode::kRead, Kind::kWeights}}) {
    auto file = MappedFile::Open(path, mode, account_);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ((*file)->view(), bytes);
    EXPECT_EQ((*file)->path(), path);
    EXPECT_EQ((*file)->mapped(), mode == Mode::kMap);
    EXPECT_EQ(account_->bytes(kind), 100'000);
    *file = nullptr;
    EXPECT_EQ(account_->total(), 0);
  }
}

TEST_F(MappedFileTest, WhatWasReadDoesNotChangeWithTheFile) {
  std::string path = Write("data", "before");
  auto file = MappedFile::Open(path, Mode::kRead, account_);
  Write("data", "after!");
  EXPECT_EQ((*file)->view(), "before");
}

TEST_F(MappedFileTest, AMappingSurvivesTheFilesRemoval) {
  std::string path = Write("data", "kept");
  auto file = MappedFile::Open(path, Mode::kMap, account_);
  std::filesystem::remove(path);
  EXPECT_EQ((*file)->view(), "kept");
}

TEST_F(MappedFileTest, AnEmptyFileIsEmptyAndCostsNothing) {
  for (Mode mode : {Mode::kMap, Mode::kRead}) {
    auto file = MappedFile::Open(Write("empty", ""), mode, account_);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE((*file)->bytes().empty());
    EXPECT_EQ(account_->total(), 0);
  }
}

TEST_F(MappedFileTest, ErrorsNameThePathAndLeaveNothing) {
  auto error = [&](const std::string& path) {
    auto file = MappedFile::Open(path, Mode::kMap, account_);
    EXPECT_FALSE(file.ok());
    EXPECT_NE(file.status().message().find(path), std::string::npos);
    return file.status().code();
  };
  EXPECT_EQ(error(dir_ / "none"), Code::kNotFound);
  EXPECT_EQ(error(Write("file", "x") + "/below"), Code::kNotFound);
  EXPECT_EQ(error(dir_), Code::kFailedPrecondition);
  std::string pipe = dir_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error(pipe), Code::kFailedPrecondition) << "and does not hang";
  EXPECT_EQ(account_->total(), 0);
}

}  // namespace
}  // namespace tare
