/* As much of proxy-wasm 0.2.1 as the filters in this folder use, for a compiler without a C library. */
#ifndef EXAMPLE_PROXY_WASM_H
#define EXAMPLE_PROXY_WASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT(name) __attribute__((import_module("env"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

enum status { OK = 0, NOT_FOUND = 1 };
enum action { CONTINUE = 0, PAUSE = 1 };
enum map { REQUEST_HEADERS = 0, RESPONSE_HEADERS = 2 };
enum buffer { RESPONSE_BODY = 1, PLUGIN_CONFIGURATION = 7 };
enum level { LEVEL_ERROR = 4 };

/* Bytes of the module's memory. */
struct text {
  const char *data;
  size_t len;
};

/* A text of a literal. */
#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

IMPORT("proxy_log") int32_t proxy_log(int32_t level, const char *text, size_t len);
IMPORT("proxy_get_header_map_value")
int32_t proxy_get_header_map_value(int32_t map, const char *name, size_t name_len, const char **value, size_t *value_len);
IMPORT("proxy_replace_header_map_value")
int32_t proxy_replace_header_map_value(int32_t map, const char *name, size_t name_len, const char *value, size_t value_len);
IMPORT("proxy_remove_header_map_value")
int32_t proxy_remove_header_map_value(int32_t map, const char *name, size_t name_len);
IMPORT("proxy_get_buffer_bytes")
int32_t proxy_get_buffer_bytes(int32_t buffer, size_t start, size_t max, const char **bytes, size_t *len);
IMPORT("proxy_set_buffer_bytes")
int32_t proxy_set_buffer_bytes(int32_t buffer, size_t start, size_t size, const char *bytes, size_t len);
IMPORT("proxy_get_property")
int32_t proxy_get_property(const char *path, size_t path_len, const char **value, size_t *value_len);
IMPORT("proxy_send_local_response")
int32_t proxy_send_local_response(uint32_t status, const char *details, size_t details_len, const char *body, size_t body_len,
                                  const char *fields, size_t fields_len, int32_t grpc_status);

/* Room for `size` bytes until `release`, or null where there is no more memory. What the host gives lies there, too. */
void *room(size_t size);
/* Gives back all room: call it first in every callback, as nothing of an earlier one is used any more. */
void release(void);

bool is_equal(struct text one, struct text other);
/* Where `what` begins in `text` from `from` on, or the length of `text`. */
size_t find(struct text text, size_t from, struct text what);
/* The first value of a field, or an empty text. */
struct text field(enum map map, struct text name);
/* The value of a property, whose path has a NUL between its parts, or an empty text. */
struct text property(struct text path);
/* The bytes of a buffer, or none. */
struct text bytes_of(enum buffer buffer, size_t size);
/* Copies bytes; gives the place behind them. */
char *put(char *to, struct text text);
/* Says what is wrong; for a configuration that is refused. */
bool refuse(struct text why);

#endif
