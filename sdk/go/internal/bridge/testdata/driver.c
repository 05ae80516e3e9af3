/* Minimal gateway for the test of the bridge: opens a library and calls it from C threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eddy_filter.h"

enum { WORKERS = 4, GROWN_MAX = 64, TURNS = 1 << 20 };

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);   \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

static const eddy_library *library;
static atomic_uint logged, bad, resumed, told, busy;
static char last_log[8192];

/* State of each exchange: 0 unknown, 1 entered, 2 resumed. */
static atomic_uchar turns[TURNS];
static uint8_t resumed_edits[TURNS / 1024][256];

static int32_t host_resume(uint64_t exchange, uint32_t turn, uint32_t verdict, const uint8_t *edits, uint32_t edits_len) {
  (void)verdict;
  if (exchange >= TURNS || turn != 1) return EDDY_STALE;
  unsigned char entered = 1;
  if (!atomic_compare_exchange_strong(&turns[exchange], &entered, 2)) return entered == 0 ? EDDY_GONE : EDDY_STALE;
  if (exchange % 1024 == 0 && edits_len <= 256) memcpy(resumed_edits[exchange / 1024], edits, edits_len);
  atomic_fetch_add(&resumed, 1);
  return EDDY_OK;
}

static int32_t host_grow(eddy_call *call, uint32_t more) {
  if ((uint64_t)call->edits_len + more > 16u << 20) return EDDY_TOO_LARGE;
  uint32_t cap = call->edits_cap;
  while (cap - call->edits_len < more) cap *= 2;
  uint8_t *grown = malloc(cap); /* The old buffer stays readable: it is leaked, or on the stack of the caller. */
  memcpy(grown, call->edits, call->edits_len);
  call->edits = grown;
  call->edits_cap = cap;
  return EDDY_OK;
}

static int32_t host_log(uint32_t filter, uint32_t level, const uint8_t *text, size_t len) {
  (void)level;
  atomic_fetch_add(&logged, 1);
  if (len >= 3 && memcmp(text, "BAD", 3) == 0) atomic_fetch_add(&bad, 1);
  size_t kept = len < sizeof last_log - 1 ? len : sizeof last_log - 1;
  memcpy(last_log, text, kept);
  last_log[kept] = 0;
  if (memmem(text, len, "Goexit", 6) != NULL) fprintf(stderr, "LOG %u: %.*s\n", filter, (int)len, text);
  return EDDY_OK;
}

static int32_t host_metric(uint32_t filter, uint32_t kind, const uint8_t *name, size_t name_len, const uint64_t *bounds,
                           uint32_t bounds_len, eddy_metric *out) {
  (void)filter, (void)kind, (void)name, (void)name_len, (void)bounds;
  out->stride = 40;
  out->cells = calloc((WORKERS + 1) * 40, 8);
  CHECK(bounds_len <= 32);
  return EDDY_OK;
}

static int32_t host_send(const eddy_outbound *request) {
  (void)request;
  atomic_fetch_add(&told, 1);
  return EDDY_UNKNOWN;
}

static int32_t host_cancel(uint32_t filter, uint64_t token) {
  (void)filter, (void)token;
  return EDDY_UNKNOWN;
}

static const eddy_host host = {
    .abi = EDDY_ABI,
    .size = sizeof(eddy_host),
    .workers = WORKERS,
    .level = EDDY_INFO,
    .resume = host_resume,
    .edits_grow = host_grow,
    .log = host_log,
    .metric = host_metric,
    .send = host_send,
    .cancel = host_cancel,
};

static eddy_text text(const char *s) { return (eddy_text){(const uint8_t *)s, strlen(s)}; }

static uint64_t filter_of(const char *name, const char *config) {
  char message[256];
  eddy_text error = {(const uint8_t *)message, sizeof message};
  eddy_filter_info info = {.size = sizeof info};
  int32_t result = library->filter_new(text(name), text(config), 7, &info, &error);
  if (result != EDDY_OK) {
    fprintf(stderr, "filter %s: %.*s\n", name, (int)error.len, message);
    exit(1);
  }
  CHECK(info.filter != 0);
  return info.filter;
}

