/* Filters that keep the contract, and filters that break it in every way a host must survive or notice.
 * -DFAULT_... makes the library itself wrong. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eddy_filter.h"

#define TEXT(literal) {(const uint8_t *)(literal), sizeof(literal) - 1}

enum behaviour {
  PASS, SET, GROW, SUMMARY, STATE, PAUSE, REPLY, ALTSTACK, METRIC, LOG, SEND, STORM, CONFIG,
  LIE_EDITS, LIE_STOPPED, VERDICT, STOP_CONTINUE, GO_ON, GROW_OTHER, CRASH, ABORT, HANG, SLOW, REFUSE, SILENT, LONG_ERROR,
  NO_NUMBER, EXIT, OVERFLOW_STACK, CLAIM, ABOUT, SPOIL
};

static const eddy_text names[] = {
    TEXT("pass"), TEXT("set"), TEXT("grow"), TEXT("summary"), TEXT("state"), TEXT("pause"), TEXT("reply"),
    TEXT("altstack"), TEXT("metric"), TEXT("log"), TEXT("send"), TEXT("storm"), TEXT("config"), TEXT("lie-edits"),
    TEXT("lie-stopped"), TEXT("verdict"), TEXT("stop-continue"), TEXT("go-on"), TEXT("grow-other"), TEXT("crash"),
    TEXT("abort"), TEXT("hang"), TEXT("slow"), TEXT("refuse"), TEXT("silent"), TEXT("long-error"), TEXT("no-number"),
    TEXT("exit"), TEXT("overflow-stack"), TEXT("claim"), TEXT("about"), TEXT("spoil")};

static const eddy_host *host;

struct filter {
  enum behaviour behaviour;
  uint32_t id;
  char config[256];
};

static int has_config(const struct filter *filter, const char *word) { return strstr(filter->config, word) != NULL; }

static int append(eddy_call *call, uint16_t step, uint16_t op, const void *name, size_t name_len, const void *value,
                  size_t value_len, uint32_t number) {
  size_t size = (sizeof(eddy_edit) + name_len + value_len + 7) & ~(size_t)7;
  if (call->edits_cap - call->edits_len < size && host->edits_grow(call, (uint32_t)size) != EDDY_OK) return -1;
  uint8_t *at = call->edits + call->edits_len;
  eddy_edit edit = {op, step, (uint32_t)name_len, (uint32_t)value_len, number};
  memset(at, 0, size);
  memcpy(at, &edit, sizeof edit);
  memcpy(at + sizeof edit, name, name_len);
  memcpy(at + sizeof edit + name_len, value, value_len);
  call->edits_len += (uint32_t)size;
  return 0;
}

static void set(eddy_call *call, uint16_t step, const char *name, const char *value) {
  append(call, step, EDDY_EDIT_SET, name, strlen(name), value, strlen(value), 0);
}

static void *storm(void *seed) {
  unsigned state = (unsigned)(uintptr_t)seed;
  uint8_t bytes[64] = {0};
  for (int i = 0; i < 20000; i++) {
    uint64_t handle = ((uint64_t)rand_r(&state) << 40) ^ ((uint64_t)rand_r(&state) << 16) ^ (uint64_t)rand_r(&state);
    if (i % 3 == 0) handle &= 0xffff;
    host->resume(handle, (uint32_t)rand_r(&state) % 4, (uint32_t)rand_r(&state) % 8, i % 5 ? bytes : NULL,
                 (uint32_t)rand_r(&state) % 65);
  }
  return NULL;
}

static void run_storm(void) {
  pthread_t threads[8];
  for (uintptr_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, storm, (void *)(i + 1));
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
}

static int add_all(const eddy_head *head, char *out, size_t room) {
  int used = 0;
  for (uint32_t i = 0; i < head->fields_len; i++) {
    const eddy_field *field = &head->fields[i];
    used += snprintf(out + used, room - (size_t)used, "%.*s(%u)=%.*s;", (int)(field->name.end - field->name.start),
                     head->bytes + field->name.start, field->id, (int)(field->value.end - field->value.start),
                     head->bytes + field->value.start);
  }
  return used;
}

static void *ask_elsewhere(void *call) { return (void *)(intptr_t)host->about(call); }

/* Asks for the facts in each way that is refused, then as intended, twice. */
static void about(eddy_call *call, uint16_t step) {
  char text[64];
  eddy_call copy = *call;
  pthread_t thread;
  void *elsewhere;
  pthread_create(&thread, NULL, ask_elsewhere, call);
  pthread_join(thread, &elsewhere);
  int none = host->about(NULL), other = host->about(&copy);
  int is_unset = call->about == NULL && copy.about == NULL;
  int first = host->about(call);
  const eddy_about *facts = call->about;
  int again = host->about(call);
  snprintf(text, sizeof text, "%d %d %d %d %d %d %d", none, other, (int)(intptr_t)elsewhere, is_unset, first, again,
           facts != NULL && call->about == facts);
  set(call, step, "about", text);
}

