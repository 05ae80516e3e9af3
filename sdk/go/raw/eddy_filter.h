/*
 * eddy_filter.h: the filter ABI, version 1, between eddy (the host) and a filter library (the guest).
 *
 * The host calls a guest once per phase for all of its filters that are neighbours in a chain. The guest reads the
 * message in place, in memory of the host, and returns a verdict per filter and one list of edits, which the host
 * validates and applies after the guest has returned. abi/README.md describes the ABI in full; abi/vectors has test
 * cases with the same result for every guest.
 *
 * Memory. Data that the host points to belongs to the host and is valid until the called function returns, unless
 * documented otherwise. A guest copies data that it needs longer. Data that a guest passes to a host function is
 * copied before that function returns. The host keeps no pointers of the guest, except those in `eddy_library`.
 *
 * Threads. `run` is called on the thread of a worker, and on several workers concurrently; an exchange stays on its
 * worker. `filter_new`, `config_new`, both `_free` functions and `stop` are called on one control thread, one at a
 * time. Host functions may be called from any thread, unless documented otherwise.
 *
 * Compatibility. Structures only grow at their end; `size` is the size that the other side knows. `abi` changes only
 * with other changes. Unknown bits are ignored, unknown numbers are refused.
 */
#ifndef EDDY_FILTER_H
#define EDDY_FILTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EDDY_ABI 1u

/* A byte string without a terminating NUL. The pointer of an empty one may be null. */
typedef struct eddy_text {
  const uint8_t *data;
  size_t len;
} eddy_text;

/* A byte range of a head, from `start` up to but not including `end`. Empty if end <= start. */
typedef struct eddy_span {
  uint32_t start;
  uint32_t end;
} eddy_span;

/* A field of a head or trailer section. */
typedef struct eddy_field {
  eddy_span name;  /* as received; any letter case with HTTP/1 */
  eddy_span value; /* without surrounding white space */
  uint8_t id;      /* EDDY_FIELD_*; for unknown names 0, EDDY_FIELD_X_FORWARDED or EDDY_FIELD_ALIAS */
  uint8_t flags;   /* EDDY_FIELD_NOMINATED */
  uint16_t reserved;
} eddy_field;

#define EDDY_FIELD_NOMINATED 1u /* hop-by-hop by the Connection header of the message: not forwarded */

/* A head or trailer section: its bytes, and its fields in the order received. */
typedef struct eddy_head {
  const uint8_t *bytes;
  const eddy_field *fields;
  uint32_t bytes_len;
  uint32_t fields_len;
} eddy_head;

/* Phase of an exchange. The bit of a phase in an interest mask is 1 << phase. */
enum eddy_phase {
  EDDY_REQUEST_HEAD = 0,
  EDDY_REQUEST_BODY = 1,     /* a piece, or the whole body after EDDY_BUFFER */
  EDDY_REQUEST_TRAILERS = 2, /* only if there are trailers */
  EDDY_RESPONSE_HEAD = 3,    /* the final response, of the endpoint or a local reply */
  EDDY_RESPONSE_BODY = 4,
  EDDY_RESPONSE_TRAILERS = 5,
  EDDY_LOG = 6, /* the exchange has ended, both heads are still readable; verdicts and edits are ignored */
  EDDY_END = 7  /* not a separate call: the entry of the exchange in `eddy_call.ended` */
};

/* Verdict of a filter in a phase. */
enum eddy_verdict {
  EDDY_CONTINUE = 0,
  EDDY_REPLY = 1,  /* send the reply of the EDDY_EDIT_REPLY edits; later filters are not called */
  EDDY_PAUSE = 2,  /* the message waits at this filter until `resume` is called or a deadline passes */
  EDDY_BUFFER = 3, /* head phases: buffer the whole body, call the body phase with it, then continue with head and
                      body. Body phases: the same, from this piece on. At the end of a message: continue. */
  EDDY_FAULT = 4,  /* the filter failed, for the reason in EDDY_EDIT_FAULT; its failure policy applies */
  EDDY_RESET = 5   /* end the exchange without a response, or without the rest of it */
};

