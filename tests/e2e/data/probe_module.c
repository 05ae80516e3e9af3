/* A dynamic module of Envoy with small HTTP filters, which the tests run in eddy and in Envoy. It declares what it uses
 * of the ABI (`abi.h` of Envoy 1.40) itself. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *data;
    size_t len;
} text;

typedef struct {
    text name, value;
} header;

enum { REQUEST, REQUEST_TRAILERS, RESPONSE, RESPONSE_TRAILERS };
enum { CONTINUE, STOP };

#define CALLBACK(name) envoy_dynamic_module_callback_##name
extern void CALLBACK(log)(unsigned level, text message);
extern unsigned CALLBACK(http_filter_config_define_counter)(void *, text, text *, size_t, size_t *);
extern unsigned CALLBACK(http_filter_config_define_gauge)(void *, text, text *, size_t, size_t *);
extern unsigned CALLBACK(http_filter_increment_counter)(void *, size_t, text *, size_t, uint64_t);
extern unsigned CALLBACK(http_filter_set_gauge)(void *, size_t, text *, size_t, uint64_t);
extern bool CALLBACK(http_get_header)(void *, unsigned, text, text *, size_t, size_t *);
extern size_t CALLBACK(http_get_headers_size)(void *, unsigned);
extern bool CALLBACK(http_get_headers)(void *, unsigned, header *);
extern bool CALLBACK(http_add_header)(void *, unsigned, text, text);
extern bool CALLBACK(http_set_header)(void *, unsigned, text, text);
extern void CALLBACK(http_send_response)(void *, uint32_t, header *, size_t, text, text);
extern void CALLBACK(http_send_response_headers)(void *, header *, size_t, bool);
extern void CALLBACK(http_send_response_data)(void *, text, bool);
extern size_t CALLBACK(http_get_body_size)(void *, unsigned);
extern size_t CALLBACK(http_get_body_chunks_size)(void *, unsigned);
extern bool CALLBACK(http_get_body_chunks)(void *, unsigned, text *);
extern bool CALLBACK(http_append_body)(void *, unsigned, text);
extern bool CALLBACK(http_drain_body)(void *, unsigned, size_t);
extern void CALLBACK(http_set_dynamic_metadata_string)(void *, text, text, text);
extern bool CALLBACK(http_get_metadata_string)(void *, unsigned, text, text, text *);
extern void CALLBACK(http_set_dynamic_metadata_number)(void *, text, text, double);
extern bool CALLBACK(http_get_metadata_number)(void *, unsigned, text, text, double *);
extern bool CALLBACK(http_set_filter_state_bytes)(void *, text, text);
extern bool CALLBACK(http_get_filter_state_bytes)(void *, text, text *);
extern void *CALLBACK(http_filter_scheduler_new)(void *);
extern void CALLBACK(http_filter_scheduler_commit)(void *, uint64_t);
extern void CALLBACK(http_filter_scheduler_delete)(void *);
extern bool CALLBACK(http_filter_get_attribute_string)(void *, unsigned, text *);
extern bool CALLBACK(http_filter_get_attribute_int)(void *, unsigned, uint64_t *);
extern unsigned CALLBACK(http_filter_http_callout)(void *, uint64_t *, text, header *, size_t, text, uint64_t);
extern void CALLBACK(http_filter_continue_decoding)(void *);
extern const void *CALLBACK(get_most_specific_route_config)(void *);
extern void CALLBACK(http_filter_reset_stream)(void *, unsigned, text);
extern bool CALLBACK(http_get_cluster_name)(void *, text *);

typedef struct {
    char *name, *value;
    size_t counter, labelled, gauge;
} config;

typedef struct {
    const config *config;
    void *scheduler;
    uint64_t callout;
} filter;

static text of(const char *bytes) { return (text){bytes, strlen(bytes)}; }

static char *copy(text bytes) {
    char *copied = malloc(bytes.len + 1);
    memcpy(copied, bytes.data, bytes.len);
    copied[bytes.len] = 0;
    return copied;
}

static bool is(const filter *f, const char *name) { return strcmp(f->config->name, name) == 0; }

static text get(void *envoy, unsigned kind, const char *name) {
    text value = {NULL, 0};
    CALLBACK(http_get_header)(envoy, kind, of(name), &value, 0, NULL);
    return value;
}

static void set(void *envoy, unsigned kind, const char *name, text value) {
    CALLBACK(http_set_header)(envoy, kind, of(name), value);
}

static void set_number(void *envoy, unsigned kind, const char *name, uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    set(envoy, kind, name, of(digits));
}

#ifdef FAILS_TO_START
const char *envoy_dynamic_module_on_program_init(void) { return NULL; }
#else
const char *envoy_dynamic_module_on_program_init(void) { return "v0.2.0"; }
#endif

#ifdef UNKNOWN_CALLBACK
extern void UNKNOWN_CALLBACK(void *);
#else
#define UNKNOWN_CALLBACK(envoy) (void)(envoy)
#endif

const void *envoy_dynamic_module_on_http_filter_config_new(void *envoy, text name, text value) {
    config *c = calloc(1, sizeof *c);
    c->name = copy(name);
    c->value = copy(value);
    if (strcmp(c->name, "refused") == 0) {
        CALLBACK(log)(4, of("this configuration is refused"));
        return NULL;
    }
    if (strcmp(c->name, "metrics") == 0) {
        text labels[] = {of("method")};
        CALLBACK(http_filter_config_define_counter)(envoy, of("seen_total"), NULL, 0, &c->counter);
        CALLBACK(http_filter_config_define_counter)(envoy, of("by"), labels, 1, &c->labelled);
        CALLBACK(http_filter_config_define_gauge)(envoy, of("size"), NULL, 0, &c->gauge);
    }
    return c;
}

void envoy_dynamic_module_on_http_filter_config_destroy(const void *c) {
    free(((config *)c)->name);
    free(((config *)c)->value);
    free((void *)c);
}

const void *envoy_dynamic_module_on_http_filter_per_route_config_new(text name, text value) {
    (void)name;
    return copy(value);
}

void envoy_dynamic_module_on_http_filter_per_route_config_destroy(const void *c) { free((void *)c); }

const void *envoy_dynamic_module_on_http_filter_new(const void *c, void *envoy) {
    (void)envoy;
    filter *f = calloc(1, sizeof *f);
    f->config = c;
    return f;
}

/* Commits an event of the scheduler, on a thread of its own. */
static void *commit(void *scheduler) {
    usleep(20000);
    CALLBACK(http_filter_scheduler_commit)(scheduler, 7);
    return NULL;
}

