#include "soak/probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "soak/allocation_counter.h"

namespace tare {
namespace {

constexpr int64_t kPagesTolerance = int64_t{2} << 20;

constexpr MeterInfo kMeters[] = {
    {"live_bytes", "live bytes", "B", 0, "Bytes asked of malloc and operator new and not given back."},
    {"live_blocks", "live blocks", "blocks", 0, "Blocks asked of malloc and not given back."},
    {"anonymous", "anonymous memory", "B", kPagesTolerance,
     "Resident pages with no file behind them: heap, stacks and memory from mmap, as the OS counts them."},
    {"private_dirty", "private dirty", "B", kPagesTolerance,
     "Pages this process alone has written: what the OS would gain if it ended."},
    {"model_files", "mapped model files", "mappings", 0,
     "Mappings of files under the models' directories."},
    {"cache_entries", "kernel cache", "entries", 0, "Kernels the cache holds."},
    {"cache_bytes", "kernel cache bytes", "B", 0, "Bytes those kernels are charged with."},
    {"ledger", "ledger", "B", 0, "Bytes charged to accounts, of every kind."},
    {"threads", "threads", "threads", 0, "Threads of the process."},
    {"open_files", "open files", "files", 0, "File descriptors the process has open."},
    {"ledger.weights", "ledger weights", "B", 0, "Variables and constants in memory of our own."},
    {"ledger.mapped_weights", "ledger mapped weights", "B", 0, "Model files mapped and read in place."},
    {"ledger.packed_weights", "ledger packed weights", "B", 0, "Copies made for the heavy kernels."},
    {"ledger.activations", "ledger activations", "B", 0, "Tensors of runs."},
    {"ledger.pooled", "ledger pooled", "B", 0, "Free blocks kept for the next run."},
    {"ledger.tables", "ledger tables", "B", 0, "Lookup tables."},
    {"ledger.graphs", "ledger graphs", "B", 0, "Graphs, functions and names."},
    {"ledger.plans", "ledger plans", "B", 0, "Plans and their kernels."},
    {"ledger.kernels", "ledger kernels", "B", 0, "The kernel cache's kernels."},
    {"ledger.caller", "ledger caller", "B", 0, "Outputs the caller still holds."},
};
static_assert(std::size(kMeters) == kMeterCount);

// Reads a file of /proc line by line through a fixed buffer. Lines longer than it are cut.
class LineReader {
 public:
  explicit LineReader(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~LineReader() {
    if (fd_ >= 0) close(fd_);
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  bool ok() const { return fd_ >= 0; }

  // The next line without its end; false at the end of the file. Valid until the next call.
  bool Next(std::string_view* line) {
    for (;;) {
      if (auto* nl = static_cast<char*>(std::memchr(buffer_ + begin_, '\n', end_ - begin_))) {
        *line = {buffer_ + begin_, static_cast<size_t>(nl - buffer_) - begin_};
        begin_ = static_cast<size_t>(nl - buffer_) + 1;
        return true;
      }
      std::memmove(buffer_, buffer_ + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
      if (end_ == sizeof buffer_) end_ = 0;
      ssize_t n = fd_ < 0 ? 0 : read(fd_, buffer_ + end_, sizeof buffer_ - end_);
      if (n <= 0) return false;
      end_ += static_cast<size_t>(n);
    }
  }

 private:
  const int fd_;
  size_t begin_ = 0, end_ = 0;
  char buffer_[16 << 10];
};

// The number in "Name:   123 kB".
int64_t NumberIn(std::string_view text) {
  size_t at = text.find_first_of("0123456789");
  int64_t n = 0;
  if (at != text.npos) std::from_chars(text.data() + at, text.data() + text.size(), n);
  return n;
}

// smaps_rollup has one line of each; smaps, which older kernels have alone, one a mapping.
void ReadPages(Sample& sample) {
  for (const char* path : {"/proc/self/smaps_rollup", "/proc/self/smaps"}) {
    LineReader lines(path);
    int64_t anonymous = 0, dirty = 0;
    bool any = false;
    std::string_view line;
    while (lines.Next(&line)) {
      if (line.starts_with("Anonymous:")) anonymous += NumberIn(line), any = true;
      if (line.starts_with("Private_Dirty:")) dirty += NumberIn(line);
    }
    if (!any) continue;
    sample[Meter::kAnonymous] = anonymous << 10;
    sample[Meter::kPrivateDirty] = dirty << 10;
    return;
  }
}

int64_t CountThreads() {
  LineReader lines("/proc/self/status");
  std::string_view line;
  while (lines.Next(&line)) {
    if (line.starts_with("Threads:")) return NumberIn(line);
  }
  return Sample::kNotRead;
}

// opendir would allocate.
int64_t CountOpenFiles() {
  int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Sample::kNotRead;
  alignas(dirent64) char buffer[8 << 10];
  int64_t count = -1;  // the directory itself is open too
  for (;;) {
    long n = syscall(SYS_getdents64, fd, buffer, sizeof buffer);
    if (n <= 0) break;
    for (long at = 0; at < n;) {
      auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      if (entry->d_name[0] != '.') ++count;
      at += entry->d_reclen;
    }
  }
  close(fd);
  return count;
}

bool IsUnder(std::string_view path, std::string_view root) {
  return path.starts_with(root) &&
         (path.size() == root.size() || path[root.size()] == '/' || root.ends_with('/'));
}

// A line of maps: "begin-end perms offset dev inode   path", the path perhaps with " (deleted)" behind.
int64_t CountModelMappings(const std::vector<std::string>& roots) {
  LineReader lines("/proc/self/maps");
  if (!lines.ok()) return Sample::kNotRead;
  int64_t count = 0;
  std::string_view line;
  while (lines.Next(&line)) {
    size_t at = line.find('/');
    if (at == line.npos) continue;
    std::string_view path = line.substr(at);
    if (path.ends_with(" (deleted)")) path.remove_suffix(10);
    for (const std::string& root : roots) {
      if (IsUnder(path, root)) {
        ++count;
        break;
      }
    }
  }
  return count;
}

std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : path;
}

}  // namespace

std::span<const MeterInfo> MeterTable() { return kMeters; }
const MeterInfo& InfoOf(Meter meter) { return kMeters[static_cast<size_t>(meter)]; }

Probe::Probe(ProbeSources sources) : sources_(std::move(sources)) {
  for (std::string& root : sources_.model_roots) root = RealPath(root);
}

bool Probe::PagesMeaningful() { return allocation_meter() != AllocationMeter::kSanitizer; }

Sample Probe::Read(int cycle, bool pages) const {
  Sample s;
  s.cycle = cycle;
  if (HeapCount heap = CountHeap(); allocation_meter() != AllocationMeter::kUnavailable) {
    s[Meter::kLiveBytes] = heap.bytes;
    if (heap.blocks >= 0) s[Meter::kLiveBlocks] = heap.blocks;
  }
  if (sources_.ledger) {
    std::array<int64_t, kKindCount> kinds{};
    sources_.ledger(kinds);
    int64_t total = 0;
    for (size_t k = 0; k < kKindCount; ++k) {
      s[LedgerMeter(static_cast<Kind>(k))] = kinds[k];
      total += kinds[k];
    }
    s[Meter::kLedger] = total;
  }
  if (sources_.kernel_cache) {
    CacheFigures cache = sources_.kernel_cache();
    s[Meter::kCacheEntries] = cache.entries;
    s[Meter::kCacheBytes] = cache.bytes;
  }
  if (!sources_.model_roots.empty()) s[Meter::kModelFiles] = CountModelMappings(sources_.model_roots);
  s[Meter::kThreads] = CountThreads();
  s[Meter::kOpenFiles] = CountOpenFiles();
  if (pages && PagesMeaningful()) ReadPages(s);
  return s;
}

}  // namespace tare