/* An edit of the message, or a reply. The edits of a call are consecutive records: this structure, then `name_len`
 * bytes of name, then `value_len` bytes of value, padded with zero bytes to a multiple of 8.
 * The host validates names and values of fields like those of a peer. A refused edit (control byte, framing or
 * hop-by-hop header, limit exceeded) is a fault of the filter. */
typedef struct eddy_edit {
  uint16_t op;
  uint16_t step; /* index in `eddy_call.steps` of the filter that makes the edit */
  uint32_t name_len;
  uint32_t value_len;
  uint32_t number;
} eddy_edit;

enum eddy_edit_op {
  EDDY_EDIT_SET = 1,    /* field: replaces all fields of this name by one */
  EDDY_EDIT_ADD = 2,    /* field: adds one */
  EDDY_EDIT_REMOVE = 3, /* field: removes all of this name */
  EDDY_EDIT_METHOD = 4,    /* request head: value */
  EDDY_EDIT_TARGET = 5,    /* request head: value is path and query; sent normalised instead of the rule's rewrite */
  EDDY_EDIT_AUTHORITY = 6, /* request head: value is the host or host:port to send */
  EDDY_EDIT_STATUS = 7,    /* response head: number */
  EDDY_EDIT_BODY_SET = 8,     /* body phases: value replaces the piece (or the whole body, after EDDY_BUFFER) */
  EDDY_EDIT_BODY_APPEND = 9,  /* body phases: appends value */
  EDDY_EDIT_BODY_PREPEND = 10, /* body phases: prepends value */
  EDDY_EDIT_BODY_DRAIN = 11,   /* body phases: removes the first `number` bytes */
  EDDY_EDIT_REPLY = 12,        /* number: status 200 to 599; value: body; name: details for the access log */
  EDDY_EDIT_REPLY_FIELD = 13,  /* header of the reply; repeatable */
  EDDY_EDIT_METADATA = 14,     /* name: namespace NUL key; value: JSON; an empty value removes the key */
  EDDY_EDIT_CLEAR_ROUTE = 15,  /* request head: select the rule again before the request is forwarded */
  EDDY_EDIT_ENDPOINT = 16,     /* request phases: value is the endpoint address to use; number 1: no other one */
  EDDY_EDIT_FAULT = 17,        /* value: error message for the log */
  EDDY_EDIT_REPLY_GRPC = 18,   /* number: grpc-status of the reply, if the request is gRPC */
  EDDY_EDIT_TRAILER = 19       /* body phases with EDDY_CALL_END: trailers for a message without; number: EDDY_EDIT_SET,
                                  EDDY_EDIT_ADD or EDDY_EDIT_REMOVE */
};

/* A filter to call. */
typedef struct eddy_step {
  uint64_t filter; /* in: number returned by `filter_new` */
  uint64_t config; /* in: number returned by `config_new` for the rule; 0 if the rule has no configuration */
  uint64_t state;  /* in, out: value of the guest for this filter and exchange, initially 0. If it is not 0 when the
                      exchange ends, `ended` reports it once. */
  uint32_t id;     /* in: filter number of the host, for host functions */
  uint32_t nanos;  /* out: time spent in the filter, if EDDY_CALL_SAMPLED */
  uint8_t verdict; /* out */
  uint8_t flags;   /* in: EDDY_STEP_* */
  uint16_t reserved;
  uint32_t reserved2;
} eddy_step;

/* Metadata of the exchange, shared by all filters of the chain. */
typedef struct eddy_pair {
  eddy_text space;
  eddy_text key;
  eddy_text value; /* JSON */
} eddy_pair;

