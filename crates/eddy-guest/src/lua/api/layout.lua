-- Structures and functions of the host; `shown.rs` and `asked.rs` have the same definitions in Rust. `internal` has the
-- constants of `numbers.rs` already.

local internal, address = ...
local ffi = ffi

ffi.cdef [[
  typedef struct { uint32_t start, stop; } eddy_span;
  typedef struct __attribute__((aligned(4))) {
    eddy_span name, value;
    uint8_t id, is_nominated, is_own;
  } eddy_field;
  typedef struct { const uint8_t *bytes; const eddy_field *fields; uint32_t len, bytes_len; } eddy_fields;
  typedef struct { const uint8_t *data; uint32_t len, reserved; } eddy_text;
  typedef struct {
    uint32_t scope, piece, changes, status;
    uint8_t way;
    bool is_end, is_open;
    uint8_t body_seen;
    bool has_piece;
    uint8_t reserved[3];
    eddy_fields head, trailers;
    eddy_text method, target, authority, scheme, body, answer;
    double number;
    eddy_fields reply;
    eddy_text reply_body;
    uint32_t reply_status, reserved2;
    eddy_fields request;
  } eddy_shown;
  typedef struct {
    void *stage;
    const eddy_shown *shown;
    int32_t (*find)(const eddy_fields *, const char *, uint32_t, uint32_t);
    int32_t (*edit)(void *, uint32_t, const char *, uint32_t, const char *, uint32_t, uint32_t);
    void (*log)(void *, uint32_t, const char *, uint32_t);
    int32_t (*ask)(void *, uint32_t, const char *, uint32_t, const char *, uint32_t, double, double, double);
    double (*now_us)(void);
    uint32_t (*count)(const eddy_fields *, const char *, uint32_t);
    bool mentions_body;
  } eddy_functions;
]]

local functions = ffi.cast("const eddy_functions *", address)
internal.stage = functions.stage
internal.shown = functions.shown
internal.find = functions.find
internal.edit = functions.edit
internal.log = functions.log
internal.ask = functions.ask
internal.now_us = functions.now_us
internal.count = functions.count
internal.mentions_body = functions.mentions_body
internal.SCOPE = "object used outside of proper scope"

local ANSWER = internal.ANSWER
local NOTHING, REFUSED = ANSWER.NOTHING, ANSWER.REFUSED

local shown, string_of = internal.shown, ffi.string

-- Returns the last answer of the host.
local answered = shown.answer
function internal.answer()
  return string_of(answered.data, answered.len)
end

-- Raises an error at the innermost line of the script, regardless of the host functions in between.
local error, pcall, sub = error, pcall, string.sub
local function raise(message)
  for level = 3, 20 do
    local _, where = pcall(error, "", level)
    if where ~= "" and sub(where, 1, 7) ~= "(eddy):" then error(where .. message, 0) end
  end
  error(message, 0)
end
internal.raise = raise

-- Returns a text passed by a script.
local tostring, type = tostring, type
function internal.text_of(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" then return tostring(value) end
  raise("string expected, got " .. (value == nil and "no value" or kind))
end

-- Calls the host and raises its error, if any.
local ask, stage = internal.ask, internal.stage
function internal.question(what, first, second, a, b, c)
  local kind = ask(stage, what, first, #first, second, #second, a, b, c)
  if kind == REFUSED then raise(string_of(answered.data, answered.len)) end
  return kind
end

-- Applies an edit, or raises the reason why it is refused.
local edit = internal.edit
function internal.change(op, name, value, number)
  if edit(stage, op, name, #name, value, #value, number) ~= NOTHING then
    raise(string_of(answered.data, answered.len))
  end
end