static void summary(eddy_call *call, uint16_t step) {
  if (call->about == NULL) host->about(call);
  char text[2048];
  int used = snprintf(text, sizeof text, "%u/%u/%u/%u/%u/%llx/%u %.*s %.*s %.*s %.*s [", call->phase, call->flags,
                      call->version, call->method, call->status, (unsigned long long)call->exchange, call->turn,
                      (int)call->method_name.len, call->method_name.data, (int)call->scheme.len, call->scheme.data,
                      (int)call->authority.len, call->authority.data, (int)call->target.len, call->target.data);
  used += add_all(&call->request, text + used, sizeof text - (size_t)used);
  used += snprintf(text + used, sizeof text - (size_t)used, "][");
  used += add_all(&call->response, text + used, sizeof text - (size_t)used);
  used += snprintf(text + used, sizeof text - (size_t)used, "] %.*s %.*s %llu", (int)call->body.len, call->body.data,
                   (int)call->about->peer.len, call->about->peer.data,
                   (unsigned long long)call->about->started_unix_us);
  for (uint64_t i = 0; i < call->about->metadata_len; i++) {
    const eddy_pair *pair = &call->about->metadata[i];
    used += snprintf(text + used, sizeof text - (size_t)used, " %.*s.%.*s=%.*s", (int)pair->space.len, pair->space.data,
                     (int)pair->key.len, pair->key.data, (int)pair->value.len, pair->value.data);
  }
  set(call, step, "summary", text);
}

static int overflow(volatile int *depth) {
  volatile char room[4096];
  room[0] = (char)*depth;
  *depth += 1;
  return overflow(depth) + room[0];
}

static uint32_t send_one(const struct filter *filter, uint64_t exchange) {
  eddy_text fields[2] = {TEXT("x-a"), TEXT("1")};
  eddy_outbound request = {.size = sizeof request, .filter = filter->id, .token = 77, .exchange = exchange,
                           .cluster = TEXT("users"), .method = TEXT("POST"), .target = TEXT("/check"),
                           .fields = fields, .fields_len = 1, .body = TEXT("body")};
  if (has_config(filter, "bad")) request.cluster.data = NULL;
  if (has_config(filter, "small")) request.size = 8;
  return (uint32_t)host->send(&request);
}