/* Facts about the exchange. A text that is unknown, or not known yet, is empty. */
typedef struct eddy_about {
  eddy_text peer;       /* client address, "192.0.2.1:4711" or "[2001:db8::1]:4711", "unix" */
  eddy_text local;      /* local address of the client connection */
  eddy_text listener;   /* name */
  eddy_text rule;       /* name of the selected rule; empty at the demo endpoint */
  eddy_text cluster;    /* name of the rule's cluster */
  eddy_text endpoint;   /* address, once it has responded */
  eddy_text request_id; /* if the listener has request IDs */
  eddy_text details;    /* reason of a local reply, as in the access log */
  const eddy_pair *metadata;
  uint64_t metadata_len;
  uint64_t started_unix_us; /* when the request head was complete */
  uint64_t duration_us;     /* since then, in EDDY_LOG; otherwise 0 */
  uint64_t connection;      /* number of the client connection in this worker */
  uint64_t request_bytes;   /* body bytes so far */
  uint64_t response_bytes;  /* body bytes so far */
  uint32_t attempts;        /* endpoints tried */
  uint32_t reserved;
} eddy_about;

/* An ended exchange, for a filter that has state for it. */
typedef struct eddy_ended {
  uint64_t filter;
  uint64_t state;
  uint32_t reason; /* enum eddy_end_reason */
  uint32_t reserved;
} eddy_ended;

enum eddy_end_reason {
  EDDY_END_COMPLETE = 0, /* the response was sent completely */
  EDDY_END_CUT = 1       /* disconnect of either side, timeout, or fault */
};

/* A crossing. The host writes all members not marked "out". */
typedef struct eddy_call {
  uint32_t abi;
  uint32_t size;
  uint16_t worker;
  uint16_t status;  /* of the response, from EDDY_RESPONSE_HEAD on */
  uint8_t phase;    /* enum eddy_phase; 255: none, only `ended` is set */
  uint8_t flags;    /* EDDY_CALL_* */
  uint8_t version;  /* of the request: 10, 11, 20 or 30 */
  uint8_t method;   /* EDDY_METHOD_*; the name is in `method_name` */
  uint64_t exchange; /* handle for `resume`; never reused for another exchange */
  uint32_t turn;     /* number of this crossing, for `resume` */
  uint32_t steps_len;
  eddy_step *steps;  /* to call in this order */
  eddy_head request;
  eddy_head response; /* from EDDY_RESPONSE_HEAD on */
  eddy_head trailers; /* in trailer phases */
  eddy_text method_name;
  eddy_text target;    /* path and query, as edited by earlier filters, otherwise as received */
  eddy_text authority; /* host or host:port; empty if an HTTP/1.0 client sent none */
  eddy_text scheme;    /* "http" or "https" */
  eddy_text body;      /* in body phases */
  const eddy_about *about; /* null until `eddy_host.about` is called, if EDDY_LIBRARY_ASKS_ABOUT */
  uint8_t *edits;      /* buffer for edits */
  uint32_t edits_cap;
  uint32_t edits_len;  /* out */
  const eddy_ended *ended; /* ended exchanges, which the guest handles before the steps */
  uint32_t ended_len;
  uint32_t stopped;        /* out: index of the step whose verdict is not EDDY_CONTINUE; steps_len if there is none */
  volatile uint32_t *current; /* the guest writes the `id` of each filter before calling it, and 0 at the end */
} eddy_call;

#define EDDY_CALL_END 1u     /* nothing follows in this direction: no body, its last piece, or the trailers */
#define EDDY_CALL_SAMPLED 2u /* the guest sets `nanos` */
#define EDDY_CALL_LOCAL 4u   /* the response is a local reply */
#define EDDY_CALL_BUFFERED 8u /* `body` is the whole body */
#define EDDY_CALL_TLS 16u    /* the client uses TLS */

#define EDDY_STEP_BLOCKING 1u /* configured with `blocking: true`: do not call the filter on this thread */

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

/* Results of host functions. */
enum eddy_result {
  EDDY_OK = 0,
  EDDY_GONE = -1,      /* the exchange has ended */
  EDDY_STALE = -2,     /* it is not paused for this turn: resumed, answered, or timed out */
  EDDY_TOO_LARGE = -3, /* limit exceeded */
  EDDY_FULL = -4,      /* a queue or table is full */
  EDDY_INVALID = -5,   /* an argument is invalid; the log names it */
  EDDY_UNKNOWN = -6    /* the cluster, filter or call does not exist */
};

