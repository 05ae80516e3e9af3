#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The call structure of frame.go. It and the words are on the goroutine's stack, which moves if the callee calls back
// and Go needs a larger stack.
typedef uintptr_t (*function)(uint64_t *words, uintptr_t word);
typedef struct {
  function function;
  uintptr_t word;
  uint64_t *words;
  uint64_t texts;
  uintptr_t outcome;
} call;

enum {
  // WordsMax of frame.go.
  WORDS_MAX = 96,
  // Maximum number of copied texts in all lists.
  TEXTS_MAX = 64,
  // Outgrown of frame.go.
  OUTGROWN = 1,
};

// The end of the goroutine's stack, as set by the runtime's C code. Data on that stack keeps its distance from it.
extern char *_cgo_topofstack(void);

// Copies the lists of texts in the mask to the space after the words, so that the callee only gets memory of Go that an
// argument may point to, without further pointers. Returns whether there was enough space.
__attribute__((noinline)) static int copy_texts(uint64_t *words, uint64_t texts, uint64_t *room) {
  uint64_t left = TEXTS_MAX;
  for (; texts != 0; texts &= texts - 1) {
    uint64_t *list = &words[1 + __builtin_ctzll(texts)];
    uint64_t length = list[1];
    if (length > left) return 0;
    if (length == 0) continue;
    memcpy(room, (void *)(uintptr_t)list[0], length * 16);
    list[0] = (uintptr_t)room;
    room += length * 2;
    left -= length;
  }
  return 1;
}

// Copies words one by one: they have just been stored like this, and a wider load would wait for those stores. The
// barrier prevents the compiler from generating a memcpy call.
static inline void copy_words(uint64_t *to, const uint64_t *from, uint32_t count) {
  for (uint32_t index = 0; index < count; index++) {
    to[index] = from[index];
    __asm__ volatile("" ::: "memory");
  }
}

static int outgrown(call *c) {
  c->outcome = OUTGROWN;
  return 1;
}

// Better than writing the answer to an invalid address.
__attribute__((noinline, noreturn)) static void lost(void) {
  fputs("bridge: the frame of a call is not on its goroutine's stack\n", stderr);
  abort();
}

int frame_call(void *at) {
  call *c = at;
  uint64_t copy[1 + WORDS_MAX + 2 * TEXTS_MAX];
  uint32_t words = *c->words >> 32, request = (uint32_t)*c->words;
  if (request > words || words > WORDS_MAX) return outgrown(c);
  copy_words(copy, c->words, 1 + request);
  if (c->texts != 0 && !copy_texts(copy, c->texts, &copy[1 + words])) {
    return outgrown(c);
  }
  char *end = _cgo_topofstack();
  function called = c->function;
  uintptr_t word = c->word, outcome = called(copy, word);
  if (outcome == 0 && words == request) return 0;
  c = (call *)((char *)at + (_cgo_topofstack() - end));
  if (c->function != called || c->word != word) lost();
  if (outcome != 0) {
    c->outcome = outcome;
    return 1;
  }
  uint32_t room = words - request;
  copy_words(&c->words[1 + request], &copy[1 + request], copy[0] < room ? (uint32_t)copy[0] : room);
  return 0;
}