static void request_headers_of_all_kinds(void *envoy, const filter *f) {
    set(envoy, REQUEST, "x-config", of(f->config->value));
    CALLBACK(http_add_header)(envoy, REQUEST, of("x-many"), of("one"));
    CALLBACK(http_add_header)(envoy, REQUEST, of("x-many"), of("two"));
    text second;
    size_t count = 0;
    bool has_second = CALLBACK(http_get_header)(envoy, REQUEST, of("x-many"), &second, 1, &count);
    set(envoy, REQUEST, "x-second", has_second ? second : of("none"));
    set_number(envoy, REQUEST, "x-count", count);
    set(envoy, REQUEST, "x-method", get(envoy, REQUEST, ":method"));
    set(envoy, REQUEST, "x-path", get(envoy, REQUEST, ":path"));
    set(envoy, REQUEST, "x-host", get(envoy, REQUEST, ":authority"));
    set(envoy, REQUEST, "x-remove", (text){NULL, 0});
    set(envoy, REQUEST, ":path", of("/changed"));
    size_t size = CALLBACK(http_get_headers_size)(envoy, REQUEST);
    header *all = calloc(size, sizeof *all);
    CALLBACK(http_get_headers)(envoy, REQUEST, all);
    uint64_t own = 0;
    for (size_t at = 0; at < size; at++) {
        own += all[at].name.len >= 2 && memcmp(all[at].name.data, "x-", 2) == 0;
    }
    free(all);
    set(envoy, REQUEST, "x-has-own", own > 5 ? of("yes") : of("no"));
}