enum eddy_level { EDDY_TRACE = 0, EDDY_DEBUG = 1, EDDY_INFO = 2, EDDY_WARN = 3, EDDY_ERROR = 4, EDDY_OFF = 5 };

enum eddy_metric_kind { EDDY_COUNTER = 0, EDDY_GAUGE = 1, EDDY_HISTOGRAM = 2 };

/* Cells of a metric. A worker adds to the lane of its own number, any other thread to the last lane (number
 * `eddy_host.workers`). Lane L begins at cells[L * stride]. A counter and a gauge (signed) have one cell; a histogram
 * has bounds_len + 1 cells for counts (the first one whose bound is not below the value, the last one for larger
 * values), then one for the sum. Add to cells atomically, with relaxed ordering. They live as long as the process. */
typedef struct eddy_metric {
  uint64_t *cells;
  uint32_t stride;
  uint32_t reserved;
} eddy_metric;

/* An HTTP request of a filter to a cluster of eddy. */
typedef struct eddy_outbound {
  uint32_t size;
  uint32_t filter;     /* filter number of the host */
  uint64_t token;      /* returned in the event */
  uint64_t exchange;   /* its exchange: when that ends, the request is cancelled. 0: none */
  eddy_text cluster;
  eddy_text method;
  eddy_text target;    /* path and query */
  eddy_text authority; /* empty: the name of the cluster */
  const eddy_text *fields; /* names and values alternate: 2 * fields_len texts */
  uint32_t fields_len;
  uint32_t timeout_ms; /* 0: 5,000 */
  eddy_text body;
} eddy_outbound;

enum eddy_event_kind {
  EDDY_EVENT_RESPONSE = 1, /* the response to an outbound request is complete */
  EDDY_EVENT_FAILED = 2    /* there is none; `body` is a word for the reason */
};

/* An event for a guest, reported on the thread of a worker. The handler must return quickly. */
typedef struct eddy_event {
  uint32_t size;
  uint32_t kind;
  uint64_t token;
  uint32_t filter; /* filter number of the host */
  uint16_t worker;
  uint16_t status;
  eddy_head head;
  eddy_text body;
} eddy_event;

/* Functions of the host. Lives as long as the process. */
typedef struct eddy_host {
  uint32_t abi;
  uint32_t size;
  uint32_t workers;
  uint32_t level; /* minimum level that is logged, at the time of opening */

  /* Resumes a paused exchange: `verdict` is EDDY_CONTINUE, EDDY_REPLY, EDDY_FAULT, EDDY_RESET or (if the head phase
   * paused) EDDY_BUFFER; the edits are like those of the call with this turn. Any thread; takes a short lock. EDDY_OK
   * means that the worker was notified; of several calls, all but the first are dropped and counted.
   * In body phases, EDDY_PAUSE sends the data of EDDY_EDIT_BODY_APPEND edits in front of the piece, and the message
   * stays paused: the deadline begins anew, and `resume` with the same turn is possible again. It returns EDDY_FULL
   * until the client or endpoint has taken that data. */
  int32_t (*resume)(uint64_t exchange, uint32_t turn, uint32_t verdict, const uint8_t *edits, uint32_t edits_len);

  /* Makes room for `more` bytes of edits after `edits_len`, at most 16 MiB in total; updates edits and edits_cap of
   * the call. Only on the thread of the call, and during it. EDDY_TOO_LARGE: nothing was changed. */
  int32_t (*edits_grow)(eddy_call *call, uint32_t more);

  /* Logs a message; more than 1,000 per second and filter are dropped and counted. */
  int32_t (*log)(uint32_t filter, uint32_t level, const uint8_t *text, size_t len);

  /* Defines a metric, exported as eddy_filter_NAME{filter="..."}; the name has letters, digits and _, up to 1 KiB. At
   * most 16 labels may follow it: NAME;KEY=VALUE;KEY=VALUE. At most 1,024 per filter, where each combination of labels
   * counts. The same name and labels return the same cells. `bounds`: ascending, at most 32, for histograms. Filter 0
   * is the library itself, exported as eddy_library_NAME. */
  int32_t (*metric)(uint32_t filter, uint32_t kind, const uint8_t *name, size_t name_len, const uint64_t *bounds,
                    uint32_t bounds_len, eddy_metric *out);

  /* Sends a request to a cluster; `event` reports its result. */
  int32_t (*send)(const eddy_outbound *request);

  /* Cancels such a request; there is no event for it after this has returned EDDY_OK. */
  int32_t (*cancel)(uint32_t filter, uint64_t token);

  /* Soft memory limit for a language runtime in the library; 0: none. */
  uint64_t memory_soft_bytes;

  /* Sets `about` of the call, if it is null. Only on the thread of the call, and during it. */
  int32_t (*about)(eddy_call *call);
} eddy_host;

