/* Tells the endpoint in a header whose an order is, as its message says: the configuration has the field under `fields`,
 * by the key `tenant`. */
#include <eddy_fields.h>

#include "../guest.h"

static const eddy_host *host;

static int32_t filter_new(eddy_text name, eddy_text config, uint32_t id, eddy_filter_info *info, eddy_text *error) {
  (void)name, (void)config, (void)id, (void)error;
  info->interest = 1u << EDDY_REQUEST_HEAD | 1u << EDDY_REQUEST_BODY;
  info->flags = EDDY_FILTER_READS_BODY;
  info->filter = 1;
  return EDDY_OK;
}

static int32_t config_new(uint64_t filter, eddy_text config, uint64_t *out, eddy_text *error) {
  (void)config, (void)error;
  *out = filter;
  return EDDY_OK;
}

static void config_free(uint64_t filter, uint64_t config) { (void)filter, (void)config; }
static void filter_free(uint64_t filter) { (void)filter; }
static void event(const eddy_event *event) { (void)event; }

static uint8_t enter(eddy_call *call, const eddy_step *step, uint32_t index) {
  (void)step;
  if (call->phase == EDDY_REQUEST_HEAD) {
    return (call->flags & EDDY_CALL_END) != 0 ? EDDY_CONTINUE : EDDY_BUFFER;
  }
  eddy_text tenant;
  if (call->phase != EDDY_REQUEST_BODY || !eddy_field_bytes(call, TEXT("tenant"), &tenant)) {
    return EDDY_CONTINUE;
  }
  const uint32_t before = call->edits_len;
  const eddy_edit edit = {.op = EDDY_EDIT_SET, .step = (uint16_t)index};
  if (append_edit(host, call, edit, TEXT("x-tenant-c"), tenant)) {
    return EDDY_CONTINUE;
  }
  return fail(host, call, index, before, TEXT("there is no room for the edit"));
}

static void run(eddy_call *call) { enter_steps(call, enter); }

const eddy_library *eddy_library_open(const eddy_host *offered) {
  static eddy_text names[1];
  static eddy_library library;
  if (!is_host_known(offered)) {
    return NULL;
  }
  host = offered;
  names[0] = TEXT("field");
  library = (eddy_library){
      .abi = EDDY_ABI,
      .size = sizeof(eddy_library),
      .sdk = TEXT("none"),
      .toolchain = TEXT(TOOLCHAIN),
      .filters = names,
      .filters_len = 1,
      .filter_new = filter_new,
      .config_new = config_new,
      .config_free = config_free,
      .filter_free = filter_free,
      .run = run,
      .event = event,
  };
  return &library;
}
