/* Loads a SavedModel through the C API, runs it once, closes and deletes it, again and again; without a model, only
   starts. Prints NAME VALUE lines; bench/capi.py builds it against any libtensorflow and compares.
   usage: capi_cycle [MODEL CYCLES [FEED DIMS FETCH]]
     FEED, FETCH  tensors by name, as in x:0; FEED gets zeros, or the string "a text of words"
     DIMS         FEED's dimensions, as in 1x224x224x3 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/c_api.h"

struct Run {
  const char *feed, *dims, *fetch;
};

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static long kib(const char* file, const char* format) {
  char line[256];
  long value = 0;
  FILE* f = fopen(file, "r");
  while (fgets(line, sizeof line, f)) sscanf(line, format, &value);
  fclose(f);
  return value;
}
static long anonymous_kib(void) { return kib("/proc/self/smaps_rollup", "Anonymous: %ld"); }

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}
static void check(const TF_Status* s) {
  if (TF_GetCode(s) != TF_OK) fail(TF_Message(s));
}

static TF_Output find(TF_Graph* graph, const char* tensor) {
  char name[256];
  snprintf(name, sizeof name, "%s", tensor);
  char* colon = strrchr(name, ':');
  if (!colon) fail("a tensor's name has no output");
  *colon = 0;
  TF_Output out = {TF_GraphOperationByName(graph, name), atoi(colon + 1)};
  if (!out.oper) fail(name);
  return out;
}

static TF_Tensor* make_input(TF_DataType type, const char* text) {
  int64_t dims[8], count = 1;
  int rank = 0;
  for (const char* p = text; *p && rank < 8; ++rank) {
    char* end;
    dims[rank] = strtoll(p, &end, 10);
    count *= dims[rank];
    p = *end == 'x' ? end + 1 : end;
  }
  const size_t bytes = (size_t)count * (type == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(type));
  TF_Tensor* t = TF_AllocateTensor(type, dims, rank, bytes);
  memset(TF_TensorData(t), 0, bytes);
  if (type == TF_STRING) {
    TF_TString* cells = TF_TensorData(t);
    for (int64_t i = 0; i < count; ++i) TF_StringCopy(&cells[i], "a text of words", 15);
  }
  return t;
}

static void run(TF_Session* session, TF_Graph* graph, const struct Run* r, TF_Status* s) {
  const TF_Output feed = find(graph, r->feed), fetch = find(graph, r->fetch);
  TF_Tensor *in = make_input(TF_OperationOutputType(feed), r->dims), *out = NULL;
  TF_SessionRun(session, NULL, &feed, &in, 1, &fetch, &out, 1, NULL, 0, NULL, s);
  check(s);
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
}

static void cycle(const char* model, const struct Run* r) {
  const char* tags[] = {"serve"};
  TF_Status* s = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_LoadSessionFromSavedModel(options, NULL, model, tags, 1, graph, NULL, s);
  check(s);
  if (r->feed) run(session, graph, r, s);
  TF_CloseSession(session, s);
  TF_DeleteSession(session, s);
  TF_DeleteGraph(graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(s);
}

int main(int argc, char** argv) {
  if (argc == 3 || argc == 6) {
    const int cycles = atoi(argv[2]), half = cycles - cycles / 2;
    const struct Run r = argc == 6 ? (struct Run){argv[3], argv[4], argv[5]} : (struct Run){0};
    const long before = anonymous_kib();
    long middle = 0;
    double begin = 0;
    for (int i = 0; i < cycles; ++i) {
      if (i == cycles / 2) {
        middle = anonymous_kib();
        begin = milliseconds();
      }
      cycle(argv[1], &r);
    }
    printf("cycle_ms %.2f\n", (milliseconds() - begin) / half);
    const long after = anonymous_kib();
    printf("growth_kib_per_cycle %.2f\n", (double)(after - middle) / half);
    printf("kept_kib %ld\n", after - before);
  }
  printf("version %s\n", TF_Version());
  printf("rss_kib %ld\n", kib("/proc/self/status", "VmRSS: %ld"));
  return 0;
}
