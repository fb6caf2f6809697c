/* Loads a SavedModel, runs its signature once on ones, prints the outputs, and gives everything back.

   usage: session MODEL INPUT_NODE OUTPUT_NODE WIDTH
   for example: session my_model serving_default_x StatefulPartitionedCall 32
   (`tare show MODEL` and TensorFlow's saved_model_cli name the nodes.) */
#include <stdio.h>
#include <stdlib.h>

#include "tensorflow/c/c_api.h"

static void check(const TF_Status* status, const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(1);
}

static TF_Output find(TF_Graph* graph, const char* node) {
  TF_Output output = {TF_GraphOperationByName(graph, node), 0};
  if (output.oper) return output;
  fprintf(stderr, "the graph has no node '%s'\n", node);
  exit(1);
}

int main(int argc, char** argv) {
  const char* tags[] = {"serve"};
  if (argc != 5) {
    fprintf(stderr, "usage: %s MODEL INPUT_NODE OUTPUT_NODE WIDTH\n", argv[0]);
    return 2;
  }
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_LoadSessionFromSavedModel(options, NULL, argv[1], tags, 1, graph, NULL, status);
  check(status, "load");

  const int64_t dims[] = {1, atoll(argv[4])};
  TF_Tensor* x = TF_AllocateTensor(TF_FLOAT, dims, 2, (size_t)dims[1] * sizeof(float));
  float* values = TF_TensorData(x);
  for (int64_t i = 0; i < dims[1]; ++i) values[i] = 1;

  const TF_Output input = find(graph, argv[2]), output = find(graph, argv[3]);
  TF_Tensor* y = NULL;
  TF_SessionRun(session, NULL, &input, &x, 1, &output, &y, 1, NULL, 0, NULL, status);
  check(status, "run");
  const float* result = TF_TensorData(y);
  for (int64_t i = 0; i < TF_TensorElementCount(y); ++i) printf("%g ", (double)result[i]);
  printf("\n");

  TF_DeleteTensor(y);
  TF_DeleteTensor(x);
  TF_CloseSession(session, status);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  return 0;
}
