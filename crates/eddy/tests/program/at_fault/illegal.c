/* A filter that writes the change that a request asks for, however wrong.
 * `x-edit: PHASE OP NUMBER TIMES NAME VALUE`, name and value in hexadecimal after an x, or as many bytes as a number says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy_filter.h"

#define TEXT(literal) {(const uint8_t *)(literal), sizeof(literal) - 1}

static const eddy_text names[] = {TEXT("illegal")};
static const eddy_host *host;

static size_t decode(const char *word, uint8_t **out) {
  if (*word != 'x') {
    size_t len = (size_t)atol(word);
    *out = malloc(len + 1);
    memset(*out, 'v', len);
    return len;
  }
  size_t len = strlen(word + 1) / 2;
  *out = malloc(len + 1);
  for (size_t i = 0; i < len; i++) {
    unsigned byte = 0;
    sscanf(word + 1 + 2 * i, "%2x", &byte);
    (*out)[i] = (uint8_t)byte;
  }
  return len;
}

static int room(eddy_call *call, size_t size) {
  return call->edits_cap - call->edits_len >= size || host->edits_grow(call, (uint32_t)size) == EDDY_OK;
}

static void append(eddy_call *call, eddy_edit edit, const uint8_t *name, const uint8_t *value) {
  size_t size = (sizeof edit + edit.name_len + edit.value_len + 7) & ~(size_t)7;
  if (!room(call, size)) return;
  uint8_t *at = call->edits + call->edits_len;
  memset(at, 0, size);
  memcpy(at, &edit, sizeof edit);
  memcpy(at + sizeof edit, name, edit.name_len);
  memcpy(at + sizeof edit + edit.name_len, value, edit.value_len);
  call->edits_len += (uint32_t)size;
}

/* The bytes of a record as they are said to be, whole or not. */
static void append_bytes(eddy_call *call, const uint8_t *bytes, size_t len) {
  if (!room(call, len)) return;
  memcpy(call->edits + call->edits_len, bytes, len);
  call->edits_len += (uint32_t)len;
}

static void change(eddy_call *call, uint16_t step, const char *text) {
  char name_word[2048] = "", value_word[2048] = "";
  unsigned phase, op, number, times;
  if (sscanf(text, "%u %u %u %u %2047s %2047s", &phase, &op, &number, &times, name_word, value_word) != 6) return;
  if (phase != call->phase) return;
  uint8_t *name, *value;
  size_t name_len = decode(name_word, &name), value_len = decode(value_word, &value);
  eddy_edit edit = {(uint16_t)op, step, (uint32_t)name_len, (uint32_t)value_len, number};
  if (op == 1000) edit.op = EDDY_EDIT_SET, edit.step = (uint16_t)number;
  for (unsigned i = 0; i < times; i++) {
    if (op == 1001) append_bytes(call, value, value_len);
    else append(call, edit, name, value);
  }
  free(name);
  free(value);
}

static void run(eddy_call *call) {
  if (call->phase == 255) return;
  for (uint32_t i = 0; i < call->steps_len; i++) {
    uint8_t verdict = EDDY_CONTINUE;
    *call->current = call->steps[i].id;
    for (uint32_t at = 0; at < call->request.fields_len; at++) {
      const eddy_field *field = &call->request.fields[at];
      const uint8_t *bytes = call->request.bytes;
      char text[8192];
      if (field->name.end - field->name.start != 6 || memcmp(bytes + field->name.start, "x-edit", 6) != 0) continue;
      snprintf(text, sizeof text, "%.*s", (int)(field->value.end - field->value.start), bytes + field->value.start);
      change(call, (uint16_t)i, text);
      /* A reply is illegal in other ways. */
      if (strncmp(text, "0 12 ", 5) == 0 && call->phase == EDDY_REQUEST_HEAD) verdict = EDDY_REPLY;
    }
    call->steps[i].verdict = verdict;
    if (verdict != EDDY_CONTINUE) { call->stopped = i; *call->current = 0; return; }
  }
  *call->current = 0;
}

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  (void)name, (void)config, (void)id, (void)error;
  info->filter = 1;
  info->interest = 1u << EDDY_REQUEST_HEAD | 1u << EDDY_RESPONSE_HEAD;
  return EDDY_OK;
}

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  (void)filter, (void)config, (void)error;
  *out = 0;
  return EDDY_OK;
}

static void free_config(uint64_t filter, uint64_t config) { (void)filter, (void)config; }

static void free_filter(uint64_t filter) { (void)filter; }

static void event(const eddy_event *event) { (void)event; }

static void stop(void) {}

static eddy_library library = {
    .abi = EDDY_ABI,
    .size = sizeof library,
    .sdk = TEXT("illegal 1.0"),
    .toolchain = TEXT("cc"),
    .filters = names,
    .filters_len = 1,
    .filter_new = filter_new,
    .config_new = config_new,
    .config_free = free_config,
    .filter_free = free_filter,
    .run = run,
    .event = event,
    .stop = stop,
};

const eddy_library *eddy_library_open(const eddy_host *its) {
  host = its;
  return &library;
}
