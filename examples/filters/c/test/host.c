/* A host for the tests of the C examples. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char refusal[256];

void check(bool holds, const char *what, const char *file, int line) {
  if (!holds) {
    (void)fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
    exit(1);
  }
}

eddy_text text_of(const char *text) { return (eddy_text){(const uint8_t *)text, strlen(text)}; }

static int32_t resume(uint64_t exchange, uint32_t turn, uint32_t verdict, const uint8_t *edits, uint32_t edits_len) {
  (void)exchange, (void)turn, (void)verdict, (void)edits, (void)edits_len;
  return EDDY_STALE;
}

/* Always to another place and with no byte to spare. */
static int32_t edits_grow(eddy_call *call, uint32_t more) {
  uint8_t *room = malloc((size_t)call->edits_len + more);
  CHECK(room != NULL);
  if (call->edits_len > 0) {
    memcpy(room, call->edits, call->edits_len);
  }
  free(call->edits);
  call->edits = room;
  call->edits_cap = call->edits_len + more;
  return EDDY_OK;
}

static int32_t log_record(uint32_t filter, uint32_t level, const uint8_t *text, size_t len) {
  (void)filter, (void)level;
  (void)fprintf(stderr, "log: %.*s\n", (int)len, (const char *)text);
  return EDDY_OK;
}

static int32_t metric(uint32_t filter, uint32_t kind, const uint8_t *name, size_t name_len, const uint64_t *bounds,
                      uint32_t bounds_len, eddy_metric *out) {
  (void)filter, (void)kind, (void)name, (void)name_len, (void)bounds, (void)bounds_len, (void)out;
  return EDDY_FULL;
}

static int32_t send_request(const eddy_outbound *request) {
  (void)request;
  return EDDY_UNKNOWN;
}

static int32_t cancel(uint32_t filter, uint64_t token) {
  (void)filter, (void)token;
  return EDDY_UNKNOWN;
}

const eddy_host test_host = {
    .abi = EDDY_ABI,
    .size = sizeof(eddy_host),
    .workers = 1,
    .level = EDDY_TRACE,
    .resume = resume,
    .edits_grow = edits_grow,
    .log = log_record,
    .metric = metric,
    .send = send_request,
    .cancel = cancel,
};

eddy_filter_info make_filter(const eddy_library *library, const char *name, const char *config) {
  eddy_filter_info info = {.size = sizeof info};
  eddy_text error = {(uint8_t *)refusal, sizeof refusal - 1};
  const int32_t answer = library->filter_new(text_of(name), text_of(config), 7, &info, &error);
  if (answer != EDDY_OK) {
    info.filter = 0;
    refusal[error.len] = 0;
  }
  return info;
}

void begin(struct crossing *crossing, uint8_t phase, uint64_t filter, uint64_t config) {
  memset(crossing, 0, sizeof *crossing);
  crossing->step = (eddy_step){.filter = filter, .config = config, .id = 7, .verdict = 255};
  crossing->call = (eddy_call){
      .abi = EDDY_ABI,
      .size = sizeof(eddy_call),
      .phase = phase,
      .flags = EDDY_CALL_END,
      .version = 11,
      .method = EDDY_METHOD_GET,
      .exchange = 1,
      .turn = 1,
      .steps_len = 1,
      .steps = &crossing->step,
      .method_name = text_of("GET"),
      .target = text_of("/"),
      .authority = text_of("example.com"),
      .scheme = text_of("http"),
      .current = &crossing->current,
  };
}

static eddy_head *head_of(struct crossing *crossing) {
  return crossing->call.phase < EDDY_RESPONSE_HEAD ? &crossing->call.request : &crossing->call.response;
}

void add_field(struct crossing *crossing, uint8_t id, const char *name, const char *value) {
  eddy_head *head = head_of(crossing);
  CHECK(head->fields_len < FIELDS_MAX);
  const uint32_t name_len = (uint32_t)strlen(name), value_len = (uint32_t)strlen(value), start = head->bytes_len;
  crossing->bytes = realloc(crossing->bytes, (size_t)start + name_len + value_len);
  CHECK(crossing->bytes != NULL);
  memcpy(crossing->bytes + start, name, name_len);
  memcpy(crossing->bytes + start + name_len, value, value_len);
  crossing->fields[head->fields_len++] = (eddy_field){
      .name = {start, start + name_len},
      .value = {start + name_len, start + name_len + value_len},
      .id = id,
  };
  head->bytes_len = start + name_len + value_len;
  head->bytes = crossing->bytes;
  head->fields = crossing->fields;
}

uint8_t cross(struct crossing *crossing, const eddy_library *library) {
  library->run(&crossing->call);
  CHECK(crossing->current == 0);
  CHECK(crossing->call.stopped == (crossing->step.verdict == EDDY_CONTINUE ? 1u : 0u));
  CHECK(crossing->call.edits_len % 8 == 0);
  return crossing->step.verdict;
}

bool is_edit(const struct crossing *crossing, unsigned index, uint16_t op, uint32_t number, const char *name,
             const char *value) {
  const uint8_t *at = crossing->call.edits;
  const uint8_t *end = at == NULL ? NULL : at + crossing->call.edits_len;
  while (at != end) {
    eddy_edit edit;
    memcpy(&edit, at, sizeof edit);
    const uint8_t *own_name = at + sizeof edit, *own_value = own_name + edit.name_len;
    if (index-- == 0) {
      return edit.op == op && edit.number == number && edit.step == 0 && edit.name_len == strlen(name) &&
             edit.value_len == strlen(value) && memcmp(own_name, name, edit.name_len) == 0 &&
             memcmp(own_value, value, edit.value_len) == 0;
    }
    at += (sizeof edit + edit.name_len + edit.value_len + 7u) & ~(size_t)7u;
  }
  return false;
}

void finish(struct crossing *crossing) {
  free(crossing->bytes);
  free(crossing->call.edits);
}