static uint8_t enter(const struct filter *filter, eddy_call *call, uint16_t index) {
  eddy_step *step = &call->steps[index];
  char text[64];
  switch (filter->behaviour) {
  case SET: set(call, index, "x-guest", "seen"); break;
  case SUMMARY: summary(call, index); break;
  case ABOUT: about(call, index); break;
  case GROW: {
    size_t size = (size_t)atol(filter->config);
    char *value = calloc(1, size);
    memset(value, 'g', size);
    set(call, index, "before", "1");
    int failed = append(call, index, EDDY_EDIT_SET, "big", 3, value, size, 0);
    set(call, index, "after", failed ? "failed" : "grown");
    free(value);
    break;
  }
  case GROW_OTHER: {
    eddy_call copy = *call;
    snprintf(text, sizeof text, "%d %d", host->edits_grow(&copy, 8), host->edits_grow(NULL, 8));
    set(call, index, "grow", text);
    break;
  }
  case STATE: step->state = step->state + 5; break;
  case CONFIG:
    set(call, index, "config", step->config ? (const char *)(uintptr_t)step->config : filter->config);
    break;
  case PAUSE: return EDDY_PAUSE;
  case REPLY:
    if (call->phase != EDDY_REQUEST_HEAD) break; /* its own answer comes by, too */
    append(call, index, EDDY_EDIT_REPLY, "guest", 5, "no\n", 3, 403);
    return EDDY_REPLY;
  case ALTSTACK: {
    stack_t stack;
    sigaltstack(NULL, &stack);
    snprintf(text, sizeof text, "%zu", stack.ss_flags & SS_DISABLE ? (size_t)0 : stack.ss_size);
    set(call, index, "altstack", text);
    break;
  }
  case METRIC: {
    eddy_metric metric;
    int32_t result = host->metric(filter->id, EDDY_COUNTER, (const uint8_t *)"hits", 4, NULL, 0, &metric);
    if (result == EDDY_OK) __atomic_fetch_add(&metric.cells[call->worker * metric.stride], 3, __ATOMIC_RELAXED);
    snprintf(text, sizeof text, "%d %d %d", result,
             host->metric(filter->id, 9, (const uint8_t *)"hits", 4, NULL, 0, &metric),
             host->metric(filter->id, EDDY_COUNTER, (const uint8_t *)"hits", 4, NULL, 0, NULL));
    set(call, index, "metric", text);
    break;
  }
  case LOG:
    snprintf(text, sizeof text, "%d %d %d", host->log(filter->id, EDDY_WARN, (const uint8_t *)"from the guest", 14),
             host->log(filter->id, 17, (const uint8_t *)"x", 1), host->log(filter->id, EDDY_INFO, NULL, 5));
    set(call, index, "log", text);
    break;
  case SEND:
    snprintf(text, sizeof text, "%d %d", (int)send_one(filter, call->exchange), host->cancel(filter->id, 78));
    set(call, index, "send", text);
    break;
  case STORM: run_storm(); break;
  case CLAIM: call->edits_len += 128; break;
  case SPOIL: /* verdicts of filters that are not entered */
    for (uint32_t i = index + 1u; i < call->steps_len; i++) call->steps[i].verdict = 200;
    return EDDY_REPLY;
  case LIE_EDITS: call->edits_len = call->edits_cap + 1; break;
  case VERDICT: return 200;
  case CRASH: *(volatile int *)(uintptr_t)16 = 1; break;
  case ABORT: abort();
  case EXIT: exit(3);
  case HANG: for (;;) pause();
  case SLOW: usleep((useconds_t)atol(filter->config) * 1000); break;
  case OVERFLOW_STACK: { int depth = 0; step->state = (uint64_t)overflow(&depth); break; }
  default: break;
  }
  return EDDY_CONTINUE;
}

static void run(eddy_call *call) {
  for (uint32_t i = 0; i < call->ended_len; i++) {
    char text[96];
    int len = snprintf(text, sizeof text, "ended %llu %u", (unsigned long long)call->ended[i].state, call->ended[i].reason);
    host->log(((struct filter *)(uintptr_t)call->ended[i].filter)->id, EDDY_INFO, (const uint8_t *)text, (size_t)len);
  }
  if (call->phase == 255) return;
  for (uint32_t i = 0; i < call->steps_len; i++) {
    eddy_step *step = &call->steps[i];
    const struct filter *filter = (const struct filter *)(uintptr_t)step->filter;
    if (step->flags & EDDY_STEP_BLOCKING) set(call, (uint16_t)i, "blocking", "1");
    *call->current = step->id;
    step->verdict = enter(filter, call, (uint16_t)i);
    if (call->flags & EDDY_CALL_SAMPLED) step->nanos = 7;
    if (filter->behaviour == LIE_STOPPED) { call->stopped = call->steps_len + 1; return; }
    if (filter->behaviour == STOP_CONTINUE) { call->stopped = i; return; }
    if (filter->behaviour == GO_ON) { step->verdict = EDDY_REPLY; continue; }
    if (step->verdict != EDDY_CONTINUE) { call->stopped = i; break; }
  }
  *call->current = 0;
}

