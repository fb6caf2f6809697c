/* Loads, closes and deletes a SavedModel through the C API again and again; without a model, only starts.
   Prints NAME VALUE lines; bench/capi.py builds it against any libtensorflow and compares.
   usage: capi_cycle [MODEL CYCLES] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/c_api.h"

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

static void cycle(const char* model) {
  const char* tags[] = {"serve"};
  TF_Status* s = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_LoadSessionFromSavedModel(options, NULL, model, tags, 1, graph, NULL, s);
  if (!session) {
    fprintf(stderr, "%s\n", TF_Message(s));
    exit(1);
  }
  TF_CloseSession(session, s);
  TF_DeleteSession(session, s);
  TF_DeleteGraph(graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(s);
}

int main(int argc, char** argv) {
  if (argc == 3) {
    const int cycles = atoi(argv[2]);
    long middle = 0;
    double begin = 0;
    for (int i = 0; i < cycles; ++i) {
      if (i == cycles / 2) {
        middle = kib("/proc/self/smaps_rollup", "Anonymous: %ld");
        begin = milliseconds();
      }
      cycle(argv[1]);
    }
    const int half = cycles - cycles / 2;
    printf("cycle_ms %.2f\n", (milliseconds() - begin) / half);
    printf("growth_kib_per_cycle %.2f\n", (double)(kib("/proc/self/smaps_rollup", "Anonymous: %ld") - middle) / half);
  }
  printf("version %s\n", TF_Version());
  printf("rss_kib %ld\n", kib("/proc/self/status", "VmRSS: %ld"));
  return 0;
}
