#include "resource/table_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "tensor/parse_number.h"

namespace tare {
namespace {

// Lines of a file through one buffer, without their line feed and the carriage returns before it.
class LineReader {
 public:
  ~LineReader() {
    if (file_) fclose(file_);
    free(line_);
  }
  Status Open(const std::string& name) {
    name_ = name;
    file_ = fopen(name.c_str(), "rb");
    return file_ ? OkStatus() : Failed();
  }
  // False at the end. The view is valid until the next call.
  Result<bool> Next(std::string_view* line) {
    errno = 0;
    ssize_t n = getline(&line_, &room_, file_);
    if (n < 0) {
      if (ferror(file_)) return Failed();
      return false;
    }
    position_ += n;
    // TensorFlow drops every carriage return at the line's end.
    while (n > 0 && (line_[n - 1] == '\n' || line_[n - 1] == '\r')) --n;
    *line = {line_, static_cast<size_t>(n)};
    return true;
  }
  int64_t position() const { return position_; }

 private:
  Status Failed() const {
    const int e = errno;
    const Code code = e == ENOENT ? Code::kNotFound
                      : e == EACCES ? Code::kPermissionDenied
                      : e == EISDIR ? Code::kFailedPrecondition
                                    : Code::kUnknown;
    return Status(code, fmt::format("{}; {}", name_, std::generic_category().message(e)));
  }
  std::string name_;
  FILE* file_ = nullptr;
  char* line_ = nullptr;
  size_t room_ = 0;
  int64_t position_ = 0;
};

template <class T>
bool Parse(std::string_view text, void* out) {
  return ParseNumber(text, static_cast<T*>(out));
}

// Where a key or a value comes from, and the element it is made into.
class Column {
 public:
  Column(DType dtype, int64_t index) : dtype_(dtype), index_(index) {}

  Status Check(std::string_view what) const {
    if (index_ == TableFile::kLineNumber && dtype_ != DType::kInt64) {
      return InvalidArgument("{} index for line number requires table {} dtype of int64, got {}", what,
                             what == "Key" ? "key" : "value", DTypeName(dtype_));
    }
    return OkStatus();
  }
  Status Set(std::string_view line, std::span<const std::string_view> fields, int64_t number, int64_t offset) {
    if (index_ == TableFile::kLineNumber) {
      number_ = number + offset;
      return OkStatus();
    }
    const std::string_view text = index_ == TableFile::kWholeLine ? line : fields[static_cast<size_t>(index_)];
    bool good = false;
    switch (dtype_) {
      case DType::kString: text_.AssignView(text); return OkStatus();
      case DType::kInt32: good = Parse<int32_t>(text, &number_); break;
      case DType::kInt64: good = Parse<int64_t>(text, &number_); break;
      case DType::kFloat: good = Parse<float>(text, &number_); break;
      case DType::kDouble: good = Parse<double>(text, &number_); break;
      default: return InvalidArgument("Data type {} not supported.", DTypeName(dtype_));
    }
    if (good) return OkStatus();
    return InvalidArgument("Field {} in line {} is not a valid {}.", text, number, DTypeName(dtype_));
  }
  const void* data() const { return dtype_ == DType::kString ? static_cast<const void*>(&text_) : &number_; }

 private:
  const DType dtype_;
  const int64_t index_;
  StringCell text_;
  alignas(8) int64_t number_ = 0;
};

Status Fill(const TableFile& file, LineReader& lines, Column key, Column value, const LookupTable::AddRow& add) {
  const int64_t columns = std::max(file.key_index, file.value_index) + 1;
  std::vector<std::string_view> fields;
  std::string_view line;
  int64_t number = 0;
  for (; number != file.vocab_size; ++number) {
    TARE_ASSIGN_OR_RETURN(bool more, lines.Next(&line));
    if (!more) break;
    if (line.empty()) {
      return InvalidArgument("Invalid content in {}: empty line found at position {}.", file.filename,
                             lines.position());
    }
    fields.clear();
    if (columns > 0) {
      for (size_t begin = 0, end = 0; end != line.npos; begin = end + 1) {
        end = line.find(file.delimiter, begin);
        fields.push_back(line.substr(begin, end - begin));
      }
      if (static_cast<int64_t>(fields.size()) < columns) {
        return InvalidArgument("Invalid number of columns in {} line {} ({}) : expected at least {} got {}",
                               file.filename, number, line, columns, fields.size());
      }
    }
    TARE_RETURN_IF_ERROR(key.Set(line, fields, number, file.offset));
    TARE_RETURN_IF_ERROR(value.Set(line, fields, number, file.offset));
    TARE_RETURN_IF_ERROR(add(key.data(), value.data()));
  }
  if (number == 0) return OutOfRange("Finished reading 0 of lines from {}", file.filename);
  if (number < file.vocab_size) {
    return InvalidArgument("Invalid vocab_size in {}: expected {} but got {}", file.filename, file.vocab_size, number);
  }
  return OkStatus();
}

}  // namespace

Status InitializeFromFile(LookupTable& table, const TableFile& file) {
  if (file.filename.empty()) return InvalidArgument("filename cannot be empty.");
  const LookupTable::Spec& spec = table.spec();
  if (spec.form != LookupTable::Form::kStatic) return InvalidArgument("Table {} is not initializable", table.name());
  Column key(spec.key_dtype, file.key_index), value(spec.value_dtype, file.value_index);
  TARE_RETURN_IF_ERROR(key.Check("Key"));
  TARE_RETURN_IF_ERROR(value.Check("Value"));
  return table.Initialize(file.vocab_size, [&](const LookupTable::AddRow& add) -> Status {
    LineReader lines;
    TARE_RETURN_IF_ERROR(lines.Open(file.filename));
    return Fill(file, lines, Column(spec.key_dtype, file.key_index), Column(spec.value_dtype, file.value_index), add);
  });
}

}  // namespace tare
