#include "wire/attr_wire.h"

#include <vector>

#include "wire/message.h"

namespace tare::wire {
namespace {

// A constant of more than this that its values do not back (a repeated fill) is refused: a small file must
// not ask for large memory.
constexpr int64_t kMaxFillBytes = int64_t{40} << 20;
// Constants of at least this many bytes stay in the mapped file where alignment allows.
constexpr size_t kInPlaceBytes = 4096;

Status ReadDims(std::string_view bytes, std::vector<int64_t>* dims, bool* unknown_rank) {
  return ForEachField(bytes, "shape", [&](Reader& r) {
    if (r.tag() == 3) *unknown_rank = r.get_bool();
    if (r.tag() != 2) return OkStatus();
    int64_t size = 0;
    TARE_RETURN_IF_ERROR(ForEachField(Bytes(r), "shape dimension", [&](Reader& d) {
      if (d.tag() == 1) size = d.get_int64();
      return OkStatus();
    }));
    if (dims->size() >= 256) return InvalidArgument("a shape of more than 256 dimensions");
    dims->push_back(size);
    return OkStatus();
  });
}

// What a TensorProto says, before it is turned into elements.
struct TensorFields {
  DType dtype = DType::kInvalid;
  int64_t wire_dtype = 0;
  Shape shape;
  std::string_view content;
  // The typed list of the dtype: fixed-width values are collected as raw bytes, the rest one by one.
  std::vector<int64_t> ints;
  std::string floats;  // raw bytes of float_val, double_val, scomplex_val, dcomplex_val, float8_val
  std::vector<std::string_view> strings;
  bool has_objects = false;
};

int ListTag(DType t) {
  switch (t) {
    case DType::kFloat: return 5;
    case DType::kDouble: return 6;
    case DType::kString: return 8;
    case DType::kComplex64: return 9;
    case DType::kInt64: return 10;
    case DType::kBool: return 11;
    case DType::kComplex128: return 12;
    case DType::kHalf:
    case DType::kBfloat16: return 13;
    case DType::kUint32: return 16;
    case DType::kUint64: return 17;
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:
    case DType::kFloat4E2m1fn: return 18;
    default: return 7;
  }
}

// A repeated float or double field: packed as one run of bytes, or one fixed-width value.
void AppendFixed(Reader& r, std::string* out) {
  if (r.wire_type() == protozero::pbf_wire_type::fixed32) {
    uint32_t v = r.get_fixed32();
    out->append(reinterpret_cast<const char*>(&v), sizeof v);
  } else if (r.wire_type() == protozero::pbf_wire_type::fixed64) {
    uint64_t v = r.get_fixed64();
    out->append(reinterpret_cast<const char*>(&v), sizeof v);
  } else {
    out->append(Bytes(r));
  }
}

Status ReadHeader(std::string_view bytes, TensorFields* f) {
  std::vector<int64_t> dims;
  bool unknown_rank = false;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "tensor", [&](Reader& r) {
    if (r.tag() == 1) f->wire_dtype = r.get_int64();
    if (r.tag() == 2) return ReadDims(Bytes(r), &dims, &unknown_rank);
    if (r.tag() == 4) f->content = Bytes(r);
    return OkStatus();
  }));
  f->dtype = f->wire_dtype > 100 ? DType::kInvalid : DTypeFromWire(f->wire_dtype);
  if (f->dtype == DType::kInvalid) return InvalidArgument("tensor of unknown dtype {}", f->wire_dtype);
  if (unknown_rank) return InvalidArgument("tensor of unknown rank");
  auto shape = Shape::Make(dims);
  if (!shape.ok()) return std::move(shape).status().At("tensor");
  f->shape = *shape;
  return OkStatus();
}

Status ReadList(std::string_view bytes, TensorFields* f) {
  const uint32_t tag = static_cast<uint32_t>(ListTag(f->dtype));
  return ForEachField(bytes, "tensor", [&](Reader& r) {
    if (r.tag() == 14 || r.tag() == 15) f->has_objects = true;
    if (r.tag() != tag) return OkStatus();
    switch (tag) {
      case 5: case 6: case 9: case 12: case 18: AppendFixed(r, &f->floats); break;
      case 8: f->strings.push_back(Bytes(r)); break;
      default: ForEachVarint(r, [&](int64_t v) { f->ints.push_back(v); });
    }
    return OkStatus();
  });
}

