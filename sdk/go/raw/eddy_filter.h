/*
 * eddy_filter.h: the contract between eddy (the host) and a filter library (the guest), version 1.
 *
 * A guest is entered once a phase for all of its filters that stand next to each other in a chain. It reads the
 * message in place, in memory of the host, and answers with a verdict a filter and one list of edits, which the host
 * checks and applies when the guest has returned. abi/README.md tells the whole story; abi/vectors holds cases that
 * every guest must answer alike.
 *
 * Memory. Whatever the host points to belongs to the host and is valid until the entered function returns, unless the
 * place says otherwise. A guest that needs it longer copies it. What a guest passes to a host function is copied
 * before that function returns. No pointer of the guest is ever kept by the host, except those in `eddy_library`.
 *
 * Threads. `run` is called on the thread of a worker, and on several workers at once; an exchange stays with its
 * worker. `filter_new`, `config_new`, the two `_free` and `stop` are called on one control thread, one at a time.
 * Host functions may be called from any thread, except where said.
 *
 * Growth. Structures only ever grow at their end; `size` tells how much of one the other side knows, `abi` changes
 * only when something else does. Unknown bits are ignored, unknown numbers refused.
 */
#ifndef EDDY_FILTER_H
#define EDDY_FILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EDDY_ABI 1u

/* Bytes somewhere; no NUL at their end. A text without bytes may have a null pointer. */
typedef struct eddy_text {
  const uint8_t *data;
  size_t len;
} eddy_text;

/* A range of the bytes of a head: from `start` up to, not including, `end`. Empty where end <= start. */
typedef struct eddy_span {
  uint32_t start;
  uint32_t end;
} eddy_span;

/* One field of a head or trailer section. */
typedef struct eddy_field {
  eddy_span name;  /* as sent: in any case over HTTP/1 */
  eddy_span value; /* without white space around it */
  uint8_t id;      /* EDDY_FIELD_*; 0, EDDY_FIELD_X_FORWARDED or EDDY_FIELD_ALIAS where the name is not a known one */
  uint8_t flags;   /* EDDY_FIELD_NOMINATED */
  uint16_t reserved;
} eddy_field;

#define EDDY_FIELD_NOMINATED 1u /* the message's Connection field ends it at this hop: it is not sent on */

/* A head or trailer section: its bytes, and its fields in the order sent. */
typedef struct eddy_head {
  const uint8_t *bytes;
  const eddy_field *fields;
  uint32_t bytes_len;
  uint32_t fields_len;
} eddy_head;

/* Where an exchange stands. The values are bits of an interest mask: 1 << phase. */
enum eddy_phase {
  EDDY_REQUEST_HEAD = 0,
  EDDY_REQUEST_BODY = 1,     /* a piece, or the whole after EDDY_BUFFER */
  EDDY_REQUEST_TRAILERS = 2, /* only where there are trailers */
  EDDY_RESPONSE_HEAD = 3,    /* the final response, the endpoint's or eddy's own */
  EDDY_RESPONSE_BODY = 4,
  EDDY_RESPONSE_TRAILERS = 5,
  EDDY_LOG = 6, /* the exchange is over, both heads can still be read; verdicts and edits are ignored */
  EDDY_END = 7  /* not a call of its own: the entry of the exchange in `eddy_call.ended` */
};

/* What a filter says of a phase. */
enum eddy_verdict {
  EDDY_CONTINUE = 0,
  EDDY_REPLY = 1,  /* answer at once with what the EDDY_EDIT_REPLY edits say; no further filter is entered */
  EDDY_PAUSE = 2,  /* `resume` will be called; the message waits at this filter. A deadline runs. */
  EDDY_BUFFER = 3, /* head phases: first collect the whole body, then call the body phase with it, then go on with
                      head and body. Body phases: as that, from this piece on. At the end of a message: continue. */
  EDDY_FAULT = 4,  /* the filter failed; EDDY_EDIT_FAULT tells why. The filter's failure policy decides. */
  EDDY_RESET = 5   /* end the exchange without an answer, or without the rest of it */
};

