/* What the host program and the Go library agree on. host/src/layout.rs has the same. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct { const uint8_t *data; size_t length; } bench_text;

/* A header field: ranges of the request's bytes. */
typedef struct { uint32_t name_start, name_end, value_start, value_end; uint32_t id; } bench_field;

typedef struct {
  const uint8_t *bytes;
  const bench_field *fields;
  uint32_t bytes_length, fields_length;
  uint8_t *edits; /* where the guest writes changes: {uint32 name length, uint32 value length, name, value, to 8} */
  uint32_t edits_capacity, edits_length;
  void *host;
} bench_request;

/* One operation of the interface with a call for each: get fills in value, set reads both. */
typedef struct { bench_request *request; bench_text name, value; } bench_operation;

/* Copies all fields into memory of the guest: the bytes, and for each field its table entry or its two texts. */
typedef struct { bench_request *request; uint8_t *bytes; bench_field *fields; bench_text *texts; } bench_copy;

typedef struct {
  uintptr_t (*empty)(void *);
  uintptr_t (*get)(bench_operation *);
  uintptr_t (*set)(bench_operation *);
  uintptr_t (*copy)(bench_copy *);
} bench_host;

extern bench_host guest_host;
void guest_set_host(const bench_host *host);

void guest_empty_call(void);
uintptr_t guest_quiet_call(void);
uintptr_t guest_host_empty(void);
bench_text guest_get(bench_request *request, const uint8_t *name, size_t name_length);
void guest_set(bench_request *request, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length);
void guest_copy(bench_request *request, uint8_t *bytes, bench_text *texts);
uintptr_t guest_native_empty(void *arg);
