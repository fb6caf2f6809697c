#include "kernels/feature_batch.h"

#include <algorithm>

#include "wire/message.h"

namespace tare {
namespace {

Status Malformed(std::string_view message) {
  constexpr size_t kShown = 256;
  return InvalidArgument("Could not parse example input, value: '{}'", message.substr(0, kShown));
}

struct Feature {
  DType dtype = DType::kInvalid;  // kInvalid: nothing is set
  std::string_view list;
};

Result<Feature> ReadFeature(std::string_view message) {
  constexpr DType kTypes[] = {DType::kInvalid, DType::kString, DType::kFloat, DType::kInt64};
  Feature feature;
  Status s = wire::ForEachField(message, "Feature", [&](wire::Reader& r) {
    if (r.tag() >= 1 && r.tag() <= 3) feature = {kTypes[r.tag()], wire::Bytes(r)};
    return OkStatus();
  });
  if (!s.ok()) return Malformed(message);
  return feature;
}

}  // namespace

Status FeatureValues::Append(std::string_view list) {
  Status s = wire::ForEachField(list, "list", [&](wire::Reader& r) {
    if (r.tag() != 1) return OkStatus();
    if (dtype_ == DType::kString) {
      strings_.push_back(wire::Bytes(r));
    } else if (dtype_ == DType::kInt64) {
      wire::ForEachVarint(r, [&](int64_t v) { ints_.push_back(v); });
    } else if (r.wire_type() == protozero::pbf_wire_type::fixed32) {
      floats_.push_back(r.get_float());
    } else {
      auto packed = r.get_packed_float();
      floats_.insert(floats_.end(), packed.begin(), packed.end());
    }
    return OkStatus();
  });
  return s.ok() ? OkStatus() : InvalidArgument("Can't parse serialized Example.");
}

void FeatureValues::CopyTo(int64_t from, int64_t n, Tensor* out, int64_t at) const {
  if (dtype_ == DType::kFloat) {
    std::copy_n(floats_.begin() + from, n, out->mutable_data<float>() + at);
  } else if (dtype_ == DType::kInt64) {
    std::copy_n(ints_.begin() + from, n, out->mutable_data<int64_t>() + at);
  } else {
    for (int64_t i = 0; i < n; ++i)
      out->mutable_data<StringCell>()[at + i].Assign(strings_[from + i]);
  }
}

int64_t FeatureColumn::max_count() const {
  return counts.empty() ? 0 : std::max<int64_t>(0, *std::ranges::max_element(counts));
}
int64_t FeatureColumn::max_length() const {
  return lengths.empty() ? 0 : std::max<int64_t>(0, *std::ranges::max_element(lengths));
}

FeatureBatch::FeatureBatch(const std::vector<FeatureSpec>& specs) : found_(specs.size()) {
  for (const FeatureSpec& s : specs) {
    by_key_.emplace(s.key, columns_.size());
    columns_.emplace_back(s);
  }
}

// Features and FeatureLists are both a map in field 1.
Status FeatureBatch::FindEntries(const std::vector<std::string_view>& messages) {
  std::ranges::fill(found_, std::nullopt);
  for (std::string_view message : messages) {
    Status s = wire::ForEachField(message, "Features", [&](wire::Reader& r) -> Status {
      if (r.tag() != 1) return OkStatus();
      TARE_ASSIGN_OR_RETURN(wire::MapEntry entry, wire::ReadMapEntry(wire::Bytes(r), "Features"));
      auto [begin, end] = by_key_.equal_range(entry.key);
      for (auto it = begin; it != end; ++it) found_[it->second] = entry.value;
      return OkStatus();
    });
    if (!s.ok()) return Malformed(message);
  }
  return OkStatus();
}

Status FeatureBatch::AddFeature(FeatureColumn& column, std::string_view message,
                                std::string_view name) {
  TARE_ASSIGN_OR_RETURN(Feature feature, ReadFeature(message));
  if (feature.dtype == DType::kInvalid) {
    column.counts.push_back(-1);
    return OkStatus();
  }
  auto where = [&] {
    return fmt::format("Name: {}, Key: {}, Index: {}.  ", name, column.spec.key, rows_);
  };
  if (feature.dtype != column.spec.dtype) {
    return InvalidArgument("{}Data types don't match. Expected type: {}, Actual type: {}", where(),
                           DTypeName(column.spec.dtype), DTypeName(feature.dtype));
  }
  const int64_t before = column.values.size();
  Status s = column.values.Append(feature.list);
  if (!s.ok()) return InvalidArgument("{}{}", where(), s.message());
  column.counts.push_back(column.values.size() - before);
  return OkStatus();
}

Status FeatureBatch::AddFeatures(const std::vector<std::string_view>& messages,
                                 std::string_view name) {
  TARE_RETURN_IF_ERROR(FindEntries(messages));
  for (size_t i = 0; i < columns_.size(); ++i) {
    TARE_RETURN_IF_ERROR(AddFeature(columns_[i], found_[i].value_or(std::string_view()), name));
  }
  ++rows_;
  return OkStatus();
}

Status FeatureBatch::AddFeatureLists(const std::vector<std::string_view>& messages,
                                     std::string_view name) {
  TARE_RETURN_IF_ERROR(FindEntries(messages));
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!found_[i]) {
      columns_[i].lengths.push_back(-1);
      continue;
    }
    TARE_ASSIGN_OR_RETURN(std::vector<std::string_view> steps, Submessages(*found_[i], 1));
    for (std::string_view step : steps) TARE_RETURN_IF_ERROR(AddFeature(columns_[i], step, name));
    columns_[i].lengths.push_back(static_cast<int64_t>(steps.size()));
  }
  ++rows_;
  return OkStatus();
}

Result<std::vector<std::string_view>> Submessages(std::string_view message, uint32_t tag) {
  std::vector<std::string_view> found;
  Status s = wire::ForEachField(message, "message", [&](wire::Reader& r) {
    if (r.tag() == tag) found.push_back(wire::Bytes(r));
    return OkStatus();
  });
  if (!s.ok()) return Malformed(message);
  return found;
}

}  // namespace tare