/* A change to the message, or an answer. Records stand one after another in the edits of a call, each padded with
 * zero bytes to a multiple of 8: this, then `name_len` bytes of name, then `value_len` bytes of value.
 * Names and values of fields are checked by the host as those of a peer are; a change that it refuses (a control
 * byte, a field that frames the message or ends at a hop, too much of anything) is a fault of the filter. */
typedef struct eddy_edit {
  uint16_t op;
  uint16_t step; /* index into `eddy_call.steps` of the filter that makes the change */
  uint32_t name_len;
  uint32_t value_len;
  uint32_t number;
} eddy_edit;

enum eddy_edit_op {
  EDDY_EDIT_SET = 1,    /* field: one in the place of all of this name */
  EDDY_EDIT_ADD = 2,    /* field: one more */
  EDDY_EDIT_REMOVE = 3, /* field: all of this name */
  EDDY_EDIT_METHOD = 4,    /* request head: value */
  EDDY_EDIT_TARGET = 5,    /* request head: value is path and query; what is sent, normalised. The rule's rewrite is void */
  EDDY_EDIT_AUTHORITY = 6, /* request head: value is host or host:port; what is sent */
  EDDY_EDIT_STATUS = 7,    /* response head: number */
  EDDY_EDIT_BODY_SET = 8,     /* body phases: value instead of the piece (or the whole, after EDDY_BUFFER) */
  EDDY_EDIT_BODY_APPEND = 9,  /* body phases: value after it */
  EDDY_EDIT_BODY_PREPEND = 10, /* body phases: value before it */
  EDDY_EDIT_BODY_DRAIN = 11,   /* body phases: without its first `number` bytes */
  EDDY_EDIT_REPLY = 12,        /* number: status 200 to 599; value: body; name: details for the access record */
  EDDY_EDIT_REPLY_FIELD = 13,  /* field of the reply; several of a name may stand */
  EDDY_EDIT_METADATA = 14,     /* name: namespace NUL key; value: JSON; an empty value removes it */
  EDDY_EDIT_CLEAR_ROUTE = 15,  /* request head: look the rule up again before the request goes on */
  EDDY_EDIT_ENDPOINT = 16,     /* request phases: value is the address to send to; number 1: only there */
  EDDY_EDIT_FAULT = 17,        /* value: what went wrong, for the log */
  EDDY_EDIT_REPLY_GRPC = 18    /* number: grpc-status of the reply, where the request is gRPC */
};

/* One filter to be entered. */
typedef struct eddy_step {
  uint64_t filter; /* in: what `filter_new` gave */
  uint64_t config; /* in: what `config_new` gave for the rule; 0 where the rule says nothing */
  uint64_t state;  /* in, out: the guest's own for this filter in this exchange; 0 at first. If it is not 0 when the
                      exchange is over, `ended` tells of it once. */
  uint32_t id;     /* in: the host's number of the filter, for the host functions */
  uint32_t nanos;  /* out: time in the filter, where EDDY_CALL_SAMPLED */
  uint8_t verdict; /* out */
  uint8_t flags;   /* in: EDDY_STEP_* */
  uint16_t reserved;
  uint32_t reserved2;
} eddy_step;

/* Metadata of the exchange, shared along the chain. */
typedef struct eddy_pair {
  eddy_text space;
  eddy_text key;
  eddy_text value; /* JSON */
} eddy_pair;

/* Facts about the exchange. A text that is not known (yet) is empty. */
typedef struct eddy_about {
  eddy_text peer;       /* the client's address, "192.0.2.1:4711" or "[2001:db8::1]:4711", "unix" */
  eddy_text local;      /* the address it connected to */
  eddy_text listener;   /* name */
  eddy_text rule;       /* name of the rule that won; empty at the demo endpoint */
  eddy_text cluster;    /* name of the cluster the rule says */
  eddy_text endpoint;   /* address, once there is a response from it */
  eddy_text request_id; /* where the listener has request ids */
  eddy_text details;    /* why eddy answered by itself, a word as in the access record */
  const eddy_pair *metadata;
  uint64_t metadata_len;
  uint64_t started_unix_us; /* when the request's head was complete */
  uint64_t duration_us;     /* since then, in EDDY_LOG; else 0 */
  uint64_t connection;      /* number of the client's connection in this worker */
  uint64_t request_bytes;   /* of body so far */
  uint64_t response_bytes;  /* of body so far */
  uint32_t attempts;        /* endpoints tried */
  uint32_t reserved;
} eddy_about;

