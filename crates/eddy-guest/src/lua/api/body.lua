-- Bodies, whole and in pieces.

local internal = ...
local ffi, setmetatable, tonumber = ffi, setmetatable, tonumber
local shown, change, text_of = internal.shown, internal.change, internal.text_of
local raise, SCOPE = internal.raise, internal.SCOPE
local body, string_of = shown.body, ffi.string

local BODY_SET = 8
local WHOLE, PIECES = 1, 2
local WAIT_BODY, WAIT_PIECE, WAIT_TRAILERS = 1, 2, 3

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
  if shown.has_piece == 0 then raise("there is no body that could be set") end
  change(BODY_SET, "", text_of(bytes), 0)
  return body.len
end

local buffer = { __index = methods, __metatable = false }

local function buffer_object()
  return setmetatable({ shown.scope, shown.piece }, buffer)
end

local function check_mention()
  if not internal.mentions_body then
    raise("eddy shows bodies only to scripts in which the word `body`, `bodyChunks` or `trailers` stands")
  end
end

local function whole(always_wrap)
  if body.len == 0 and not always_wrap then return nil end
  return buffer_object()
end

function internal.body(always_wrap)
  local seen = shown.body_seen
  if seen == WHOLE then return whole(always_wrap) end
  if shown.is_end ~= 0 then
    if seen == PIECES then raise("cannot call body() after body has been streamed") end
    return whole(always_wrap)
  end
  if seen == PIECES then raise("cannot call body() after body streaming has started") end
  check_mention()
  internal.wait(WAIT_BODY)
  return whole(always_wrap)
end

function internal.body_chunks()
  if shown.body_seen ~= 0 then raise("cannot call bodyChunks after body processing has begun") end
  local scope = shown.scope
  return function()
    if scope ~= shown.scope then raise(SCOPE) end
    if shown.is_end ~= 0 then return nil end
    check_mention()
    internal.wait(WAIT_PIECE)
    if shown.has_piece == 0 then return nil end
    return buffer_object()
  end
end

function internal.trailers()
  if shown.trailers.len > 0 then return internal.trailers_object() end
  if shown.is_end ~= 0 then return nil end
  check_mention()
  internal.wait(WAIT_TRAILERS)
  if shown.trailers.len > 0 then return internal.trailers_object() end
  return nil
end
