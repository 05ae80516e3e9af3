-- Body access: the whole body, or one piece at a time.

local internal = ...
local ffi, setmetatable, tonumber = ffi, setmetatable, tonumber
local shown, change, text_of = internal.shown, internal.change, internal.text_of
local question, answer, raise, SCOPE = internal.question, internal.answer, internal.raise, internal.SCOPE
local gmatch, type = string.gmatch, type
local body, string_of = shown.body, ffi.string

local CALL, EDIT, HOOK, SEEN = internal.CALL, internal.EDIT, internal.HOOK, internal.SEEN
local FIELD, BODY_SET, NO_ANSWER = CALL.FIELD, EDIT.BODY_SET, internal.ANSWER.NOTHING
local NOTHING, WHOLE, PIECES = SEEN.NOTHING, SEEN.WHOLE, SEEN.PIECES
local WAIT_BODY, WAIT_PIECE, WAIT_TRAILERS = HOOK.BODY, HOOK.PIECE, HOOK.TRAILERS

local methods = {}

local function check(self)
  if self[1] ~= shown.scope or self[2] ~= shown.piece then raise(SCOPE) end
end

function methods.length(self)
  check(self)
  return body.len
end

function methods.getBytes(self, index, length)
  check(self)
  index, length = tonumber(index), tonumber(length)
  if not index or not length then raise("number expected") end
  if index < 0 or length < 0 or index + length > body.len then
    raise("index/length must be >= 0 and (index + length) must be <= buffer size")
  end
  return string_of(body.data + index, length)
end

function methods.setBytes(self, bytes)
  check(self)
  if not shown.has_piece then raise("there is no body to set") end
  change(BODY_SET, "", text_of(bytes), 0)
  internal.set_in = shown.scope
  return body.len
end

-- Returns the positions of the values of a message field, as a text of pairs; empty if the field is absent.
local function places_of(self, key)
  check(self)
  if shown.body_seen == PIECES then raise("message fields need the whole body: call body() instead of bodyChunks()") end
  if internal.set_in == shown.scope then raise("a body that was set has no message fields") end
  return question(FIELD, text_of(key) .. "_at", "", 0, 0, 0) ~= NO_ANSWER and answer() or ""
end

-- Returns the last value of a message field, which is the one in force, and its position.
function methods.field(self, key)
  local index, length
  for offset, count in gmatch(places_of(self, key), "(%d+),(%d+)") do
    index, length = tonumber(offset), tonumber(count)
  end
  if not index or index + length > body.len then return nil end
  if length > 0 then return string_of(body.data + index, length), index, length end
  question(FIELD, text_of(key), "", 0, 0, 0)
  local value = internal.from_json(answer())
  if type(value) == "table" then value = value[#value] end
  return value, index, length
end

function methods.places(self, key)
  local all = {}
  for offset, count in gmatch(places_of(self, key), "(%d+),(%d+)") do
    all[#all + 1] = { tonumber(offset), tonumber(count) }
  end
  return all
end

local buffer = { __index = internal.loggable(methods), __metatable = false }

local function buffer_object()
  return setmetatable({ shown.scope, shown.piece }, buffer)
end

local function check_mention()
  if not internal.mentions_body then
    raise("bodies are available only to scripts that contain the word `body`, `bodyChunks` or `trailers`")
  end
end

local function whole(always_wrap)
  if body.len == 0 and not always_wrap then return nil end
  return buffer_object()
end

function internal.body(always_wrap)
  local seen = shown.body_seen
  if seen == WHOLE then return whole(always_wrap) end
  if shown.is_end then
    if seen == PIECES then raise("cannot call body() after body has been streamed") end
    return whole(always_wrap)
  end
  if seen == PIECES then raise("cannot call body() after body streaming has started") end
  check_mention()
  internal.wait(WAIT_BODY)
  return whole(always_wrap)
end

function internal.body_chunks()
  if shown.body_seen ~= NOTHING then raise("cannot call bodyChunks after body processing has begun") end
  local scope = shown.scope
  return function()
    if scope ~= shown.scope then raise(SCOPE) end
    if shown.is_end then return nil end
    check_mention()
    internal.wait(WAIT_PIECE)
    if not shown.has_piece then return nil end
    return buffer_object()
  end
end

function internal.trailers()
  if shown.trailers.len > 0 then return internal.trailers_object() end
  if shown.is_end then return nil end
  check_mention()
  internal.wait(WAIT_TRAILERS)
  if shown.trailers.len > 0 then return internal.trailers_object() end
  return nil
end
