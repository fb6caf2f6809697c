// DecodeCSV: RFC 4180 records to columns.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernels/registry.h"

namespace tare {
namespace {

std::string_view Trimmed(std::string_view s) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  size_t begin = s.find_first_not_of(kSpace);
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

// The whole of `field`, blanks around it aside, as a number. Floats beyond the range become
// infinite.
template <class T>
bool ParseNumber(std::string_view field, T* value) {
  std::string_view s = Trimmed(field);
  if (s.starts_with('+') && !s.substr(1).starts_with('-')) s.remove_prefix(1);
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), *value);
  if (end != s.data() + s.size() || s.empty()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (error == std::errc::result_out_of_range) {
      // from_chars does not say which way; strtod does.
      *value = static_cast<T>(std::strtod(std::string(s).c_str(), nullptr));
      return true;
    }
  }
  return error == std::errc();
}

struct DecodeCsv {
  explicit DecodeCsv(AttrReader& a)
      : types(a.TypeList("OUT_TYPE")),
        quotes(a.Bool("use_quote_delim")),
        missing(a.String("na_value")),
        columns(a.Ints("select_cols")) {
    std::string delim = a.String("field_delim");
    if (delim.size() != 1)
      a.Fail(InvalidArgument("field_delim should be only 1 char"));
    else
      delimiter = delim[0];
    if (!columns.empty() && columns.size() != types.size()) {
      a.Fail(InvalidArgument("select_cols should match output size"));
    }
    if (!std::ranges::is_sorted(columns, std::less_equal{}) ||
        (!columns.empty() && columns[0] < 0)) {
      a.Fail(InvalidArgument("select_cols should be strictly increasing indices"));
    }
  }

  Status Run(KernelCall& c) const {
    const Tensor& records = c.input(0);
    const int n = static_cast<int>(types.size());
    std::vector<Tensor*> out;
    for (int i = 0; i < n; ++i) {
      const Tensor& value = c.input(1 + i);
      if (value.num_elements() > 1) {
        return InvalidArgument("There should only be 1 default per field but field {} has {}", i,
                               value.num_elements());
      }
      TARE_ASSIGN_OR_RETURN(Tensor * made, c.Output(i, types[i], records.shape()));
      out.push_back(made);
    }
    std::vector<std::string> fields;
    for (int64_t r = 0; r < records.num_elements(); ++r) {
      fields.clear();
      TARE_RETURN_IF_ERROR(Split(records.data<StringCell>()[r].view(), &fields));
      if (fields.size() != types.size()) {
        return InvalidArgument("Expect {} fields but have {} in record {}", n, fields.size(), r);
      }
      for (int i = 0; i < n; ++i)
        TARE_RETURN_IF_ERROR(Set(fields[i], c.input(1 + i), out[i], i, r));
    }
    return OkStatus();
  }

 private:
  Status Set(const std::string& field, const Tensor& value, Tensor* out, int i,
             int64_t record) const {
    if (field.empty() || field == missing) {
      if (value.num_elements() == 0)
        return InvalidArgument("Field {} is required but missing in record {}!", i, record);
      CopyElements(out->dtype(), value.raw(),
                   static_cast<std::byte*>(out->mutable_raw()) +
                       static_cast<size_t>(record) * DTypeSize(out->dtype()),
                   1);
      return OkStatus();
    }
    if (out->dtype() == DType::kString) {
      out->mutable_data<StringCell>()[record].Assign(field);
      return OkStatus();
    }
    return ForType(Types<float, double, int32_t, int64_t>{}, out->dtype(),
                   [&]<class T>() -> Status {
                     if (ParseNumber(field, &out->mutable_data<T>()[record])) return OkStatus();
                     return InvalidArgument("Field {} in record {} is not a valid {}: {}", i,
                                            record, DTypeName(out->dtype()), field);
                   });
  }

  // The wanted fields of a record.
  Status Split(std::string_view s, std::vector<std::string>* fields) const {
    size_t at = 0, selected = 0;
    for (int64_t number = 0; at < s.size() || (at == s.size() && number > 0); ++number) {
      std::string field;
      if (quotes && at < s.size() && s[at] == '"') {
        TARE_RETURN_IF_ERROR(Quoted(s, &at, &field));
      } else {
        size_t end = std::min(s.find(delimiter, at), s.size());
        field = s.substr(at, end - at);
        if (quotes && field.find_first_of("\"\n\r") != field.npos) {
          return InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside");
        }
        at = end;
      }
      const bool wanted =
          columns.empty() || (selected < columns.size() && columns[selected] == number);
      if (wanted) {
        fields->push_back(std::move(field));
        ++selected;
      }
      if (at >= s.size()) break;
      ++at;  // the delimiter; one at the end is followed by an empty field
    }
    return OkStatus();
  }

  // A field from the quote at `*at`; leaves `*at` at the delimiter after it, or the end.
  Status Quoted(std::string_view s, size_t* at, std::string* field) const {
    for (size_t i = *at + 1; i < s.size(); ++i) {
      if (s[i] != '"') {
        field->push_back(s[i]);
      } else if (i + 1 == s.size() || s[i + 1] == delimiter) {
        *at = i + 1;
        return OkStatus();
      } else if (s[i + 1] == '"') {
        field->push_back('"');
        ++i;
      } else {
        return InvalidArgument("Quote inside a string has to be escaped by another quote");
      }
    }
    return InvalidArgument("Quoted field has to end with quote followed by delim or end");
  }

  std::vector<DType> types;
  bool quotes;
  std::string missing;
  std::vector<int64_t> columns;
  char delimiter = ',';
};

constexpr KernelRow kRows[] = {
    Op<DecodeCsv>("DecodeCSV"),
};

}  // namespace
extern constinit const KernelFamily kDecodeCsvKernels = kRows;
}  // namespace tare
