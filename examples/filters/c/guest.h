/* What both libraries need to speak the contract: texts, fields, edits and errors. */
#ifndef EXAMPLE_GUEST_H
#define EXAMPLE_GUEST_H

#include <stddef.h>
#include <eddy_filter.h>
#include <stdbool.h>
#include <string.h>

/* A text of a literal. */
#define TEXT(literal) ((eddy_text){(const uint8_t *)(literal), sizeof(literal) - 1})

/* The bytes of a range of a head; none where it does not lie within the head. */
static inline eddy_text span_text(const eddy_head *head, eddy_span span) {
  if (span.end <= span.start || span.end > head->bytes_len) {
    return (eddy_text){NULL, 0};
  }
  return (eddy_text){head->bytes + span.start, span.end - span.start};
}

/* The first field with a well-known number, from field `*at` on; `*at` is behind it then. Null if there is none.
 *
 * Edits of filters before in the same call are not looked at: these libraries never set a field that they read. */
static inline const eddy_field *next_field(const eddy_head *head, uint8_t id, uint32_t *at) {
  while (*at < head->fields_len) {
    const eddy_field *field = &head->fields[(*at)++];
    if (field->id == id) {
      return field;
    }
  }
  return NULL;
}

/* Writes an edit behind the others of the call; false where there is no room to be had. */
static inline bool append_edit(const eddy_host *host, eddy_call *call, eddy_edit edit, eddy_text name, eddy_text value) {
  const size_t limit = 1u << 24;
  if (name.len > limit || value.len > limit) {
    return false;
  }
  edit.name_len = (uint32_t)name.len;
  edit.value_len = (uint32_t)value.len;
  const uint32_t used = (uint32_t)sizeof edit + edit.name_len + edit.value_len;
  const uint32_t size = (used + 7u) & ~7u;
  if (call->edits_cap - call->edits_len < size && host->edits_grow(call, size) != EDDY_OK) {
    return false;
  }
  uint8_t *at = call->edits + call->edits_len;
  memcpy(at, &edit, sizeof edit);
  at += sizeof edit;
  if (name.len > 0) {
    memcpy(at, name.data, name.len);
    at += name.len;
  }
  if (value.len > 0) {
    memcpy(at, value.data, value.len);
    at += value.len;
  }
  memset(at, 0, size - used);
  call->edits_len += size;
  return true;
}

/* Takes back what a step wrote and says why it failed. */
static inline uint8_t fail(const eddy_host *host, eddy_call *call, uint32_t step, uint32_t edits_before, eddy_text why) {
  call->edits_len = edits_before;
  eddy_edit edit = {.op = EDDY_EDIT_FAULT, .step = (uint16_t)step};
  (void)append_edit(host, call, edit, TEXT(""), why);
  return EDDY_FAULT;
}

/* Writes an error into the room that the host gave. */
static inline int32_t refuse(eddy_text *error, const char *message) {
  const size_t len = strlen(message);
  if (error->len > len) {
    error->len = len;
  }
  if (error->len > 0) {
    /* The one text that the host gives to be written to. */
    memcpy((uint8_t *)(uintptr_t)error->data, message, error->len);
  }
  return EDDY_INVALID;
}

/* Enters the filters of a call; each library has its own `enter`. */
typedef uint8_t enter_fn(eddy_call *call, const eddy_step *step, uint32_t index);

static inline void enter_steps(eddy_call *call, enter_fn *enter) {
  /* A call without a phase only tells of ends, and these filters keep no state that could end. */
  if (call->phase > EDDY_LOG) {
    return;
  }
  call->stopped = call->steps_len;
  for (uint32_t i = 0; i < call->steps_len; i++) {
    eddy_step *step = &call->steps[i];
    *call->current = step->id;
    /* EDDY_STEP_BLOCKING is nothing to these filters: they never block, so any thread is right. */
    step->verdict = enter(call, step, i);
    if (step->verdict != EDDY_CONTINUE && call->phase != EDDY_LOG) {
      call->stopped = i;
      break;
    }
  }
  *call->current = 0;
}

/* Whether the host can be worked with; says so if not. */
static inline bool is_host_known(const eddy_host *host) {
  static const char message[] = "the library was built for version 1 of eddy's filter ABI, the host has another version";
  if (host == NULL) {
    return false;
  }
  /* What came behind `cancel` is not used here, and older hosts lack it. */
  if (host->abi == EDDY_ABI && host->size >= offsetof(eddy_host, cancel) + sizeof host->cancel) {
    return true;
  }
  (void)host->log(0, EDDY_ERROR, (const uint8_t *)message, sizeof message - 1);
  return false;
}

#if defined(__clang__)
#define TOOLCHAIN "clang " __clang_version__
#elif defined(__GNUC__)
#define TOOLCHAIN "gcc " __VERSION__
#else
#define TOOLCHAIN ""
#endif

#endif
