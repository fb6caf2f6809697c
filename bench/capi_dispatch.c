/* What an eager op costs through the C API: kernels found and not found, one thread and two, memory per distinct
   attribute. Prints NAME VALUE lines; bench/capi.py builds it against any libtensorflow and compares. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/eager/c_api.h"

enum { kRounds = 9, kHits = 20000, kMisses = 3000 };

static TFE_Context* context;
static pthread_barrier_t barrier;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(const TF_Status* s) {
  if (TF_GetCode(s) == TF_OK) return;
  fprintf(stderr, "%s\n", TF_Message(s));
  exit(1);
}

static long anonymous_kib(void) {
  char line[256];
  long kib = 0;
  FILE* f = fopen("/proc/self/smaps_rollup", "r");
  while (fgets(line, sizeof line, f)) sscanf(line, "Anonymous: %ld", &kib);
  fclose(f);
  return kib;
}

static TFE_TensorHandle* matrix(TF_Status* s) {
  const int64_t dims[] = {2, 2};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 2, 16);
  memset(TF_TensorData(t), 0, 16);
  TFE_TensorHandle* h = TFE_NewTensorHandle(t, s);
  check(s);
  TF_DeleteTensor(t);
  return h;
}

static void execute(TFE_Op* op, TF_Status* s) {
  TFE_TensorHandle* out = NULL;
  int n = 1;
  TFE_Execute(op, &out, &n, s);
  check(s);
  TFE_DeleteTensorHandle(out);
  TFE_DeleteOp(op);
}

static void hit(TFE_TensorHandle* h, TF_Status* s) {
  TFE_Op* op = TFE_NewOp(context, "AddV2", s);
  TFE_OpAddInput(op, h, s);
  TFE_OpAddInput(op, h, s);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  execute(op, s);
}

static void miss(TFE_TensorHandle* h, float alpha, TF_Status* s) {
  TFE_Op* op = TFE_NewOp(context, "LeakyRelu", s);
  TFE_OpAddInput(op, h, s);
  TFE_OpSetAttrType(op, "T", TF_FLOAT);
  TFE_OpSetAttrFloat(op, "alpha", alpha);
  execute(op, s);
}

struct Work {
  int misses, serial;
  double took;
};

static int next_serial = 0;

static void* work(void* p) {
  struct Work* w = p;
  TF_Status* s = TF_NewStatus();
  TFE_TensorHandle* h = matrix(s);
  for (int i = 0; i < 500; ++i) hit(h, s);
  pthread_barrier_wait(&barrier);
  const double begin = seconds();
  if (w->misses) {
    for (int i = 0; i < kMisses; ++i) miss(h, (float)(w->serial * kMisses + i) * 1e-7f, s);
  } else {
    for (int i = 0; i < kHits; ++i) hit(h, s);
  }
  w->took = (seconds() - begin) / (w->misses ? kMisses : kHits);
  TFE_DeleteTensorHandle(h);
  TF_DeleteStatus(s);
  return NULL;
}

/* The best round's nanoseconds an op, of all threads together. */
static double measure(int threads, int misses) {
  double best = 1;
  for (int round = 0; round < kRounds; ++round) {
    pthread_t ids[2];
    struct Work works[2];
    double slowest = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; ++i) {
      works[i] = (struct Work){misses, next_serial++, 0};
      pthread_create(&ids[i], NULL, work, &works[i]);
    }
    for (int i = 0; i < threads; ++i) {
      pthread_join(ids[i], NULL);
      if (works[i].took > slowest) slowest = works[i].took;
    }
    pthread_barrier_destroy(&barrier);
    if (slowest / threads < best) best = slowest / threads;
  }
  return best * 1e9;
}

int main(void) {
  TF_Status* s = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  context = TFE_NewContext(options, s);
  check(s);
  TFE_DeleteContextOptions(options);
  printf("hit_ns %.0f\n", measure(1, 0));
  printf("hit_two_threads_ns %.0f\n", measure(2, 0));
  printf("miss_ns %.0f\n", measure(1, 1));
  printf("miss_two_threads_ns %.0f\n", measure(2, 1));
  TFE_TensorHandle* h = matrix(s);
  for (int i = 0; i < 20000; ++i) miss(h, 1 + (float)i * 1e-5f, s);
  const long before = anonymous_kib();
  for (int i = 0; i < 40000; ++i) miss(h, 2 + (float)i * 1e-5f, s);
  printf("bytes_per_attribute %.0f\n", (double)(anonymous_kib() - before) * 1024 / 40000);
  TFE_DeleteTensorHandle(h);
  TFE_DeleteContext(context);
  TF_DeleteStatus(s);
  return 0;
}
