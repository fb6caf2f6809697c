// Lookup tables: handles, filling, finding. TF1's ops with reference handles are the same kernels: what
// travels along the reference edge is the handle.
#include <algorithm>

#include "kernels/registry.h"
#include "resource/lookup_table.h"
#include "resource/table_file.h"

namespace tare {
namespace {

using Form = LookupTable::Form;

Status CheckContainer(std::string_view container) {
  auto good = [](char c, bool first) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' ||
           (!first && (c == '_' || c == '-' || c == '/'));
  };
  for (size_t i = 0; i < container.size(); ++i) {
    if (!good(container[i], i == 0)) return InvalidArgument("container contains invalid characters: {}", container);
  }
  return OkStatus();
}

// Makes or finds a table and gives its handle.
template <Form kForm, bool kAnonymous>
struct TableHandle {
  explicit TableHandle(AttrReader& a) {
    spec.form = kForm;
    spec.key_dtype = a.Type("key_dtype");
    spec.value_dtype = a.Type("value_dtype");
    if constexpr (kForm == Form::kMutableOfTensors || kForm == Form::kDense) {
      PartialShape s = a.ShapeAttr("value_shape");
      if (!s.fully_defined()) {
        a.Fail(InvalidArgument("Shape {} is not fully defined", s.ToString()));
        return;
      }
      auto shape = Shape::Make(s.dims);
      if (shape.ok()) spec.value_shape = *shape;
      else a.Fail(std::move(shape).status());
    }
    if constexpr (kForm == Form::kDense) {
      spec.buckets = a.Int("initial_num_buckets");
      spec.max_load = a.Float("max_load_factor");
    }
    if constexpr (!kAnonymous) {
      container = a.String("container");
      name = a.String("shared_name");
      by_node = name.empty();
      use_node_name = a.Bool("use_node_name_sharing");
      a.Fail(CheckContainer(container));
      if (name.starts_with('_')) a.Fail(InvalidArgument("shared_name cannot start with '_':{}", name));
    }
  }

  Result<Ref<LookupTable>> Make(KernelCall& c, std::string full_name) const {
    LookupTable::Spec s = spec;
    const Ref<Account>& account = c.run().resources->account();
    if constexpr (kForm == Form::kDense) {
      const Tensor &empty = c.input(0), &deleted = c.input(1);
      TARE_ASSIGN_OR_RETURN(s.empty_key, empty.Clone(account, Kind::kTables));
      TARE_ASSIGN_OR_RETURN(s.deleted_key, deleted.Clone(account, Kind::kTables));
      s.key_shape = empty.shape();
    }
    return LookupTable::Make(std::move(full_name), std::move(s), account);
  }

  Status Run(KernelCall& c) const {
    Ref<LookupTable> table;
    if constexpr (kAnonymous) {
      TARE_ASSIGN_OR_RETURN(table, Make(c, std::string(c.node())));
      c.run().resources->AddAnonymous(table);
    } else {
      // A name that a shared_name cannot have is private to the call site.
      const std::string node = by_node ? fmt::format("{}{}", use_node_name ? "" : "_", c.node()) : std::string();
      const std::string& n = by_node ? node : name;
      TARE_ASSIGN_OR_RETURN(table, c.run().resources->LookupOrCreate<LookupTable>(container, n, [&] {
        return Make(c, fmt::format("{} {}", container.empty() ? "localhost" : container, n));
      }));
    }
    const LookupTable::Spec& s = table->spec();
    if (s.key_dtype != spec.key_dtype || s.value_dtype != spec.value_dtype) {
      return InvalidArgument("Conflicting key/value dtypes {}->{} with {}-{} for table {}", DTypeName(spec.key_dtype),
                             DTypeName(spec.value_dtype), DTypeName(s.key_dtype), DTypeName(s.value_dtype), name);
    }
    TARE_ASSIGN_OR_RETURN(Tensor handle, MakeHandle(c.run().account, std::move(table)));
    c.SetOutput(0, std::move(handle));
    return OkStatus();
  }

  LookupTable::Spec spec;
  std::string container, name;
  bool by_node = false, use_node_name = false;
};

// The table of input 0, whose dtypes must be those of input 1 and, where it is not -1, of input `value`.
Result<Ref<LookupTable>> TableOf(KernelCall& c, int value, bool finds = false) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, GetResource<LookupTable>(c.input(0)));
  const LookupTable::Spec& s = table->spec();
  const DType key = c.input(1).dtype();
  if (value < 0) {
    if (key == s.key_dtype) return table;
    return InvalidArgument("Signature mismatch, have: resource, {}-> expected: resource, {}->", DTypeName(key),
                           DTypeName(s.key_dtype));
  }
  const DType v = c.input(value).dtype();
  if (key == s.key_dtype && v == s.value_dtype) return table;
  return InvalidArgument("Signature mismatch, have: resource, {}, {}->{} expected: resource, {}, {}->{}",
                         DTypeName(key), DTypeName(v), finds ? DTypeName(v) : "", DTypeName(s.key_dtype),
                         DTypeName(s.value_dtype), finds ? DTypeName(s.value_dtype) : "");
}

Status Initialize(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, GetResource<LookupTable>(c.input(0)));
  if (table->spec().form != Form::kStatic) return InvalidArgument("Table {} is not initializable", table->name());
  TARE_RETURN_IF_ERROR(TableOf(c, 2).status());
  const Tensor &keys = c.input(1), &values = c.input(2);
  if (keys.rank() != 1) return InvalidArgument("Keys must be a vector, but received shape{}", keys.shape().ToString());
  if (values.rank() != 1) {
    return InvalidArgument("Values must be a vector, but received shape{}", values.shape().ToString());
  }
  if (keys.dim(0) != values.dim(0)) {
    return InvalidArgument("Keys and values must have the same size {} vs {}", keys.dim(0), values.dim(0));
  }
  return table->Initialize(keys, values);
}