/* Properties of a configured filter. */
typedef struct eddy_filter_info {
  uint32_t size;
  uint32_t interest;   /* phases in which it is called: bits 1 << phase */
  uint64_t filter;     /* number of the guest, not 0; passed back in eddy_step.filter */
  uint32_t flags;      /* EDDY_FILTER_* */
  uint32_t reserved;
} eddy_filter_info;

#define EDDY_FILTER_READS_BODY 1u /* does not change the length of bodies: their framing is kept */
/* Its body hooks are meant for the data of protocol upgrades and CONNECT, too. The host does not pass that data through
 * filters: under rules in which the filter runs, there are no such tunnels. */
#define EDDY_FILTER_EXPECTS_TUNNELS 2u

/* Functions of a guest. Lives as long as the process. */
typedef struct eddy_library {
  uint32_t abi;
  uint32_t size;
  eddy_text sdk;       /* name and version of the SDK, "eddy-sdk-go 0.1.0" */
  eddy_text toolchain; /* "go1.26.8", "rustc 1.95.0", "gcc 12.2.0"; may be empty */
  const eddy_text *filters; /* names of the library's filters */
  uint64_t filters_len;

  /* Creates a filter from its configuration, a JSON text ("null" if there is none). Returns EDDY_OK; otherwise an error
   * message of at most `error->len` bytes is written to `error->data`, and its length to `error->len`. */
  int32_t (*filter_new)(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error);

  /* Creates the configuration of a rule for a filter, which may merge it with its own; the number written to `out` is
   * not 0. Errors as above. */
  int32_t (*config_new)(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error);

  /* No exchange uses it any more. */
  void (*config_free)(uint64_t filter, uint64_t config);
  void (*filter_free)(uint64_t filter);

  void (*run)(eddy_call *call);
  void (*event)(const eddy_event *event);

  /* The process is ending. May be null. */
  void (*stop)(void);

  uint32_t flags; /* EDDY_LIBRARY_* */
  uint32_t reserved;
} eddy_library;

#define EDDY_LIBRARY_ASKS_ABOUT 1u /* asks for `eddy_call.about`, on the thread of the call, when a filter needs it */

/* The only symbol that a library exports. Called once, before all other functions. Null means that it does not support
 * this host; it has then logged the reason with `host->log` and filter 0. */
typedef const eddy_library *(*eddy_library_open_fn)(const eddy_host *host);
#if defined(_WIN32)
#error "eddy runs on Linux"
#endif
extern const eddy_library *eddy_library_open(const eddy_host *host) __attribute__((visibility("default")));

/* Well-known fields: `eddy_field.id`. New ones are appended. */
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
#define EDDY_FIELD_X_FORWARDED 254u /* unknown name that begins with x-forwarded- */
#define EDDY_FIELD_ALIAS 255u /* name that some programs read as a known one, such as content_length: not forwarded */

#ifdef __cplusplus
}
#endif

#endif /* EDDY_FILTER_H */