/* A request with 20 fields, one call and its memory. */
typedef struct request {
  eddy_call call;
  eddy_step step;
  eddy_about about;
  eddy_field fields[20];
  char bytes[2048];
  uint32_t current;
  uint64_t edits[512];
} request;

static void lay_out(request *r, uint64_t filter) {
  static const char *names[20] = {"host", "user-agent", "accept", "accept-language", "accept-encoding", "cookie", "x-a",
                                  "x-b", "x-c", "x-d", "referer", "authorization", "origin", "x-e", "x-f", "x-g", "x-h",
                                  "priority", "te", "x-i"};
  static const uint8_t ids[20] = {1, 71, 25, 27, 26, 42, 0, 0, 0, 0, 58, 33, 53, 0, 0, 0, 0, 56, 7, 0};
  memset(r, 0, sizeof *r);
  uint32_t at = 0;
  for (int i = 0; i < 20; i++) {
    const char *value = i == 11 ? "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk" : "some value of an everyday length";
    eddy_field *f = &r->fields[i];
    f->id = ids[i];
    f->name.start = at;
    at += (uint32_t)sprintf(r->bytes + at, "%s", names[i]);
    f->name.end = at;
    at += (uint32_t)sprintf(r->bytes + at, ": ");
    f->value.start = at;
    at += (uint32_t)sprintf(r->bytes + at, "%s", value);
    f->value.end = at;
    at += (uint32_t)sprintf(r->bytes + at, "\r\n");
  }
  r->step.filter = filter;
  r->step.id = 7;
  eddy_call *c = &r->call;
  c->abi = EDDY_ABI;
  c->size = sizeof *c;
  c->phase = EDDY_REQUEST_HEAD;
  c->flags = EDDY_CALL_END;
  c->version = 11;
  c->method = EDDY_METHOD_GET;
  c->exchange = 1;
  c->turn = 1;
  c->steps = &r->step;
  c->steps_len = 1;
  c->request = (eddy_head){(const uint8_t *)r->bytes, r->fields, at, 20};
  c->method_name = text("GET");
  c->target = text("/a/path?with=query");
  c->authority = text("example.com");
  c->scheme = text("http");
  c->about = &r->about;
  c->edits = (uint8_t *)r->edits;
  c->edits_cap = sizeof r->edits;
  c->current = &r->current;
}