static void *last_stream;

unsigned envoy_dynamic_module_on_http_filter_request_headers(void *envoy, const void *module, bool is_end) {
    filter *f = (filter *)module;
    if (is(f, "headers")) {
        request_headers_of_all_kinds(envoy, f);
    }
    if (is(f, "reply") && get(envoy, REQUEST, "x-deny").len > 0) {
        header headers[] = {{of("x-reason"), of("denied")}};
        CALLBACK(http_send_response)(envoy, 403, headers, 1, of("no entry"), of("denied"));
        return STOP;
    }
    if (is(f, "streamed")) {
        header headers[] = {{of(":status"), of("201")}, {of("x-streamed"), of("yes")}};
        CALLBACK(http_send_response_headers)(envoy, headers, 2, false);
        CALLBACK(http_send_response_data)(envoy, of("one "), false);
        CALLBACK(http_send_response_data)(envoy, of("two"), true);
        return STOP;
    }
    if (is(f, "callout")) {
        header headers[] = {{of(":method"), of("GET")}, {of(":path"), of("/aside")}, {of("host"), of("aside")}};
        unsigned result = CALLBACK(http_filter_http_callout)(
            envoy, &f->callout, of(f->config->value), headers, 3, of(""), 2000);
        set_number(envoy, REQUEST, "x-callout", result);
        return result == 0 ? STOP : CONTINUE;
    }
    if (is(f, "scheduler")) {
        f->scheduler = CALLBACK(http_filter_scheduler_new)(envoy);
        pthread_t thread;
        pthread_create(&thread, NULL, commit, f->scheduler);
        pthread_detach(thread);
        return STOP;
    }
    if (is(f, "state")) {
        text value;
        double number = 0;
        CALLBACK(http_set_dynamic_metadata_string)(envoy, of("space"), of("key"), of("a \"value\""));
        CALLBACK(http_set_dynamic_metadata_number)(envoy, of("space"), of("number"), 42);
        if (CALLBACK(http_get_metadata_string)(envoy, 0, of("space"), of("key"), &value)) {
            set(envoy, REQUEST, "x-metadata", value);
        }
        if (CALLBACK(http_get_metadata_number)(envoy, 0, of("space"), of("number"), &number) && number == 42) {
            set(envoy, REQUEST, "x-number", of("42"));
        }
        CALLBACK(http_set_filter_state_bytes)(envoy, of("state"), of("kept"));
        text query;
        if (CALLBACK(http_filter_get_attribute_string)(envoy, 11, &query)) {
            set(envoy, REQUEST, "x-query", query);
        }
        text cluster;
        if (CALLBACK(http_get_cluster_name)(envoy, &cluster)) {
            set(envoy, REQUEST, "x-cluster", cluster);
        }
    }
    if (is(f, "metrics")) {
        text labels[] = {get(envoy, REQUEST, ":method")};
        CALLBACK(http_filter_increment_counter)(envoy, f->config->counter, NULL, 0, 2);
        CALLBACK(http_filter_increment_counter)(envoy, f->config->labelled, labels, 1, 1);
        set_number(envoy, REQUEST, "x-wrong-labels",
                   CALLBACK(http_filter_increment_counter)(envoy, f->config->labelled, NULL, 0, 1));
        CALLBACK(http_filter_set_gauge)(envoy, f->config->gauge, NULL, 0, 5);
    }
    if (is(f, "stale")) {
        text value = {NULL, 0};
        if (last_stream == NULL) {
            last_stream = envoy;
            set(envoy, REQUEST, "x-stale", of("first"));
        } else {
            bool is_found = CALLBACK(http_get_header)(last_stream, REQUEST, of(":path"), &value, 0, NULL);
            bool is_set = CALLBACK(http_set_header)(last_stream, REQUEST, of("x-by-stale"), of("1"));
            set(envoy, REQUEST, "x-stale", is_found || is_set ? of("found") : of("gone"));
        }
    }
    if (is(f, "reset") && get(envoy, REQUEST, "x-reset").len > 0) {
        CALLBACK(http_filter_reset_stream)(envoy, 0, of("as asked"));
        return STOP;
    }
    if (is(f, "body") && !is_end) {
        return STOP;
    }
    return CONTINUE;
}