/* An exchange that is over, for a filter that keeps state of it. */
typedef struct eddy_ended {
  uint64_t filter;
  uint64_t state;
  uint32_t reason; /* enum eddy_end_reason */
  uint32_t reserved;
} eddy_ended;

enum eddy_end_reason {
  EDDY_END_COMPLETE = 0, /* the response went out whole */
  EDDY_END_CUT = 1       /* either side left, a timeout, or a fault */
};

/* One crossing. All members are the host's to write unless marked "out". */
typedef struct eddy_call {
  uint32_t abi;
  uint32_t size;
  uint16_t worker;
  uint16_t status;  /* of the response, from EDDY_RESPONSE_HEAD on */
  uint8_t phase;    /* enum eddy_phase; 255: none, only `ended` is to be read */
  uint8_t flags;    /* EDDY_CALL_* */
  uint8_t version;  /* of the request: 10, 11, 20 or 30 */
  uint8_t method;   /* EDDY_METHOD_*; the name stands in `method_name` */
  uint64_t exchange; /* handle for `resume`; never used again for another exchange */
  uint32_t turn;     /* number of this crossing, for `resume` */
  uint32_t steps_len;
  eddy_step *steps;  /* enter them in this order */
  eddy_head request;
  eddy_head response; /* from EDDY_RESPONSE_HEAD on */
  eddy_head trailers; /* in the phases of trailers */
  eddy_text method_name;
  eddy_text target;    /* path and query, as an earlier filter left it, else as sent */
  eddy_text authority; /* host or host:port; empty where an HTTP/1.0 client named none */
  eddy_text scheme;    /* "http" or "https" */
  eddy_text body;      /* in the phases of bodies */
  const eddy_about *about;
  uint8_t *edits;      /* where edits go */
  uint32_t edits_cap;
  uint32_t edits_len;  /* out */
  const eddy_ended *ended; /* exchanges that are over; the guest looks at all of them before the steps */
  uint32_t ended_len;
  uint32_t stopped;        /* out: index of the step whose verdict was not EDDY_CONTINUE; steps_len if there is none */
  volatile uint32_t *current; /* the guest writes the `id` of the filter it is about to enter, and 0 at the end */
} eddy_call;

#define EDDY_CALL_END 1u     /* nothing follows in this direction: no body, its last piece, or the trailers behind it */
#define EDDY_CALL_SAMPLED 2u /* fill in `nanos` */
#define EDDY_CALL_LOCAL 4u   /* the response is eddy's own */
#define EDDY_CALL_BUFFERED 8u /* `body` is the whole body */
#define EDDY_CALL_TLS 16u    /* the client came by TLS */

#define EDDY_STEP_BLOCKING 1u /* configured with `blocking: true`: do not run the filter on this thread */

enum eddy_method {
  EDDY_METHOD_OTHER = 0,
  EDDY_METHOD_GET = 1,
  EDDY_METHOD_HEAD = 2,
  EDDY_METHOD_POST = 3,
  EDDY_METHOD_PUT = 4,
  EDDY_METHOD_DELETE = 5,
  EDDY_METHOD_CONNECT = 6,
  EDDY_METHOD_OPTIONS = 7,
  EDDY_METHOD_TRACE = 8,
  EDDY_METHOD_PATCH = 9
};

