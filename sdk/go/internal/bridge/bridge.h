/* Declarations shared by the C and the Go side of the bridge. */
#ifndef EDDY_BRIDGE_H
#define EDDY_BRIDGE_H

#include <stddef.h>

#include "eddy_filter.h"

#define EDDY_BRIDGE_HIDDEN __attribute__((visibility("hidden")))

/* Host that opened the library; null before. */
extern const eddy_host *eddy_bridge_host EDDY_BRIDGE_HIDDEN;

/* Sends a request whose texts are concatenated in `bytes`, with the lengths `lens`: cluster, method, target, authority
 * and body, then alternating names and values. */
EDDY_BRIDGE_HIDDEN int32_t eddy_bridge_send(uint32_t filter, uint64_t token, uint64_t exchange, uint32_t timeout_ms,
                                            const uint8_t *bytes, const uint64_t *lens, uint32_t fields_len);

static inline int32_t eddy_bridge_resume(uint64_t exchange, uint32_t turn, uint32_t verdict, const uint8_t *edits,
                                         uint32_t edits_len) {
  return eddy_bridge_host->resume(exchange, turn, verdict, edits, edits_len);
}

static inline int32_t eddy_bridge_edits_grow(void *call, uint32_t more) {
  return eddy_bridge_host->edits_grow(call, more);
}

static inline int32_t eddy_bridge_log(uint32_t filter, uint32_t level, const uint8_t *text, size_t len) {
  return eddy_bridge_host->log(filter, level, text, len);
}

static inline int32_t eddy_bridge_metric(uint32_t filter, uint32_t kind, const uint8_t *name, size_t name_len,
                                         const uint64_t *bounds, uint32_t bounds_len, void *out) {
  return eddy_bridge_host->metric(filter, kind, name, name_len, bounds, bounds_len, out);
}

/* Memory limit of the host; 0 if it is too old to have one. */
static inline uint64_t eddy_bridge_memory_soft(void) {
  const size_t known = offsetof(eddy_host, memory_soft_bytes) + sizeof eddy_bridge_host->memory_soft_bytes;
  return eddy_bridge_host->size >= known ? eddy_bridge_host->memory_soft_bytes : 0;
}

static inline int32_t eddy_bridge_cancel(uint32_t filter, uint64_t token) {
  return eddy_bridge_host->cancel(filter, token);
}

#endif /* EDDY_BRIDGE_H */
