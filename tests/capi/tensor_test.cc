// Tensors, strings, statuses and buffers: who frees what, when.
#include "capi_test.h"

namespace capi_test {
namespace {

struct Block {
  int freed = 0;
  alignas(64) char bytes[192] = {};
  static void Free(void*, size_t, void* arg) { ++static_cast<Block*>(arg)->freed; }
};

TEST(Tensor, AlignedMemoryIsUsedInPlaceAndFreedWithTheLastHolder) {
  Block block;
  const int64_t dims[] = {2, 4};
  TF_Tensor* t = TF_NewTensor(TF_FLOAT, dims, 2, block.bytes, 64, Block::Free, &block);
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(TF_TensorData(t), block.bytes);
  EXPECT_EQ(TF_TensorByteSize(t), 64u) << "as given, not as needed";
  EXPECT_EQ(TF_TensorElementCount(t), 8);
  EXPECT_EQ(TF_Dim(t, 1), 4);
  EXPECT_EQ(TF_Dim(t, 2), -1);
  EXPECT_EQ(TF_Dim(t, -1), -1);
  Status s;
  Handle h(TFE_NewTensorHandle(t, s));
  ASSERT_OK(s);
  TF_DeleteTensor(t);
  EXPECT_EQ(block.freed, 0);
  Tensor resolved(TFE_TensorHandleResolve(h.get(), s));
  EXPECT_EQ(TF_TensorData(resolved.get()), block.bytes);
  h.reset();
  EXPECT_EQ(block.freed, 0);
  resolved.reset();
  EXPECT_EQ(block.freed, 1);
}

TEST(Tensor, UnalignedMemoryIsCopiedAndFreedAtOnce) {
  for (int offset : {1, 4, 8, 16, 32}) {
    Block block;
    block.bytes[offset] = 7;
    const int64_t dims[] = {3};
    Tensor t(TF_NewTensor(TF_FLOAT, dims, 1, block.bytes + offset, 12, Block::Free, &block));
    ASSERT_NE(t, nullptr);
    EXPECT_NE(TF_TensorData(t.get()), block.bytes + offset);
    EXPECT_TRUE(TF_TensorIsAligned(t.get()));
    EXPECT_EQ(static_cast<char*>(TF_TensorData(t.get()))[0], 7);
    EXPECT_EQ(block.freed, 1);
  }
}

TEST(Tensor, WhatCannotBeATensorIsFreedAtOnce) {
  const int64_t dims[] = {2, 4}, negative[] = {-1}, huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  const std::vector<int64_t> deep(11, 1);
  auto refused = [](TF_DataType type, const int64_t* d, int n, size_t len) {
    Block block;
    return !TF_NewTensor(type, d, n, block.bytes, len, Block::Free, &block) && block.freed == 1;
  };
  EXPECT_TRUE(refused(TF_FLOAT, dims, 2, 31)) << "too short";
  EXPECT_TRUE(refused(TF_FLOAT, negative, 1, 64));
  EXPECT_TRUE(refused(TF_FLOAT, huge, 2, 64));
  EXPECT_TRUE(refused(TF_FLOAT, deep.data(), 11, 64));
  EXPECT_TRUE(refused(TF_FLOAT, dims, -1, 64));
  EXPECT_TRUE(refused(TF_RESOURCE, dims, 0, 64));
  EXPECT_TRUE(refused(static_cast<TF_DataType>(99), dims, 0, 64));
  EXPECT_EQ(TF_AllocateTensor(TF_FLOAT, dims, 2, 31), nullptr);
  EXPECT_EQ(TF_AllocateTensor(TF_FLOAT, nullptr, 0, SIZE_MAX), nullptr);
}

TEST(Tensor, WithoutElementsNeedsNoData) {
  Block block;
  const int64_t dims[] = {0, 3};
  TF_Tensor* t = TF_NewTensor(TF_INT32, dims, 2, nullptr, 0, Block::Free, &block);
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(TF_TensorElementCount(t), 0);
  TF_DeleteTensor(t);
  EXPECT_EQ(block.freed, 1);
}

TEST(Tensor, MovesWhatNobodyElseHolds) {
  Tensor t = NewTensor<float>(TF_FLOAT, {2}, {1, 2});
  Status s;
  Handle shared(TFE_NewTensorHandle(t.get(), s));
  EXPECT_EQ(TF_TensorMaybeMove(t.get()), nullptr);
  shared.reset();
  void* data = TF_TensorData(t.get());
  Tensor moved(TF_TensorMaybeMove(t.get()));
  ASSERT_NE(moved, nullptr);
  (void)t.release();
  EXPECT_EQ(TF_TensorData(moved.get()), data);
  Block block;
  Tensor foreign(TF_NewTensor(TF_FLOAT, nullptr, 0, block.bytes, 4, Block::Free, &block));
  EXPECT_EQ(TF_TensorMaybeMove(foreign.get()), nullptr);
}

TEST(Tensor, BitcastSharesBytes) {
  Tensor from = NewTensor<float>(TF_FLOAT, {2, 2}, {1, 2, 3, 4}), to = NewTensor<float>(TF_FLOAT, {}, {0});
  Status s;
  const int64_t dims[] = {2}, wrong[] = {3};
  TF_TensorBitcastFrom(from.get(), TF_DOUBLE, to.get(), dims, 1, s);
  ASSERT_OK(s);
  EXPECT_EQ(TF_TensorData(to.get()), TF_TensorData(from.get()));
  EXPECT_EQ(TF_TensorType(to.get()), TF_DOUBLE);
  TF_TensorBitcastFrom(from.get(), TF_DOUBLE, to.get(), wrong, 1, s);
  EXPECT_EQ(s.code(), TF_INVALID_ARGUMENT);
}

TEST(Tensor, ElementSizes) {
  // Programs in C pass any number.
  const auto size_of = reinterpret_cast<size_t (*)(int)>(TF_DataTypeSize);
  const struct { int type; size_t size; } kSizes[] = {
      {TF_FLOAT, 4}, {TF_BOOL, 1}, {TF_BFLOAT16, 2}, {TF_HALF, 2}, {TF_INT4, 1}, {TF_INT2, 1}, {TF_COMPLEX128, 16},
      {TF_STRING, 0}, {TF_RESOURCE, 0}, {TF_VARIANT, 0}, {0, 0},
      {1000, 0}, {-1, 0}};
  for (auto [type, size] : kSizes) EXPECT_EQ(size_of(type), size) << type;
}

std::string Text(const TF_TString* s) { return {TF_StringGetDataPointer(s), TF_StringGetSize(s)}; }

TEST(String, RoundTripsThroughEveryForm) {
  for (size_t size : {0, 1, 22, 23, 24, 4096}) {
    const std::string text(size, 'x');
    TF_TString s, copy;
    TF_StringInit(&s);
    TF_StringInit(&copy);
    TF_StringCopy(&s, text.data(), text.size());
    EXPECT_EQ(TF_StringGetType(&s), size <= 22 ? TF_TSTR_SMALL : TF_TSTR_LARGE);
    EXPECT_EQ(Text(&s), text);
    EXPECT_EQ(TF_StringGetDataPointer(&s)[size], 0);
    EXPECT_EQ((TF_StringGetCapacity(&s) + 1) % 16, size > 22 ? 0u : 7u);
    TF_TString_Assign(&copy, &s);
    TF_TString_AppendN(&copy, "yz", 2);
    EXPECT_EQ(Text(&copy), text + "yz");
    TF_StringAssignView(&s, text.data(), text.size());
    EXPECT_EQ(TF_StringGetType(&s), TF_TSTR_VIEW);
    EXPECT_EQ(TF_StringGetDataPointer(&s), text.data());
    EXPECT_EQ(s.u.view.owner_ref, nullptr);
    TF_TString_Resize(&s, size + 2, '-');
    EXPECT_EQ(Text(&s), text + "--");
    TF_TString_Move(&copy, &s);
    EXPECT_EQ(Text(&copy), text + "--");
    EXPECT_EQ(TF_StringGetSize(&s), 0u);
    TF_StringDealloc(&copy);
    TF_StringDealloc(&s);
  }
}

TEST(String, OffsetsAreReadOnlyAndOwnersAreCounted) {
  struct {
    TF_TString s;
    char text[8] = "offset";
  } mapped;
  TF_StringInit(&mapped.s);
  mapped.s.u.offset.size = 6 << 2 | TF_TSTR_OFFSET;
  mapped.s.u.offset.offset = sizeof(TF_TString);
  EXPECT_EQ(Text(&mapped.s), "offset");
  TF_TString_GetMutableDataPointer(&mapped.s)[0] = 'O';
  EXPECT_EQ(Text(&mapped.s), "Offset");
  EXPECT_STREQ(mapped.text, "offset");
  int references = 1;
  TStringOwnerCApi owner{[](TStringOwnerCApi* o) { ++*static_cast<int*>(o->obj); },
                         [](TStringOwnerCApi* o) { return --*static_cast<int*>(o->obj) == 0; }, &references};
  TF_TString a, b;
  TF_StringInit(&a);
  TF_StringInit(&b);
  TF_TString_AssignViewWithOwner(&a, "view", 4, &owner);
  TF_TString_Assign(&b, &a);
  EXPECT_EQ(references, 2);
  TF_StringDealloc(&a);
  TF_TString_Resize(&b, 30, ' ');
  EXPECT_EQ(references, 0);
  TF_StringDealloc(&b);
}

TEST(String, TensorsFreeTheirStrings) {
  const int64_t dims[] = {3};
  Tensor t(TF_AllocateTensor(TF_STRING, dims, 1, 3 * sizeof(TF_TString)));
  auto* strings = static_cast<TF_TString*>(TF_TensorData(t.get()));
  EXPECT_EQ(TF_StringGetSize(&strings[2]), 0u) << "empty from the start";
  const std::string text(1000, 'l');
  for (int i = 0; i < 3; ++i) TF_StringCopy(&strings[i], text.data(), text.size());
  Status s;
  Handle h(TFE_NewTensorHandle(t.get(), s));
  // Somebody else holds the strings: those who resolve them may free them.
  Tensor resolved(TFE_TensorHandleResolve(h.get(), s));
  TF_StringDealloc(static_cast<TF_TString*>(TF_TensorData(resolved.get())));
  EXPECT_EQ(Text(&strings[0]), text);
}

TEST(Status, KeepsCodeMessageAndPayloads) {
  Status s;
  EXPECT_EQ(s.message(), "");
  TF_SetPayload(s, "key", "ignored while OK");
  TF_SetStatus(s, TF_NOT_FOUND, "gone");
  TF_SetPayload(s, "key", "a");
  TF_SetPayload(s, "key", "b");
  std::string seen;
  auto note = [](const char* k, const char* v, void* to) {
    *static_cast<std::string*>(to) += std::string(k) + "=" + v + ";";
  };
  TF_ForEachPayload(s, note, &seen);
  EXPECT_EQ(seen, "key=b;");
  EXPECT_ERROR(s, TF_NOT_FOUND, "gone");
  TF_SetStatusFromIOError(s, ENOENT, "file");
  EXPECT_ERROR(s, TF_NOT_FOUND, "file; No such file");
  TF_SetStatus(s, TF_OK, "");
  EXPECT_OK(s);
}

TEST(Buffer, OwnsItsCopy) {
  Buffer b(TF_NewBufferFromString("abc", 3));
  EXPECT_EQ(std::string(static_cast<const char*>(TF_GetBuffer(b.get()).data), 3), "abc");
  EXPECT_EQ(sizeof(TF_Buffer), 24u);
  TF_DeleteBuffer(nullptr);
  TF_DeleteTensor(nullptr);
  TF_DeleteStatus(nullptr);
}

}  // namespace
}  // namespace capi_test