Status DecodeStrings(TensorFields& f, Tensor* t) {
  auto cells = t->mut<StringCell>();
  if (f.content.empty()) {
    for (size_t i = 0; i < cells.size() && !f.strings.empty(); ++i) {
      cells[i].Assign(f.strings[std::min(i, f.strings.size() - 1)]);
    }
    return OkStatus();
  }
  // n varint lengths, then the bytes one after another.
  const char* p = f.content.data();
  const char* end = p + f.content.size();
  std::vector<uint64_t> lengths(cells.size());
  for (uint64_t& n : lengths) n = protozero::decode_varint(&p, end);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (lengths[i] > static_cast<size_t>(end - p)) return InvalidArgument("tensor's strings pass its content");
    cells[i].Assign({p, static_cast<size_t>(lengths[i])});
    p += lengths[i];
  }
  return OkStatus();
}

// Fills n elements of `size` bytes from the listed values; the last repeats.
void Fill(std::string_view values, size_t size, Tensor* t) {
  auto* out = static_cast<char*>(t->mutable_raw());
  size_t n = static_cast<size_t>(t->num_elements()), have = std::min(n, values.size() / size);
  std::memcpy(out, values.data(), have * size);
  if (have == 0) {
    std::memset(out, 0, n * size);
    return;
  }
  for (size_t i = have; i < n; ++i) std::memcpy(out + i * size, out + (have - 1) * size, size);
}

void FillInts(const std::vector<int64_t>& values, Tensor* t) {
  size_t n = static_cast<size_t>(t->num_elements()), size = DTypeSize(t->dtype());
  auto* out = static_cast<char*>(t->mutable_raw());
  for (size_t i = 0; i < n; ++i) {
    int64_t v = values.empty() ? 0 : values[std::min(i, values.size() - 1)];
    if (t->dtype() == DType::kBool) v = v != 0;
    std::memcpy(out + i * size, &v, size);  // little-endian: the low bytes
  }
}

}  // namespace

Result<Tensor> ReadTensor(std::string_view bytes, const TensorStore& store) {
  TensorFields f;
  TARE_RETURN_IF_ERROR(ReadHeader(bytes, &f));
  const auto n = static_cast<size_t>(f.shape.num_elements());
  const size_t size = DTypeSize(f.dtype);
  const bool plain = IsPlain(f.dtype);
  if (plain && !f.content.empty()) {
    if (f.content.size() != n * size) {
      return InvalidArgument("tensor of {} {} has {} bytes of content, not {}", f.shape.ToString(),
                             DTypeName(f.dtype), f.content.size(), n * size);
    }
    const auto at = reinterpret_cast<uintptr_t>(f.content.data());
    const size_t align = f.dtype == DType::kComplex64 || f.dtype == DType::kComplex128 ? size / 2 : size;
    if (store.keeper() && f.content.size() >= kInPlaceBytes && at % align == 0) {
      return Tensor(f.dtype, f.shape, Buffer::Within(store.keeper(), f.content.data(), f.content.size()));
    }
    TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(store.account(), f.dtype, f.shape, Kind::kWeights));
    std::memcpy(t.mutable_raw(), f.content.data(), f.content.size());
    return t;
  }
  TARE_RETURN_IF_ERROR(ReadList(bytes, &f));
  // Strings need at least a byte each on the wire unless the last repeats.
  if (static_cast<int64_t>(n) > kMaxFillBytes / static_cast<int64_t>(size)) {
    return ResourceExhausted("tensor of shape {} and type {} is filled from {} bytes; the limit for that is {} bytes",
                             f.shape.ToString(), DTypeName(f.dtype), bytes.size(), kMaxFillBytes);
  }
  if (f.has_objects) return Unimplemented("constant tensor of {} values", DTypeName(f.dtype));
  if (!f.content.empty() && f.dtype == DType::kString && f.content.size() < n) {
    return InvalidArgument("tensor of {} strings has {} bytes of content", n, f.content.size());
  }
  TARE_ASSIGN_OR_RETURN(Tensor t, Tensor::Make(store.account(), f.dtype, f.shape, Kind::kWeights));
  if (f.dtype == DType::kString) {
    // decode_varint throws on a malformed varint.
    try {
      TARE_RETURN_IF_ERROR(DecodeStrings(f, &t));
    } catch (const protozero::exception& e) {
      return DataLoss("tensor's string lengths: {}", e.what());
    }
  } else if (plain && ListTag(f.dtype) != 18 && f.floats.empty()) {
    FillInts(f.ints, &t);
  } else if (plain) {
    Fill(f.floats, size, &t);
  }
  return t;
}

Result<PartialShape> ReadShape(std::string_view bytes, Region& region) {
  std::vector<int64_t> dims;
  bool unknown_rank = false;
  TARE_RETURN_IF_ERROR(ReadDims(bytes, &dims, &unknown_rank));
  if (unknown_rank) return PartialShape{};
  return PartialShape{false, region.CopyArray(std::span<const int64_t>(dims))};
}