static void enter(request *r) {
  r->call.edits_len = 0;
  r->step.verdict = 99;
  library->run(&r->call);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Returns the minimum time of a crossing among many short repetitions, in ns. */
static void bench(const char *name) {
  static request r;
  lay_out(&r, filter_of(name, "null"));
  enter(&r);
  CHECK(r.step.verdict == EDDY_CONTINUE);
  double best = 1e9;
  for (int round = 0; round < 200; round++) {
    double start = now();
    for (int i = 0; i < 20000; i++) {
      r.call.edits_len = 0;
      library->run(&r.call);
    }
    double each = (now() - start) / 20000;
    if (each < best) best = each;
  }
  printf("%s %.1f\n", name, best);
}

static void expect_fault(request *r, const char *said) {
  CHECK(r->step.verdict == EDDY_FAULT);
  CHECK(r->call.stopped == 0);
  CHECK(r->current == 0);
  eddy_edit *edit = (eddy_edit *)r->call.edits;
  CHECK(r->call.edits_len > sizeof *edit);
  CHECK(edit->op == EDDY_EDIT_FAULT && edit->name_len == 0);
  CHECK(r->call.edits_len == ((sizeof *edit + edit->value_len + 7) & ~7u));
  CHECK(edit->value_len <= 4096);
  char *why = strndup((char *)(edit + 1), edit->value_len);
  if (strstr(why, said) == NULL || strstr(why, "testlib/main.go") == NULL) {
    fprintf(stderr, "a fault said:\n%s\n", why);
    exit(1);
  }
  free(why);
}

/* A panic in each exported function, many times. */
static void faults(void) {
  static request r;
  char message[256];
  eddy_filter_info info = {.size = sizeof info};
  for (int i = 0; i < 200; i++) {
    eddy_text error = {(const uint8_t *)message, sizeof message};
    CHECK(library->filter_new(text("panic"), text("\"panic\""), 7, &info, &error) != EDDY_OK);
    CHECK(error.len > 0 && error.len <= sizeof message && memmem(message, error.len, "new", 3) != NULL);
    error.len = sizeof message;
    CHECK(library->filter_new(text("panic"), text("\"error\""), 7, &info, &error) != EDDY_OK);
    CHECK(error.len == sizeof message);
    error.len = sizeof message;
    CHECK(library->filter_new(text("no such"), text("null"), 7, &info, &error) != EDDY_OK);
    error = (eddy_text){NULL, 0};
    CHECK(library->filter_new(text("panic"), text("\"panic\""), 7, &info, &error) != EDDY_OK);

    uint64_t filter = filter_of("panic", "null"), config = 0;
    error = (eddy_text){(const uint8_t *)message, sizeof message};
    CHECK(library->config_new(filter, text("\"panic\""), &config, &error) != EDDY_OK);
    error.len = sizeof message;
    CHECK(library->config_new(filter, text("null"), &config, &error) == EDDY_OK && config != 0);
    lay_out(&r, filter);
    enter(&r);
    expect_fault(&r, "deliberate");
    r.call.flags |= EDDY_CALL_SAMPLED;
    enter(&r);
    expect_fault(&r, "deliberate");
    eddy_ended ended[2] = {{filter, 5, EDDY_END_CUT, 0}, {filter + 99, 5, EDDY_END_CUT, 0}};
    lay_out(&r, filter);
    r.call.phase = 255;
    r.call.steps_len = 0;
    r.call.ended = ended;
    r.call.ended_len = 2;
    unsigned before = logged;
    enter(&r);
    CHECK(logged == before + 1);
    eddy_event event = {.size = sizeof event, .kind = EDDY_EVENT_FAILED, .token = 12345};
    library->event(&event);
    before = logged;
    library->config_free(filter, config);
    library->config_free(filter, config);
    library->filter_free(filter);
    library->filter_free(filter);
    CHECK(logged == before + 2);
    lay_out(&r, filter); /* Stale: freed. */
    enter(&r);
    CHECK(r.step.verdict == EDDY_FAULT);

    filter = filter_of("nil", "null");
    lay_out(&r, filter);
    enter(&r);
    expect_fault(&r, "nil pointer");
    filter = filter_of("edit-then-panic", "null");
    lay_out(&r, filter);
    enter(&r);
    expect_fault(&r, "later");
  }
  uint64_t filter = filter_of("grow", "null");
  lay_out(&r, filter);
  enter(&r);
  CHECK(r.step.verdict == EDDY_CONTINUE && r.call.edits_len > 1000 * 1000);
  library->stop();
  library->stop();
  puts("faults ok");
}

typedef struct worker {
  pthread_t thread;
  uint16_t number;
  const char *name;
  uint64_t filter;
  unsigned rounds;
} worker;

static void *pause_worker(void *argument) {
  worker *w = argument;
  request *r = malloc(sizeof *r);
  for (unsigned i = 0; i < w->rounds; i++) {
    uint64_t exchange = (uint64_t)w->number * w->rounds + i + 1;
    lay_out(r, w->filter);
    r->call.worker = w->number;
    r->call.exchange = exchange;
    atomic_store(&turns[exchange], 1);
    enter(r);
    while (r->step.verdict == EDDY_FAULT) {
      /* Goroutines are bounded, and this fails fast. */
      CHECK(memmem(r->call.edits, r->call.edits_len, "as many goroutines", 18) != NULL);
      atomic_fetch_add(&busy, 1);
      sched_yield();
      enter(r);
    }
    CHECK(r->step.verdict == EDDY_PAUSE);
    memset(r, 0xa5, sizeof *r); /* Makes later uses visible. */
  }
  free(r);
  return NULL;
}

static void *worker_main(void *argument) {
  worker *w = argument;
  request *r = malloc(sizeof *r);
  uint64_t states[16] = {0};
  for (unsigned i = 0; i < w->rounds; i++) {
    uint64_t exchange = ((uint64_t)w->number << 32) + i % 16 + 1 + (i / 64) * 16;
    char target[32];
    int len = sprintf(target, "/%llu", (unsigned long long)exchange);
    lay_out(r, w->filter);
    r->call.worker = w->number;
    r->call.exchange = exchange;
    r->call.target = (eddy_text){(const uint8_t *)target, (size_t)len};
    r->step.state = states[i % 16];
    eddy_ended ended = {w->filter, states[i % 16], EDDY_END_COMPLETE, 0};
    if (i % 64 < 16 && i >= 64) {
      r->step.state = 0;
      r->call.ended = &ended;
      r->call.ended_len = 1;
    }
    unsigned before = logged;
    enter(r);
    if (r->step.verdict != EDDY_CONTINUE) fprintf(stderr, "%s\n", (char *)r->call.edits + sizeof(eddy_edit));
    CHECK(r->step.verdict == EDDY_CONTINUE);
    CHECK(logged == before);
    states[i % 16] = r->step.state;
    if (strcmp(w->name, "garbage") == 0) {
      eddy_edit *edit = (eddy_edit *)r->call.edits;
      CHECK(edit->value_len == (uint32_t)len && memcmp((char *)(edit + 1) + edit->name_len, target, (size_t)len) == 0);
    }
  }
  free(r);
  return NULL;
}

static void threads(const char *name, void *(*body)(void *), unsigned rounds) {
  worker workers[WORKERS];
  uint64_t filter = filter_of(name, "null");
  for (uint16_t i = 0; i < WORKERS; i++) {
    workers[i] = (worker){.number = i, .name = name, .filter = filter, .rounds = rounds};
    CHECK(pthread_create(&workers[i].thread, NULL, body, &workers[i]) == 0);
  }
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i].thread, NULL);
  printf("%s on %d threads ok\n", name, WORKERS);
}

