// Sessions and graphs: loading, what is refused, orders of deletion, bounds, and that nothing stays.
#include <atomic>
#include <cmath>
#include <thread>

#include "capi_test.h"
#include "soak/allocation_counter.h"

namespace capi_test {
namespace {

const char* const kServe[] = {"serve"};

struct Loaded {
  explicit Loaded(const std::string& dir) {
    Owned<TF_SessionOptions, TF_DeleteSessionOptions> options(TF_NewSessionOptions());
    session = TF_LoadSessionFromSavedModel(options.get(), nullptr, dir.c_str(), kServe, 1, graph.get(), nullptr, s);
  }
  ~Loaded() {
    if (session) TF_DeleteSession(session, s);
  }
  TF_Output Find(const char* node, int index = 0) { return {TF_GraphOperationByName(graph.get(), node), index}; }
  Tensor Run(TF_Output in, const TF_Tensor* value, TF_Output out) {
    TF_Tensor* result = nullptr;
    TF_Tensor* values[] = {const_cast<TF_Tensor*>(value)};
    TF_SessionRun(session, nullptr, &in, values, 1, &out, &result, 1, nullptr, 0, nullptr, s);
    return Tensor(result);
  }
  Status s;
  Graph graph{TF_NewGraph()};
  TF_Session* session = nullptr;
};

constexpr char kIn[] = "serving_default_keras_tensor", kOut[] = "StatefulPartitionedCall_1";
std::string Dense() { return TestData("cycle/keras_dense_sm"); }
Tensor Ones() { return NewTensor<float>(TF_FLOAT, {1, 32}, std::vector<float>(32, 1)); }

TEST(Session, RunsAndOutputsOutliveIt) {
  Tensor result;
  {
    Loaded m(Dense());
    ASSERT_OK(m.s);
    result = m.Run(m.Find(kIn), Ones().get(), m.Find(kOut));
    ASSERT_OK(m.s);
  }
  EXPECT_EQ(TF_TensorElementCount(result.get()), 4);
  float sum = 0;
  for (float v : Values(result.get())) sum += v;
  EXPECT_TRUE(std::isfinite(sum));
}

TEST(Session, RefusesInTensorFlowsWords) {
  Loaded m(Dense());
  ASSERT_OK(m.s);
  TF_Output out = m.Find(kOut), in = m.Find(kIn);
  TF_Tensor* result = Ones().release();
  TF_DeleteTensor(result);
  TF_SessionRun(m.session, nullptr, nullptr, nullptr, 0, &out, &result, 1, nullptr, 0, nullptr, m.s);
  EXPECT_ERROR(m.s, TF_INVALID_ARGUMENT,
               "You must feed a value for placeholder tensor 'serving_default_keras_tensor' with dtype float and shape "
               "[?,32]");
  EXPECT_EQ(result, nullptr);
  m.Run(in, NewTensor<int32_t>(TF_INT32, {1, 32}, std::vector<int32_t>(32)).get(), out);
  EXPECT_ERROR(m.s, TF_INVALID_ARGUMENT, "Expects arg[0] to be float but int32 is provided");
  m.Run(in, NewTensor<float>(TF_FLOAT, {2, 5}, std::vector<float>(10)).get(), out);
  EXPECT_ERROR(m.s, TF_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: [2,5], In[1]: [32,");
  m.Run(in, Ones().get(), {out.oper, 3});
  EXPECT_EQ(m.s.code(), TF_OUT_OF_RANGE) << m.s.message();
  m.Run(in, Ones().get(), {nullptr, 0});
  EXPECT_EQ(m.s.code(), TF_INVALID_ARGUMENT);
  Loaded other(Dense());
  m.Run(in, Ones().get(), other.Find(kOut));
  EXPECT_EQ(m.s.code(), TF_INVALID_ARGUMENT) << "a node of another graph";
  TF_SessionRun(m.session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, nullptr, m.s);
  EXPECT_ERROR(m.s, TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  TF_CloseSession(m.session, m.s);
  EXPECT_OK(m.s);
  m.Run(in, Ones().get(), out);
  EXPECT_ERROR(m.s, TF_CANCELLED, "Session has been closed.");
}

TEST(Session, FailedLoadsLeaveAnError) {
  Loaded missing("/nonexistent");
  EXPECT_EQ(missing.session, nullptr);
  EXPECT_ERROR(missing.s, TF_NOT_FOUND, "Could not find SavedModel .pb or .pbtxt at supplied export directory path");
  Owned<TF_SessionOptions, TF_DeleteSessionOptions> options(TF_NewSessionOptions());
  Loaded m(Dense());
  Status s;
  auto load = [&](TF_SessionOptions* o, const char* tag, TF_Graph* g, TF_Buffer* meta) {
    return TF_LoadSessionFromSavedModel(o, nullptr, Dense().c_str(), &tag, 1, g, meta, s);
  };
  EXPECT_EQ(load(options.get(), "serve", m.graph.get(), nullptr), nullptr);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Graph is non-empty.");
  Graph fresh(TF_NewGraph());
  EXPECT_EQ(load(options.get(), "train", fresh.get(), nullptr), nullptr);
  EXPECT_ERROR(s, TF_NOT_FOUND, "Could not find meta graph def matching supplied tags: { train }");
  Buffer full(TF_NewBufferFromString("x", 1));
  EXPECT_EQ(load(options.get(), "serve", fresh.get(), full.get()), nullptr);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
  TF_SetTarget(options.get(), "grpc://somewhere:2222");
  EXPECT_EQ(load(options.get(), "serve", fresh.get(), nullptr), nullptr);
  EXPECT_EQ(s.code(), TF_NOT_FOUND);
  TF_SetConfig(options.get(), "\x0f\xff", 2, s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Unparseable ConfigProto");
}

TEST(Session, GoesInAnyOrder) {
  for (bool graph_first : {false, true}) {
    Loaded m(Dense());
    TF_Output in = m.Find(kIn), out = m.Find(kOut);
    if (graph_first) m.graph.reset();
    EXPECT_NE(m.Run(in, Ones().get(), out), nullptr) << m.s.message();
    EXPECT_STREQ(TF_OperationOpType(in.oper), "Placeholder");
    if (graph_first) TF_CloseSession(m.session, m.s);
    TF_DeleteSession(m.session, m.s);
    m.session = nullptr;
    EXPECT_OK(m.s);
  }
  Status s;
  TF_DeleteSession(nullptr, s);
  TF_CloseSession(nullptr, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
}

// A session keeps 64 plans: heap and mappings stay as they are from there on.
TEST(Session, PlansAreBounded) {
  Loaded m(Dense());
  Status s;
  std::vector<TF_Operation*> nodes;
  size_t pos = 0;
  while (TF_Operation* n = TF_GraphNextOperation(m.graph.get(), &pos)) {
    const std::string type = TF_OperationOpType(n);
    if (type == "Const" || type == "VarHandleOp") nodes.push_back(n);
  }
  ASSERT_GE(nodes.size(), 8u);
  auto run_subsets = [&] {
    // 255 sets of targets, each a plan of its own.
    for (int set = 1; set < 256; ++set) {
      std::vector<TF_Operation*> targets;
      for (int i = 0; i < 8; ++i) {
        if (set >> i & 1) targets.push_back(nodes[i]);
      }
      TF_SessionRun(m.session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, targets.data(),
                    static_cast<int>(targets.size()), nullptr, s);
      ASSERT_OK(s);
    }
  };
  run_subsets();
  const tare::HeapCount heap = tare::CountHeap();
  for (int i = 0; i < 4; ++i) run_subsets();
  if (tare::allocation_meter() != tare::AllocationMeter::kOwn) return;
  EXPECT_EQ(tare::CountHeap().bytes, heap.bytes);
}

TEST(Session, CyclesLeaveNothing) {
  for (const char* model : {"keras_dense_sm", "keras_lookup_sm", "tf1_ref", "table_file_str", "while_loop"}) {
    auto cycle = [&] {
      Loaded m(TestData(std::string("cycle/") + model));
      ASSERT_OK(m.s) << model;
      const bool dense = std::string(model) == "keras_dense_sm";
      ASSERT_EQ(m.Run(m.Find(kIn), Ones().get(), m.Find(kOut)) != nullptr, dense);
    };
    for (int i = 0; i < 3; ++i) cycle();
    const tare::HeapCount heap = tare::CountHeap();
    for (int i = 0; i < 20; ++i) cycle();
    if (tare::allocation_meter() != tare::AllocationMeter::kOwn) continue;
    EXPECT_EQ(tare::CountHeap().bytes, heap.bytes) << model;
    EXPECT_EQ(tare::CountHeap().blocks, heap.blocks) << model;
  }
}

TEST(Session, ManyThreadsRunWhileOthersLoadAndClose) {
  Loaded m(Dense());
  TF_Output in = m.Find(kIn), out = m.Find(kOut);
  std::atomic<int> wrong{0};
  const std::vector<float> expected = Values(m.Run(in, Ones().get(), out).get());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Status s;
      for (int i = 0; i < 50; ++i) {
        TF_Tensor* result = nullptr;
        Tensor x = Ones();
        TF_Tensor* value = x.get();
        TF_SessionRun(m.session, nullptr, &in, &value, 1, &out, &result, 1, nullptr, 0, nullptr, s);
        Tensor owned(result);
        if (!result || Values(result) != expected) ++wrong;
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 10; ++i) Loaded other(Dense());
  });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, ClosingEndsRunsOfOtherThreads) {
  Loaded m(Dense());
  TF_Output in = m.Find(kIn), out = m.Find(kOut);
  std::atomic<int> bad{0}, done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      Status s;
      for (;;) {
        TF_Tensor* result = nullptr;
        Tensor x = Ones();
        TF_Tensor* value = x.get();
        TF_SessionRun(m.session, nullptr, &in, &value, 1, &out, &result, 1, nullptr, 0, nullptr, s);
        TF_DeleteTensor(result);
        ++done;
        if (s.code() == TF_CANCELLED) return;
        if (s.code() != TF_OK) ++bad;
      }
    });
  }
  while (done < 20) std::this_thread::yield();
  Status s;
  TF_CloseSession(m.session, s);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(bad, 0);
}

TEST(Graph, SaysWhatItsNodesAre) {
  Loaded m(Dense());
  Status s;
  TF_Operation* in = m.Find(kIn).oper;
  ASSERT_NE(in, nullptr);
  EXPECT_STREQ(TF_OperationName(in), kIn);
  EXPECT_EQ(TF_OperationNumOutputs(in), 1);
  EXPECT_EQ(TF_OperationOutputType({in, 0}), TF_FLOAT);
  EXPECT_EQ(TF_OperationOutputType({in, 1}), 0);
  EXPECT_EQ(TF_GraphGetTensorNumDims(m.graph.get(), {in, 0}, s), 2);
  int64_t dims[2] = {};
  TF_GraphGetTensorShape(m.graph.get(), {in, 0}, dims, 2, s);
  ASSERT_OK(s);
  EXPECT_EQ(dims[0], -1);
  EXPECT_EQ(dims[1], 32);
  TF_DataType type;
  TF_OperationGetAttrType(in, "dtype", &type, s);
  ASSERT_OK(s);
  EXPECT_EQ(type, TF_FLOAT);
  TF_AttrMetadata meta = TF_OperationGetAttrMetadata(in, "shape", s);
  EXPECT_EQ(meta.type, TF_ATTR_SHAPE);
  EXPECT_EQ(meta.total_size, 2);
  TF_OperationGetAttrInt(in, "dtype", dims, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
  TF_OperationGetAttrInt(in, "nothing", dims, s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Operation 'serving_default_keras_tensor' has no attr named 'nothing'.");
  const int consumers = TF_OperationOutputNumConsumers({in, 0});
  ASSERT_GE(consumers, 1);
  std::vector<TF_Input> readers(static_cast<size_t>(consumers));
  EXPECT_EQ(TF_OperationOutputConsumers({in, 0}, readers.data(), consumers), consumers);
  EXPECT_EQ(TF_OperationInput(readers[0]).oper, in);
  EXPECT_GT(TF_GraphNumFunctions(m.graph.get()), 0);
  TF_Function* f = nullptr;
  ASSERT_EQ(TF_GraphGetFunctions(m.graph.get(), &f, 1, s), 1);
  Function function(f);
  EXPECT_STRNE(TF_FunctionName(f), "");
  EXPECT_EQ(TF_GraphOperationByName(m.graph.get(), "nothing"), nullptr);
}

// y = x + x as a GraphDef.
std::string AddGraph() {
  auto type = [](const char* name) { return Field(5, Field(1, name) + Field(2, Number(6, TF_FLOAT))); };
  return Field(1, Field(1, "x") + Field(2, "Placeholder") + type("dtype")) +
         Field(1, Field(1, "y") + Field(2, "AddV2") + Field(3, "x") + Field(3, "x") + type("T"));
}

TEST(Graph, ImportsRunsAndImportsAgain) {
  Status s;
  Graph g(TF_NewGraph());
  Buffer def(TF_NewBufferFromString(AddGraph().data(), AddGraph().size()));
  Owned<TF_ImportGraphDefOptions, TF_DeleteImportGraphDefOptions> options(TF_NewImportGraphDefOptions());
  TF_GraphImportGraphDef(g.get(), def.get(), options.get(), s);
  ASSERT_OK(s);
  TF_GraphImportGraphDef(g.get(), def.get(), options.get(), s);
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Node name 'x' already exists in the Graph");
  Owned<TF_SessionOptions, TF_DeleteSessionOptions> session_options(TF_NewSessionOptions());
  TF_Session* session = TF_NewSession(g.get(), session_options.get(), s);
  ASSERT_OK(s);
  auto run = [&](const char* in, const char* out) {
    TF_Output i{TF_GraphOperationByName(g.get(), in), 0}, o{TF_GraphOperationByName(g.get(), out), 0};
    Tensor x = NewTensor<float>(TF_FLOAT, {2}, {1, 2});
    TF_Tensor* value = x.get();
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, &i, &value, 1, &o, &result, 1, nullptr, 0, nullptr, s);
    Tensor owned(result);
    return result ? Values(result) : std::vector<float>();
  };
  EXPECT_EQ(run("x", "y"), (std::vector<float>{2, 4})) << s.message();
  // A second time, behind the first: its x is the first's y.
  TF_ImportGraphDefOptionsSetPrefix(options.get(), "more");
  TF_ImportGraphDefOptionsAddInputMapping(options.get(), "x", 0, {TF_GraphOperationByName(g.get(), "y"), 0});
  TF_ImportGraphDefOptionsAddInputMapping(options.get(), "unused", 1, {TF_GraphOperationByName(g.get(), "y"), 0});
  TF_ImportGraphDefOptionsAddReturnOutput(options.get(), "y", 0);
  TF_ImportGraphDefResults* results = TF_GraphImportGraphDefWithResults(g.get(), def.get(), options.get(), s);
  ASSERT_OK(s);
  int n = 0;
  TF_Output* outputs = nullptr;
  TF_ImportGraphDefResultsReturnOutputs(results, &n, &outputs);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(TF_OperationName(outputs[0].oper), "more/y");
  const char** names = nullptr;
  int* indexes = nullptr;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &n, &names, &indexes);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(names[0], "unused");
  TF_DeleteImportGraphDefResults(results);
  EXPECT_EQ(run("x", "more/y"), (std::vector<float>{4, 8})) << s.message();
  TF_DeleteSession(session, s);
  Buffer out(TF_NewBuffer());
  TF_GraphToGraphDef(g.get(), out.get(), s);
  Graph copy(TF_NewGraph());
  Owned<TF_ImportGraphDefOptions, TF_DeleteImportGraphDefOptions> plain(TF_NewImportGraphDefOptions());
  TF_GraphImportGraphDef(copy.get(), out.get(), plain.get(), s);
  EXPECT_OK(s);
  EXPECT_NE(TF_GraphOperationByName(copy.get(), "more/y"), nullptr);
}

TEST(Graph, AnImportThatFailsChangesNothing) {
  Status s;
  Graph g(TF_NewGraph());
  Owned<TF_ImportGraphDefOptions, TF_DeleteImportGraphDefOptions> options(TF_NewImportGraphDefOptions());
  auto import = [&](const std::string& bytes) {
    Buffer def(TF_NewBufferFromString(bytes.data(), bytes.size()));
    TF_GraphImportGraphDef(g.get(), def.get(), options.get(), s);
  };
  import(AddGraph() + Field(1, Field(1, "z") + Field(2, "NoSuchOp")));
  EXPECT_ERROR(s, TF_NOT_FOUND, "Op type not registered 'NoSuchOp' in binary");
  import(Field(1, Field(1, "z") + Field(2, "NoOp") + Field(3, "^nobody")));
  EXPECT_ERROR(s, TF_INVALID_ARGUMENT, "Node 'z': Unknown input node '^nobody'");
  import("\xff\xff");
  EXPECT_NE(s.code(), TF_OK);
  size_t pos = 0;
  EXPECT_EQ(TF_GraphNextOperation(g.get(), &pos), nullptr);
  import(AddGraph());
  EXPECT_OK(s);
}

}  // namespace
}  // namespace capi_test