/* Appends the body of a kind to `to`, and returns its length. */
static size_t read_body(void *envoy, unsigned kind, char *to, size_t room) {
    size_t count = CALLBACK(http_get_body_chunks_size)(envoy, kind);
    text *chunks = calloc(count + 1, sizeof *chunks);
    size_t used = 0;
    if (count > 0 && CALLBACK(http_get_body_chunks)(envoy, kind, chunks)) {
        for (size_t at = 0; at < count && used + chunks[at].len <= room; at++) {
            memcpy(to + used, chunks[at].data, chunks[at].len);
            used += chunks[at].len;
        }
    }
    free(chunks);
    return used;
}

unsigned envoy_dynamic_module_on_http_filter_request_body(void *envoy, const void *module, bool is_end) {
    const filter *f = module;
    if (!is(f, "body")) {
        return CONTINUE;
    }
    if (!is_end) {
        return STOP;
    }
    char body[4096];
    size_t buffered = read_body(envoy, 1, body, sizeof body);
    size_t len = buffered + read_body(envoy, 0, body + buffered, sizeof body - buffered);
    set_number(envoy, REQUEST, "x-body-size", len);
    set(envoy, REQUEST, "content-length", (text){NULL, 0});
    for (size_t at = 0; at < len; at++) {
        body[at] = body[at] >= 'a' && body[at] <= 'z' ? body[at] - 32 : body[at];
    }
    CALLBACK(http_drain_body)(envoy, 1, buffered);
    CALLBACK(http_drain_body)(envoy, 0, CALLBACK(http_get_body_size)(envoy, 0));
    CALLBACK(http_append_body)(envoy, 0, (text){body, len});
    CALLBACK(http_append_body)(envoy, 0, of("!"));
    return CONTINUE;
}

#ifndef WITHOUT_HOOK
unsigned envoy_dynamic_module_on_http_filter_request_trailers(void *envoy, const void *module) {
    (void)module;
    set(envoy, REQUEST_TRAILERS, "x-trailer", of("seen"));
    return CONTINUE;
}
#endif

unsigned envoy_dynamic_module_on_http_filter_response_headers(void *envoy, const void *module, bool is_end) {
    const filter *f = module;
    (void)is_end;
    set(envoy, RESPONSE, "x-module", of(f->config->name));
    text path = get(envoy, REQUEST, ":path");
    if (is(f, "headers") && path.len > 0) {
        set(envoy, RESPONSE, "x-path", path);
        set(envoy, RESPONSE, "x-status", get(envoy, RESPONSE, ":status"));
        set(envoy, RESPONSE, ":status", of("202"));
    }
    const char *route = CALLBACK(get_most_specific_route_config)(envoy);
    if (is(f, "route")) {
        set(envoy, RESPONSE, "x-route", of(route == NULL ? f->config->value : route));
    }
    text kept;
    if (is(f, "state") && CALLBACK(http_get_filter_state_bytes)(envoy, of("state"), &kept)) {
        set(envoy, RESPONSE, "x-state", kept);
        uint64_t code = 0;
        CALLBACK(http_filter_get_attribute_int)(envoy, 15, &code);
        set_number(envoy, RESPONSE, "x-code", code);
    }
    if (is(f, "response-reply")) {
        CALLBACK(http_send_response)(envoy, 503, NULL, 0, of("instead"), of("instead"));
        return STOP;
    }
    if (is(f, "response-body")) {
        set(envoy, RESPONSE, "content-length", (text){NULL, 0});
    }
    return CONTINUE;
}

