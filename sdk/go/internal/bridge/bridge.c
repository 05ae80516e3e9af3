/* C side of the bridge: the table for the host, and thin wrappers around Go functions. */
#include "bridge.h"

#include <stdlib.h>

#include "_cgo_export.h"

const eddy_host *eddy_bridge_host;

static eddy_library library;

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  return eddyGoFilterNew((void *)name.data, name.len, (void *)config.data, config.len, id, info, error);
}

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  return eddyGoConfigNew(filter, (void *)config.data, config.len, out, error);
}

static void config_free(uint64_t filter, uint64_t config) { eddyGoConfigFree(filter, config); }

static void filter_free(uint64_t filter) { eddyGoFilterFree(filter); }

static void run(eddy_call *call) { eddyGoRun(call); }

static void event(const eddy_event *event) { eddyGoEvent((void *)event); }

static void stop(void) { eddyGoStop(); }

/* Logs why the library does not support a host, if the host is new enough for that. */
static const eddy_library *refuse(const eddy_host *host, const char *why) {
  size_t len = 0;
  while (why[len] != 0) len++;
  if (host->size >= offsetof(eddy_host, log) + sizeof(host->log)) {
    host->log(0, EDDY_ERROR, (const uint8_t *)why, len);
  }
  return NULL;
}

__attribute__((visibility("default"))) const eddy_library *eddy_library_open(const eddy_host *host) {
  if (host->abi != EDDY_ABI) return refuse(host, "the Go library speaks version 1 of the filter interface only");
  /* Newer members are checked where they are used. */
  if (host->size < offsetof(eddy_host, memory_soft_bytes)) return refuse(host, "the gateway is older than the SDK of the Go library");
  if (eddy_bridge_host != NULL && eddy_bridge_host != host) return refuse(host, "the Go library is open already");
  eddy_bridge_host = host;
  library.abi = EDDY_ABI;
  library.size = sizeof(library);
  library.filter_new = filter_new;
  library.config_new = config_new;
  library.config_free = config_free;
  library.filter_free = filter_free;
  library.run = run;
  library.event = event;
  library.stop = stop;
  library.flags = 0; /* not EDDY_LIBRARY_ASKS_ABOUT: hooks may read the facts in other goroutines */
  if (eddyGoOpen(&library) != 0) return NULL;
  return &library;
}

int32_t eddy_bridge_send(uint32_t filter, uint64_t token, uint64_t exchange, uint32_t timeout_ms, const uint8_t *bytes,
                         const uint64_t *lens, uint32_t fields_len) {
  eddy_text *texts = calloc(5 + 2 * (size_t)fields_len, sizeof(eddy_text));
  if (texts == NULL) return EDDY_FULL;
  for (size_t i = 0; i < 5 + 2 * (size_t)fields_len; i++) {
    texts[i].data = bytes;
    texts[i].len = lens[i];
    bytes += lens[i];
  }
  eddy_outbound request = {
      .size = sizeof(request),
      .filter = filter,
      .token = token,
      .exchange = exchange,
      .cluster = texts[0],
      .method = texts[1],
      .target = texts[2],
      .authority = texts[3],
      .fields = texts + 5,
      .fields_len = fields_len,
      .timeout_ms = timeout_ms,
      .body = texts[4],
  };
  int32_t result = eddy_bridge_host->send(&request);
  free(texts);
  return result;
}
