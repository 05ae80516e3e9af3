// Package native has the function that the tests of package frame call, because Go does not support cgo in tests.
package native

/*
#include <stdint.h>
// Frame with a list of texts and a number. The reply has the bytes of all texts, and the number with the word.
static uintptr_t frame_test_sum(uint64_t *words, uintptr_t word) {
  uint32_t request = (uint32_t)words[0], room = (uint32_t)(words[0] >> 32) - request;
  if (request != 3 || word == 0) return 77;
  uint64_t *texts = (uint64_t *)(uintptr_t)words[1], sum = 0;
  for (uint64_t index = 0; index < words[2]; index++) {
    const uint8_t *text = (const uint8_t *)(uintptr_t)texts[2 * index];
    for (uint64_t at = 0; at < texts[2 * index + 1]; at++) sum += text[at];
  }
  words[1 + request] = sum;
  words[2 + request] = words[3] + word;
  words[0] = room < 2 ? room : 2;
  return 0;
}

static void *frame_test_sum_at(void) { return (void *)frame_test_sum; }
*/
import "C"

import "github.com/eddy-gateway/eddy/sdk/go/fastcall"

// Sum reads a list of texts and a number. It replies with the sum of all bytes, and of the number and the word.
var Sum = fastcall.Func(C.frame_test_sum_at())