struct InitializeFromTextFile {
  explicit InitializeFromTextFile(AttrReader& a) {
    const std::string delimiter = a.String("delimiter");
    if (delimiter.size() != 1) a.Fail(InvalidArgument("delimiter should be only 1 char"));
    file.vocab_size = a.Int("vocab_size");
    file.delimiter = delimiter.empty() ? '\t' : delimiter[0];
    file.key_index = a.Int("key_index");
    file.value_index = a.Int("value_index");
    file.offset = a.Int("offset");
  }
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, GetResource<LookupTable>(c.input(0)));
    const Tensor& name = c.input(1);
    if (name.num_elements() != 1) {
      return InvalidArgument("filename should be a single string, but got {}", name.shape().ToString());
    }
    TableFile f = file;
    f.filename = name.scalar<StringCell>().view();
    return InitializeFromFile(*table, f);
  }
  TableFile file;
};

Status Find(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, TableOf(c, 2, true));
  const Tensor &keys = c.input(1), &default_value = c.input(2);
  TARE_ASSIGN_OR_RETURN(Shape shape, table->FoundShape(keys.shape()));
  const Shape& one = table->spec().value_shape;
  if (default_value.shape() != one && default_value.shape() != shape) {
    return InvalidArgument("Expected shape {} or {} for default value, got {}", one.ToString(), shape.ToString(),
                           default_value.shape().ToString());
  }
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, default_value.dtype(), shape));
  return table->Find(keys, default_value, *out, c.threads());
}

Status Insert(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, TableOf(c, 2));
  return table->Insert(c.input(1), c.input(2));
}

Status Remove(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, TableOf(c, -1));
  return table->Remove(c.input(1));
}

Status Import(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, TableOf(c, 2));
  return table->Import(c.input(1), c.input(2));
}

Status Size(KernelCall& c) {
  TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, GetResource<LookupTable>(c.input(0)));
  TARE_ASSIGN_OR_RETURN(int64_t size, table->size());
  TARE_ASSIGN_OR_RETURN(Tensor* out, c.Output(0, DType::kInt64, {}));
  *out->mutable_data<int64_t>() = size;
  return OkStatus();
}

struct Export {
  explicit Export(AttrReader& a) : keys(a.Type("Tkeys")), values(a.Type("Tvalues")) {}
  Status Run(KernelCall& c) const {
    TARE_ASSIGN_OR_RETURN(Ref<LookupTable> table, GetResource<LookupTable>(c.input(0)));
    const LookupTable::Spec& s = table->spec();
    if (s.key_dtype != keys || s.value_dtype != values) {
      return InvalidArgument("the table is {}->{}, not {}->{}", DTypeName(s.key_dtype), DTypeName(s.value_dtype),
                             DTypeName(keys), DTypeName(values));
    }
    Tensor k, v;
    TARE_RETURN_IF_ERROR(table->Export(c.run().account, &k, &v));
    c.SetOutput(0, std::move(k));
    c.SetOutput(1, std::move(v));
    return OkStatus();
  }
  DType keys, values;
};
constexpr unsigned kMaker = kNeverCached | kStateful;
constexpr KernelRow kRows[] = {
    Op<TableHandle<Form::kStatic, true>>("AnonymousHashTable", kMaker),
    Op<TableHandle<Form::kDense, true>>("AnonymousMutableDenseHashTable", kMaker),
    Op<TableHandle<Form::kMutable, true>>("AnonymousMutableHashTable", kMaker),
    Op<TableHandle<Form::kMutableOfTensors, true>>("AnonymousMutableHashTableOfTensors", kMaker),
    Op<TableHandle<Form::kStatic, false>>("HashTable", kMaker),
    Op<TableHandle<Form::kStatic, false>>("HashTableV2", kMaker),
    Op<Initialize>("InitializeTable", kStateful),
    Op<InitializeFromTextFile>("InitializeTableFromTextFile", kStateful),
    Op<InitializeFromTextFile>("InitializeTableFromTextFileV2", kStateful),
    Op<Initialize>("InitializeTableV2", kStateful),
    Op<Export>("LookupTableExport", kStateful),
    Op<Export>("LookupTableExportV2", kStateful),
    Op<Find>("LookupTableFind", kStateful),
    Op<Find>("LookupTableFindV2", kStateful),
    Op<Import>("LookupTableImport", kStateful),
    Op<Import>("LookupTableImportV2", kStateful),
    Op<Insert>("LookupTableInsert", kStateful),
    Op<Insert>("LookupTableInsertV2", kStateful),
    Op<Remove>("LookupTableRemoveV2", kStateful),
    Op<Size>("LookupTableSize", kStateful),
    Op<Size>("LookupTableSizeV2", kStateful),
    Op<TableHandle<Form::kMutable, false>>("MutableHashTable", kMaker),
    Op<TableHandle<Form::kMutableOfTensors, false>>("MutableHashTableOfTensors", kMaker),
    Op<TableHandle<Form::kMutableOfTensors, false>>("MutableHashTableOfTensorsV2", kMaker),
    Op<TableHandle<Form::kMutable, false>>("MutableHashTableV2", kMaker),
    Op<TableHandle<Form::kDense, false>>("MutableDenseHashTableV2", kMaker),
};

}  // namespace
extern constinit const KernelFamily kTableKernels = kRows;
}  // namespace tare
