/* The native side of the library: functions to be called, and the way on to the host. */
#include "shared.h"

bench_host guest_host;

void guest_set_host(const bench_host *host) { guest_host = *host; }

void guest_empty_call(void) {}

uintptr_t guest_quiet_call(void) { return 0; }

uintptr_t guest_native_empty(void *arg) {
  (void)arg;
  return 0;
}

uintptr_t guest_host_empty(void) { return guest_host.empty(NULL); }

bench_text guest_get(bench_request *request, const uint8_t *name, size_t name_length) {
  bench_operation operation = {request, {name, name_length}, {NULL, 0}};
  guest_host.get(&operation);
  return operation.value;
}

void guest_set(bench_request *request, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length) {
  bench_operation operation = {request, {name, name_length}, {value, value_length}};
  guest_host.set(&operation);
}

void guest_copy(bench_request *request, uint8_t *bytes, bench_text *texts) {
  bench_copy copy = {request, bytes, NULL, texts};
  guest_host.copy(&copy);
}
