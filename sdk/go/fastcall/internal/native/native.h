#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t left, right, sum; } addition;

uintptr_t fastcall_test_empty(void *arg);
uintptr_t fastcall_test_identity(void *arg);
uintptr_t fastcall_test_add(addition *arg);
uintptr_t fastcall_test_sum(const uint8_t *data, size_t length);
uintptr_t fastcall_test_fill(uint8_t *data, size_t length);
uintptr_t fastcall_test_stack(void *arg);
uintptr_t fastcall_test_registers(void *arg);
uintptr_t fastcall_test_spin(void *nanoseconds);