static void resumes(const char *name) {
  unsigned rounds = 20000;
  atomic_store(&resumed, 0);
  threads(name, pause_worker, rounds);
  double deadline = now() + 20e9;
  while (atomic_load(&resumed) < rounds * WORKERS && now() < deadline) sched_yield();
  CHECK(atomic_load(&resumed) == rounds * WORKERS);
  CHECK(atomic_load(&bad) == 0);
  eddy_edit *edit = (eddy_edit *)resumed_edits[1];
  CHECK(edit->op == EDDY_EDIT_SET && memcmp(edit + 1, "x-later/a/path?with=query", 25) == 0);
  puts("resumes ok");
}

/* Cannot be recovered: the process ends, but the word that names the filter is still set. */
static void goexit(void) {
  static request r;
  lay_out(&r, filter_of("exit", "null"));
  enter(&r);
  puts("the process lives");
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  void *loaded = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (loaded == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  eddy_library_open_fn open = (eddy_library_open_fn)dlsym(loaded, "eddy_library_open");
  CHECK(open != NULL);
  eddy_host old = host;
  old.abi = 2;
  CHECK(open(&old) == NULL && strstr(last_log, "version 1") != NULL);
  old = host;
  old.size = offsetof(eddy_host, metric);
  CHECK(open(&old) == NULL && strstr(last_log, "older") != NULL);
  library = open(&host);
  CHECK(library != NULL && library->abi == EDDY_ABI && library->size == sizeof(eddy_library));
  CHECK(open(&host) == library);
  if (strcmp(argv[2], "about") == 0) {
    printf("%.*s, %.*s:", (int)library->sdk.len, library->sdk.data, (int)library->toolchain.len, library->toolchain.data);
    for (uint64_t i = 0; i < library->filters_len; i++) {
      printf(" %.*s", (int)library->filters[i].len, library->filters[i].data);
    }
    puts("");
  } else if (strcmp(argv[2], "bench") == 0) {
    for (int i = 3; i < argc; i++) bench(argv[i]);
  } else if (strcmp(argv[2], "goexit") == 0) {
    goexit();
  } else if (strcmp(argv[2], "faults") == 0) {
    faults();
  } else if (strcmp(argv[2], "resumes") == 0) {
    resumes("pause");
    memset((void *)turns, 0, sizeof turns);
    resumes("native-go");
  } else if (strcmp(argv[2], "threads") == 0) {
    threads("state", worker_main, 200000);
    threads("native-state", worker_main, 200000);
    threads("garbage", worker_main, 5000);
  } else {
    return 2;
  }
  return 0;
}