/* What host functions answer. */
enum eddy_result {
  EDDY_OK = 0,
  EDDY_GONE = -1,      /* the exchange is over */
  EDDY_STALE = -2,     /* it does not wait for this turn: resumed before, answered, or timed out */
  EDDY_TOO_LARGE = -3, /* more bytes than the limit */
  EDDY_FULL = -4,      /* a queue or table is full */
  EDDY_INVALID = -5,   /* an argument makes no sense; the log says which */
  EDDY_UNKNOWN = -6    /* no such cluster, filter or call */
};

enum eddy_level { EDDY_TRACE = 0, EDDY_DEBUG = 1, EDDY_INFO = 2, EDDY_WARN = 3, EDDY_ERROR = 4, EDDY_OFF = 5 };

enum eddy_metric_kind { EDDY_COUNTER = 0, EDDY_GAUGE = 1, EDDY_HISTOGRAM = 2 };

/* Where a metric lies. A worker adds to the cell of its own number, any other thread to the last lane (number
 * `eddy_host.workers`): lane L begins at cells[L * stride]. A counter and a gauge (signed) are one cell; a histogram
 * is bounds_len + 1 cells of counts (the first whose bound is not below the value; the last for larger ones), then
 * one of the sum. Cells are added to atomically, without order. They live as long as the process. */
typedef struct eddy_metric {
  uint64_t *cells;
  uint32_t stride;
  uint32_t reserved;
} eddy_metric;

/* A request of a filter's own to one of eddy's clusters. */
typedef struct eddy_outbound {
  uint32_t size;
  uint32_t filter;     /* host's number of the filter */
  uint64_t token;      /* comes back in the event */
  uint64_t exchange;   /* the exchange it is for: when that is over, the call is cancelled. 0: none */
  eddy_text cluster;
  eddy_text method;
  eddy_text target;    /* path and query */
  eddy_text authority; /* empty: the cluster's name */
  const eddy_text *fields; /* fields_len names and values in turn: 2 * fields_len texts */
  uint32_t fields_len;
  uint32_t timeout_ms; /* 0: 5,000 */
  eddy_text body;
} eddy_outbound;

enum eddy_event_kind {
  EDDY_EVENT_RESPONSE = 1, /* the answer to an outbound request is there, whole */
  EDDY_EVENT_FAILED = 2    /* there is none; `body` is a word that tells why */
};

/* Something that happened for a guest, told on a worker's thread; to be taken note of, not to be worked on. */
typedef struct eddy_event {
  uint32_t size;
  uint32_t kind;
  uint64_t token;
  uint32_t filter; /* host's number */
  uint16_t worker;
  uint16_t status;
  eddy_head head;
  eddy_text body;
} eddy_event;

/* What the host offers. Lives as long as the process. */
typedef struct eddy_host {
  uint32_t abi;
  uint32_t size;
  uint32_t workers;
  uint32_t level; /* least level that is logged, at the time of opening */

  /* Goes on with a paused exchange: `verdict` is EDDY_CONTINUE, EDDY_REPLY, EDDY_FAULT, EDDY_RESET or (where the head
   * phase paused) EDDY_BUFFER; the edits are as those of the call with this turn. Any thread; takes a short lock.
   * EDDY_OK means that the worker was told; what comes later than an earlier one is dropped and counted. */
  int32_t (*resume)(uint64_t exchange, uint32_t turn, uint32_t verdict, const uint8_t *edits, uint32_t edits_len);

  /* Room for `more` bytes of edits behind `edits_len`, at most 16 MiB in all; writes edits and edits_cap of the call.
   * Only on the thread of the call, while it lasts. EDDY_TOO_LARGE: nothing has changed. */
  int32_t (*edits_grow)(eddy_call *call, uint32_t more);

  /* Writes a record to eddy's log; dropped and counted beyond 1,000 a second and filter. */
  int32_t (*log)(uint32_t filter, uint32_t level, const uint8_t *text, size_t len);

  /* Defines a metric, shown as eddy_filter_NAME{filter="..."}: letters, digits and _; at most 64 a filter. The same
   * name gives the same cells again. `bounds`: ascending, at most 32, for histograms. Filter 0 is the library itself:
   * shown as eddy_library_NAME. */
  int32_t (*metric)(uint32_t filter, uint32_t kind, const uint8_t *name, size_t name_len, const uint64_t *bounds,
                    uint32_t bounds_len, eddy_metric *out);

  /* Sends a request to a cluster; its end is told by `event`. */
  int32_t (*send)(const eddy_outbound *request);

  /* Gives such a request up; no event comes for it any more once this has returned EDDY_OK. */
  int32_t (*cancel)(uint32_t filter, uint64_t token);

  /* Memory that a runtime in the library should stay below, as far as it can; 0: no wish. */
  uint64_t memory_soft_bytes;
} eddy_host;

