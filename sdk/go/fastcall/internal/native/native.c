#include "native.h"

#include <time.h>

uintptr_t fastcall_test_empty(void *arg) { (void)arg; return 0; }

uintptr_t fastcall_test_identity(void *arg) { return (uintptr_t)arg; }

uintptr_t fastcall_test_add(addition *arg) { arg->sum = arg->left + arg->right; return (uintptr_t)arg->sum; }

uintptr_t fastcall_test_sum(const uint8_t *data, size_t length) {
  uintptr_t sum = 0;
  for (size_t i = 0; i < length; i++) sum += data[i];
  return sum;
}

uintptr_t fastcall_test_fill(uint8_t *data, size_t length) {
  for (size_t i = 0; i < length; i++) data[i] = (uint8_t)('a' + i % 26);
  return length;
}

uintptr_t fastcall_test_stack(void *arg) {
  volatile uint8_t frame[12 << 10];
  (void)arg;
  for (size_t i = 0; i < sizeof frame; i++) frame[i] = (uint8_t)i;
  return frame[255] + frame[sizeof frame - 1];
}

uintptr_t fastcall_test_registers(void *arg) {
  double x = (double)(uintptr_t)arg;
  for (int i = 0; i < 8; i++) x = x * 1.5 + i;
  return (uintptr_t)x;
}

uintptr_t fastcall_test_spin(void *nanoseconds) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((uint64_t)((now.tv_sec - start.tv_sec) * 1000000000LL + (now.tv_nsec - start.tv_nsec)) < *(uint64_t *)nanoseconds);
  return 0;
}
