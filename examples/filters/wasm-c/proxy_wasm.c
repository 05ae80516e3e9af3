/* Memory and what else every filter needs. */
#include "proxy_wasm.h"

/* Where the linker says that nothing of the program lies any more. */
extern unsigned char __heap_base;

static uintptr_t used;

enum { PAGE = 65536, ROOM_MAX = 1 << 28 };

EXPORT("proxy_abi_version_0_2_1") void proxy_abi_version_0_2_1(void) {}

EXPORT("proxy_on_memory_allocate") void *room(size_t size) {
  if (used == 0) {
    release();
  }
  if (size > ROOM_MAX) {
    return NULL;
  }
  const uintptr_t at = used, end = at + ((size + 15u) & ~(size_t)15u);
  const uintptr_t there = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
  if (end > there && __builtin_wasm_memory_grow(0, (end - there + PAGE - 1) / PAGE) == (size_t)-1) {
    return NULL;
  }
  used = end;
  return (void *)at;
}

void release(void) { used = ((uintptr_t)&__heap_base + 15u) & ~(uintptr_t)15u; }

bool is_equal(struct text one, struct text other) {
  /* In a time that tells nothing but the lengths. */
  unsigned char difference = 0;
  for (size_t i = 0; i < one.len && i < other.len; i++) {
    difference |= (unsigned char)(one.data[i] ^ other.data[i]);
  }
  return one.len == other.len && difference == 0;
}

size_t find(struct text text, size_t from, struct text what) {
  for (size_t at = from; at + what.len <= text.len; at++) {
    if (text.data[at] == what.data[0] && is_equal((struct text){text.data + at, what.len}, what)) {
      return at;
    }
  }
  return text.len;
}

struct text field(enum map map, struct text name) {
  struct text value = {NULL, 0};
  const int32_t status = proxy_get_header_map_value((int32_t)map, name.data, name.len, &value.data, &value.len);
  return status == OK ? value : TEXT("");
}

struct text property(struct text path) {
  struct text value = {NULL, 0};
  const int32_t status = proxy_get_property(path.data, path.len, &value.data, &value.len);
  return status == OK ? value : TEXT("");
}

struct text bytes_of(enum buffer buffer, size_t size) {
  struct text bytes = {NULL, 0};
  const int32_t status = proxy_get_buffer_bytes((int32_t)buffer, 0, size, &bytes.data, &bytes.len);
  return status == OK ? bytes : TEXT("");
}

char *put(char *to, struct text text) {
  __builtin_memcpy(to, text.data, text.len);
  return to + text.len;
}

bool refuse(struct text why) {
  (void)proxy_log(LEVEL_ERROR, why.data, why.len);
  return false;
}