/* What the guest says of a configured filter. */
typedef struct eddy_filter_info {
  uint32_t size;
  uint32_t interest;   /* phases in which it is entered: bits 1 << phase */
  uint64_t filter;     /* the guest's own, not 0; comes back in eddy_step.filter */
  uint32_t flags;      /* EDDY_FILTER_* */
  uint32_t reserved;
} eddy_filter_info;

#define EDDY_FILTER_READS_BODY 1u /* keeps the length of bodies, or only looks at them: their framing stays */

/* What a guest offers. Lives as long as the process. */
typedef struct eddy_library {
  uint32_t abi;
  uint32_t size;
  eddy_text sdk;       /* name and version of the kit, "eddy-sdk-go 0.1.0" */
  eddy_text toolchain; /* "go1.26.8", "rustc 1.95.0", "gcc 12.2.0"; may be empty */
  const eddy_text *filters; /* names of the filters that the library has */
  uint64_t filters_len;

  /* Makes a filter from its configuration, a JSON text ("null" where there is none). EDDY_OK, or anything else with a
   * message of at most `error->len` bytes written to `error->data` and its length to `error->len`. */
  int32_t (*filter_new)(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error);

  /* Makes the configuration of a rule for a filter, merged with the filter's own as the filter sees fit; `config` is
   * not 0. Errors as above. */
  int32_t (*config_new)(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error);

  /* No exchange will be entered with it any more, and none is under way. */
  void (*config_free)(uint64_t filter, uint64_t config);
  void (*filter_free)(uint64_t filter);

  void (*run)(eddy_call *call);
  void (*event)(const eddy_event *event);

  /* The process is about to end. May be null. */
  void (*stop)(void);
} eddy_library;

/* The one symbol that a library exports. Called once, before any other function of it. Null means that it cannot work
 * with this host; it has then said why through `host->log` with filter 0. */
typedef const eddy_library *(*eddy_library_open_fn)(const eddy_host *host);
#if defined(_WIN32)
#error "eddy runs on Linux"
#endif
extern const eddy_library *eddy_library_open(const eddy_host *host) __attribute__((visibility("default")));

