/* Tells the endpoint in a header whose an order is, as its message says: the configuration has the field under `fields`, by
 * the key `tenant`, and eddy shows it as a property. The message is not decoded. */
#include "proxy_wasm.h"

EXPORT("proxy_on_configure") bool proxy_on_configure(uint32_t plugin, size_t size) {
  (void)plugin, (void)size;
  return true;
}

EXPORT("proxy_on_request_headers") int32_t proxy_on_request_headers(uint32_t stream, uint32_t count, uint32_t is_end) {
  (void)stream, (void)count;
  release();
  /* The head waits for the body, so that it can still be changed. */
  return is_end ? CONTINUE : PAUSE;
}

EXPORT("proxy_on_request_body") int32_t proxy_on_request_body(uint32_t stream, size_t size, uint32_t is_end) {
  (void)stream, (void)size;
  release();
  if (!is_end) {
    return PAUSE;
  }
  const struct text tenant = property(TEXT("eddy\0field\0tenant")), name = TEXT("x-tenant-wasm");
  if (tenant.len > 0) {
    (void)proxy_replace_header_map_value(REQUEST_HEADERS, name.data, name.len, tenant.data, tenant.len);
  }
  return CONTINUE;
}