unsigned envoy_dynamic_module_on_http_filter_response_body(void *envoy, const void *module, bool is_end) {
    if (is((const filter *)module, "response-body") && is_end) {
        CALLBACK(http_append_body)(envoy, 2, of(" end"));
    }
    return CONTINUE;
}

unsigned envoy_dynamic_module_on_http_filter_response_trailers(void *envoy, const void *module) {
    (void)module;
    set(envoy, RESPONSE_TRAILERS, "x-trailer", of("seen"));
    return CONTINUE;
}

void envoy_dynamic_module_on_http_filter_stream_complete(void *envoy, const void *module) {
    (void)envoy;
    if (is((const filter *)module, "log")) {
        CALLBACK(log)(2, of("stream complete"));
    }
}

void envoy_dynamic_module_on_http_filter_destroy(const void *module) {
    filter *f = (filter *)module;
    if (f->scheduler != NULL) {
        CALLBACK(http_filter_scheduler_delete)(f->scheduler);
    }
    if (is(f, "log")) {
        CALLBACK(log)(2, of("stream destroyed"));
    }
    free(f);
}

unsigned envoy_dynamic_module_on_http_filter_local_reply(
    void *envoy, const void *module, uint32_t status, text details, bool is_reset) {
    (void)envoy, (void)is_reset;
    if (is((const filter *)module, "reply")) {
        char line[80];
        snprintf(line, sizeof line, "local reply %u %.*s", status, (int)details.len, details.data);
        CALLBACK(log)(2, of(line));
    }
    return CONTINUE;
}

void envoy_dynamic_module_on_http_filter_scheduled(void *envoy, const void *module, uint64_t event) {
    (void)module;
    set_number(envoy, REQUEST, "x-event", event);
    CALLBACK(http_filter_continue_decoding)(envoy);
}

void envoy_dynamic_module_on_http_filter_http_callout_done(
    void *envoy, const void *module, uint64_t id, unsigned result, header *headers, size_t headers_len, text *chunks,
    size_t chunks_len) {
    const filter *f = module;
    set_number(envoy, REQUEST, "x-result", result);
    set(envoy, REQUEST, "x-same-id", id == f->callout ? of("yes") : of("no"));
    for (size_t at = 0; at < headers_len; at++) {
        if (headers[at].name.len == 7 && memcmp(headers[at].name.data, ":status", 7) == 0) {
            set(envoy, REQUEST, "x-aside-status", headers[at].value);
        }
    }
    set(envoy, REQUEST, "x-aside", chunks_len > 0 ? chunks[0] : of("nothing"));
    CALLBACK(http_filter_continue_decoding)(envoy);
}

/* Hooks that Envoy needs and that these filters do not use. */

#define UNUSED_HOOK(name) \
    void envoy_dynamic_module_on_http_filter_##name(void *envoy) { UNKNOWN_CALLBACK(envoy); }

UNUSED_HOOK(config_scheduled)
UNUSED_HOOK(config_http_callout_done)
UNUSED_HOOK(config_http_stream_headers)
UNUSED_HOOK(config_http_stream_data)
UNUSED_HOOK(config_http_stream_trailers)
UNUSED_HOOK(config_http_stream_complete)
UNUSED_HOOK(config_http_stream_reset)
UNUSED_HOOK(http_stream_headers)
UNUSED_HOOK(http_stream_data)
UNUSED_HOOK(http_stream_trailers)
UNUSED_HOOK(http_stream_complete)
UNUSED_HOOK(http_stream_reset)
UNUSED_HOOK(downstream_above_write_buffer_high_watermark)
UNUSED_HOOK(downstream_below_write_buffer_low_watermark)