/* Well-known fields: `eddy_field.id`. New ones come at the end. */
#define EDDY_FIELD_OTHER 0u
#define EDDY_FIELD_HOST 1u
#define EDDY_FIELD_CONTENT_LENGTH 2u
#define EDDY_FIELD_TRANSFER_ENCODING 3u
#define EDDY_FIELD_CONNECTION 4u
#define EDDY_FIELD_EXPECT 5u
#define EDDY_FIELD_UPGRADE 6u
#define EDDY_FIELD_TE 7u
#define EDDY_FIELD_MAX_FORWARDS 8u
#define EDDY_FIELD_TRAILER 9u
#define EDDY_FIELD_KEEP_ALIVE 10u
#define EDDY_FIELD_PROXY 11u
#define EDDY_FIELD_PROXY_CONNECTION 12u
#define EDDY_FIELD_PROXY_AUTHENTICATE 13u
#define EDDY_FIELD_PROXY_AUTHORIZATION 14u
#define EDDY_FIELD_HTTP2_SETTINGS 15u
#define EDDY_FIELD_VIA 16u
#define EDDY_FIELD_DATE 17u
#define EDDY_FIELD_FORWARDED 18u
#define EDDY_FIELD_X_FORWARDED_FOR 19u
#define EDDY_FIELD_X_FORWARDED_PROTO 20u
#define EDDY_FIELD_X_FORWARDED_HOST 21u
#define EDDY_FIELD_X_FORWARDED_PORT 22u
#define EDDY_FIELD_X_REAL_IP 23u
#define EDDY_FIELD_X_REQUEST_ID 24u
#define EDDY_FIELD_ACCEPT 25u
#define EDDY_FIELD_ACCEPT_ENCODING 26u
#define EDDY_FIELD_ACCEPT_LANGUAGE 27u
#define EDDY_FIELD_ACCEPT_RANGES 28u
#define EDDY_FIELD_ACCESS_CONTROL_ALLOW_ORIGIN 29u
#define EDDY_FIELD_AGE 30u
#define EDDY_FIELD_ALLOW 31u
#define EDDY_FIELD_ALT_SVC 32u
#define EDDY_FIELD_AUTHORIZATION 33u
#define EDDY_FIELD_CACHE_CONTROL 34u
#define EDDY_FIELD_CONTENT_DISPOSITION 35u
#define EDDY_FIELD_CONTENT_ENCODING 36u
#define EDDY_FIELD_CONTENT_LANGUAGE 37u
#define EDDY_FIELD_CONTENT_LOCATION 38u
#define EDDY_FIELD_CONTENT_RANGE 39u
#define EDDY_FIELD_CONTENT_SECURITY_POLICY 40u
#define EDDY_FIELD_CONTENT_TYPE 41u
#define EDDY_FIELD_COOKIE 42u
#define EDDY_FIELD_ETAG 43u
#define EDDY_FIELD_EXPIRES 44u
#define EDDY_FIELD_IF_MATCH 45u
#define EDDY_FIELD_IF_MODIFIED_SINCE 46u
#define EDDY_FIELD_IF_NONE_MATCH 47u
#define EDDY_FIELD_IF_RANGE 48u
#define EDDY_FIELD_IF_UNMODIFIED_SINCE 49u
#define EDDY_FIELD_LAST_MODIFIED 50u
#define EDDY_FIELD_LINK 51u
#define EDDY_FIELD_LOCATION 52u
#define EDDY_FIELD_ORIGIN 53u
#define EDDY_FIELD_PRAGMA 54u
#define EDDY_FIELD_PREFER 55u
#define EDDY_FIELD_PRIORITY 56u
#define EDDY_FIELD_RANGE 57u
#define EDDY_FIELD_REFERER 58u
#define EDDY_FIELD_RETRY_AFTER 59u
#define EDDY_FIELD_SEC_FETCH_DEST 60u
#define EDDY_FIELD_SEC_FETCH_MODE 61u
#define EDDY_FIELD_SEC_FETCH_SITE 62u
#define EDDY_FIELD_SEC_FETCH_USER 63u
#define EDDY_FIELD_SERVER 64u
#define EDDY_FIELD_SERVER_TIMING 65u
#define EDDY_FIELD_SET_COOKIE 66u
#define EDDY_FIELD_STRICT_TRANSPORT_SECURITY 67u
#define EDDY_FIELD_TRACEPARENT 68u
#define EDDY_FIELD_TRACESTATE 69u
#define EDDY_FIELD_UPGRADE_INSECURE_REQUESTS 70u
#define EDDY_FIELD_USER_AGENT 71u
#define EDDY_FIELD_VARY 72u
#define EDDY_FIELD_WARNING 73u
#define EDDY_FIELD_WWW_AUTHENTICATE 74u
#define EDDY_FIELD_AUTHENTICATION_INFO 75u
#define EDDY_FIELD_GRPC_STATUS 76u
#define EDDY_FIELD_GRPC_MESSAGE 77u
#define EDDY_FIELD_GRPC_TIMEOUT 78u
#define EDDY_FIELD_X_FORWARDED 254u /* an unknown name that begins with x-forwarded- */
#define EDDY_FIELD_ALIAS 255u /* a name that some programs take for a known one, such as content_length: not sent on */

#ifdef __cplusplus
}
#endif

#endif /* EDDY_FILTER_H */