static int32_t fail(eddy_text *error, const char *why) {
  size_t len = strlen(why);
  if (len > error->len) len = error->len;
  memcpy((uint8_t *)error->data, why, len);
  error->len = len;
  return EDDY_INVALID;
}

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  struct filter *filter = calloc(1, sizeof *filter);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].len == name.len && memcmp(names[i].data, name.data, name.len) == 0) filter->behaviour = (enum behaviour)i;
  filter->id = id;
  snprintf(filter->config, sizeof filter->config, "%.*s", (int)config.len, config.data);
  switch (filter->behaviour) {
  case REFUSE: free(filter); return fail(error, "the password is missing");
  case SILENT: free(filter); return -42;
  case LONG_ERROR: free(filter); error->len = SIZE_MAX; return -1;
  case NO_NUMBER: free(filter); return EDDY_OK;
  case CRASH: if (has_config(filter, "early")) *(volatile int *)(uintptr_t)16 = 1; break;
  case HANG: if (has_config(filter, "early")) for (;;) pause(); break;
  default: break;
  }
  info->filter = (uint64_t)(uintptr_t)filter;
  info->interest = 1u << EDDY_REQUEST_HEAD | 1u << EDDY_RESPONSE_HEAD | 1u << EDDY_LOG;
  info->flags = EDDY_FILTER_READS_BODY;
  return EDDY_OK;
}

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  if (filter == 0 || config.len < 3) return fail(error, "the rule says too little");
  *out = (uint64_t)(uintptr_t)strndup((const char *)config.data, config.len);
  return EDDY_OK;
}

static void config_free(uint64_t filter, uint64_t config) {
  uint32_t id = ((struct filter *)(uintptr_t)filter)->id;
  host->log(id, EDDY_INFO, (const uint8_t *)"config freed", 12);
  free((void *)(uintptr_t)config);
}

static void filter_free(uint64_t filter) {
  host->log(((struct filter *)(uintptr_t)filter)->id, EDDY_INFO, (const uint8_t *)"filter freed", 12);
  free((void *)(uintptr_t)filter);
}

static void event(const eddy_event *event) {
  char text[128];
  int len = snprintf(text, sizeof text, "event %u %llu %u %.*s", event->kind, (unsigned long long)event->token,
                     event->status, (int)event->body.len, event->body.data);
  host->log(event->filter, EDDY_INFO, (const uint8_t *)text, (size_t)len);
}

static void stop(void) { host->log(0, EDDY_INFO, (const uint8_t *)"stopped", 7); }

static eddy_library library = {
    .abi = EDDY_ABI,
    .size = sizeof library,
    .sdk = TEXT("faults 1.0"),
    .toolchain = TEXT("cc"),
    .filters = names,
    .filters_len = sizeof names / sizeof *names,
    .filter_new = filter_new,
    .config_new = config_new,
    .config_free = config_free,
    .filter_free = filter_free,
    .run = run,
    .event = event,
    .stop = stop,
    .flags = EDDY_LIBRARY_ASKS_ABOUT,
};

#ifdef FAULT_INIT_ABORT
__attribute__((constructor)) static void init(void) { fputs("libfaults: no licence found\n", stderr); abort(); }
#endif
#ifdef FAULT_INIT_HANG
__attribute__((constructor)) static void init(void) { for (;;) pause(); }
#endif

#ifndef FAULT_NO_SYMBOL
const eddy_library *eddy_library_open(const eddy_host *its) {
  host = its;
#ifdef FAULT_NULL
  host->log(0, EDDY_ERROR, (const uint8_t *)"needs a newer eddy", 18);
  return NULL;
#endif
#ifdef FAULT_ABI
  library.abi = 99;
#endif
#ifdef FAULT_SIZE
  library.size = 24;
#endif
#ifdef FAULT_RUN
  library.run = NULL;
#endif
#ifdef FAULT_NAMES
  library.filters_len = 1u << 30;
#endif
#ifdef FAULT_NO_FILTERS
  library.filters_len = 0;
#endif
#ifdef FAULT_TOOLCHAIN
  library.toolchain = (eddy_text)TEXT("go1.19.4");
#endif
#ifdef FAULT_OLD
  library.size = offsetof(eddy_library, flags);
#endif
#ifdef FAULT_UTF8
  library.sdk = (eddy_text)TEXT("\xff\xfe");
#endif
  return &library;
}
#endif