namespace {

Result<AttrValue> ReadFunction(std::string_view bytes, Region& region, TensorStore& store, int depth) {
  FunctionRef f;
  std::vector<Attr> attrs;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "function attribute", [&](Reader& r) {
    if (r.tag() == 1) f.name = Bytes(r);
    if (r.tag() == 2) {
      TARE_ASSIGN_OR_RETURN(Attr a, ReadAttr(Bytes(r), region, store, depth + 1));
      attrs.push_back(a);
    }
    return OkStatus();
  }));
  f.attrs = region.CopyArray(std::span<const Attr>(attrs));
  return AttrValue::OfFunction(region.New<FunctionRef>(f));
}

Result<AttrValue> ReadAttrList(std::string_view bytes, Region& region, TensorStore& store, int depth) {
  std::vector<AttrValue> values;
  AttrKind kind = AttrKind::kNone;
  auto add = [&](AttrValue v) {
    kind = v.kind;
    values.push_back(v);
  };
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "attribute list", [&](Reader& r) -> Status {
    switch (r.tag()) {
      case 2: add(AttrValue::String(Bytes(r))); break;
      case 3: ForEachVarint(r, [&](int64_t v) { add(AttrValue::Int(v)); }); break;
      case 4: {
        std::string raw;
        AppendFixed(r, &raw);
        for (size_t i = 0; i + 4 <= raw.size(); i += 4) {
          float v;
          std::memcpy(&v, raw.data() + i, 4);
          add(AttrValue::Float(v));
        }
        break;
      }
      case 5: ForEachVarint(r, [&](int64_t v) { add(AttrValue::Bool(v != 0)); }); break;
      case 6: ForEachVarint(r, [&](int64_t v) { add(AttrValue::Type(DTypeFromWire(v))); }); break;
      case 7: {
        TARE_ASSIGN_OR_RETURN(PartialShape s, ReadShape(Bytes(r), region));
        add(AttrValue::OfShape(s));
        break;
      }
      case 8: {
        TARE_ASSIGN_OR_RETURN(Tensor t, ReadTensor(Bytes(r), store));
        add(AttrValue::OfTensor(store.Add(std::move(t))));
        break;
      }
      case 9: {
        TARE_ASSIGN_OR_RETURN(AttrValue f, ReadFunction(Bytes(r), region, store, depth));
        add(f);
        break;
      }
      default: break;
    }
    if (!values.empty() && values[0].kind != kind) return InvalidArgument("attribute list of mixed kinds");
    return OkStatus();
  }));
  return AttrValue::List(kind, region.CopyArray(std::span<const AttrValue>(values)));
}

}  // namespace

Result<AttrValue> ReadAttrValue(std::string_view bytes, Region& region, TensorStore& store, int depth) {
  if (depth > kMaxDepth) return InvalidArgument("attributes nest deeper than {}", kMaxDepth);
  AttrValue value;
  TARE_RETURN_IF_ERROR(ForEachField(bytes, "attribute", [&](Reader& r) -> Status {
    switch (r.tag()) {
      case 1: {
        TARE_ASSIGN_OR_RETURN(value, ReadAttrList(Bytes(r), region, store, depth));
        break;
      }
      case 2: value = AttrValue::String(Bytes(r)); break;
      case 3: value = AttrValue::Int(r.get_int64()); break;
      case 4: value = AttrValue::Float(r.get_float()); break;
      case 5: value = AttrValue::Bool(r.get_bool()); break;
      case 6: value = AttrValue::Type(DTypeFromWire(r.get_int64())); break;
      case 7: {
        TARE_ASSIGN_OR_RETURN(PartialShape s, ReadShape(Bytes(r), region));
        value = AttrValue::OfShape(s);
        break;
      }
      case 8: {
        TARE_ASSIGN_OR_RETURN(Tensor t, ReadTensor(Bytes(r), store));
        value = AttrValue::OfTensor(store.Add(std::move(t)));
        break;
      }
      case 9: value = AttrValue::Placeholder(Bytes(r)); break;
      case 10: {
        TARE_ASSIGN_OR_RETURN(value, ReadFunction(Bytes(r), region, store, depth));
        break;
      }
      default: break;
    }
    return OkStatus();
  }));
  return value;
}

Result<Attr> ReadAttr(std::string_view entry, Region& region, TensorStore& store, int depth) {
  TARE_ASSIGN_OR_RETURN(MapEntry e, ReadMapEntry(entry, "attribute"));
  auto value = ReadAttrValue(e.value, region, store, depth);
  if (!value.ok()) return std::move(value).status().At(fmt::format("attr '{}'", e.key));
  return Attr{e.key, *value};
}

}  // namespace tare::wire
