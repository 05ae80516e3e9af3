-- Argument of hooks.

local internal = ...
local setmetatable, type = setmetatable, type
local stage, shown, log, now_us = internal.stage, internal.shown, internal.log, internal.now_us
local question, answer, text_of, SCOPE = internal.question, internal.answer, internal.text_of, internal.SCOPE
local raise = internal.raise
local floor, format, sub = math.floor, string.format, string.sub

local CALL, LEVEL = internal.CALL, internal.LEVEL
local BASE64, BASE64_DECODE = CALL.BASE64, CALL.BASE64_DECODE
local KEY_CHECK, VERIFY = CALL.KEY_CHECK, CALL.VERIFY
local RESPONSE = internal.WAY.RESPONSE
local NOTHING = internal.ANSWER.NOTHING

local function check(self)
  if self[1] ~= shown.scope then raise(SCOPE) end
end

local methods = {}

local headers_object = internal.headers_object
function methods.headers(self)
  if self[1] ~= shown.scope then raise(SCOPE) end
  return headers_object()
end

function methods.body(self, always_wrap)
  check(self)
  return internal.body(always_wrap)
end

function methods.bodyChunks(self)
  check(self)
  return internal.body_chunks()
end

function methods.trailers(self)
  check(self)
  return internal.trailers()
end

function methods.httpCall(self, cluster, headers, body, options, asynchronous)
  check(self)
  return internal.http_call(cluster, headers, body, options, asynchronous)
end

function methods.respond(self, headers, body)
  check(self)
  return internal.respond(headers, body)
end

function methods.metadata(self) check(self) return internal.metadata() end
function methods.streamInfo(self) check(self) return internal.stream_info() end
function methods.connection(self) check(self) return internal.connection() end
function methods.connectionStreamInfo(self) check(self) return internal.connection_info() end
function methods.filterContext(self) check(self) return internal.context() end
function methods.virtualHost(self) check(self) return internal.route() end
function methods.route(self) check(self) return internal.route() end

function methods.setUpstreamOverrideHost(self, host, is_strict)
  check(self)
  return internal.override_host(host, is_strict)
end

function methods.stats(self) check(self) return internal.stats() end

local request_object = internal.request_object
function methods.downstreamRequestHeaders(self)
  check(self)
  if shown.way ~= RESPONSE then raise("downstreamRequestHeaders() is only available in envoy_on_response") end
  return request_object()
end

function methods.clearRouteCache(self)
  check(self)
  return internal.clear_route()
end

-- Scripts know the levels by the same numbers, and critical as the one after error; it is logged as error.
local TRACE, ERROR = LEVEL.TRACE, LEVEL.ERROR
local CRITICAL = ERROR + 1

function methods.log(self, level, message)
  check(self)
  if type(level) ~= "number" or level < TRACE or level > CRITICAL then raise("the log level must be 0 to 5") end
  message = text_of(message)
  log(stage, level < ERROR and level or ERROR, message, #message)
end

function methods.base64Escape(self, text)
  check(self)
  question(BASE64, text_of(text), "", 0, 0, 0)
  return answer()
end

-- Returns nil for a text that is not base64.
function methods.base64Decode(self, text)
  check(self)
  if question(BASE64_DECODE, text_of(text), "", 0, 0, 0) == NOTHING then return nil end
  return answer()
end

-- Returns the first `length` bytes of a text that a script passes.
local function counted(bytes, length)
  bytes = text_of(bytes)
  if length == nil then return bytes end
  if type(length) ~= "number" or length < 0 or length > #bytes then
    raise("a length is larger than its data")
  end
  return sub(bytes, 1, length)
end

-- Keys are the texts that `get` returns, by their objects, and the reasons for which others are none.
local keys, reasons = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })
local key_methods = {}
local key_metatable = { __index = internal.loggable_always(key_methods), __metatable = false }

-- Returns the key, or nil for what is no key that can be used.
function key_methods.get(self)
  return keys[self]
end

function methods.importPublicKey(self, der, length)
  check(self)
  der = counted(der, length)
  local key = setmetatable({}, key_metatable)
  if question(KEY_CHECK, der, "", 0, 0, 0) == NOTHING then
    keys[key] = der
  else
    reasons[key] = answer()
  end
  return key
end

-- `key` is an imported key, or the text that its `get` returned.
function methods.verifySignature(self, hash, key, signature, signature_length, data, data_length)
  check(self)
  local der = type(key) == "string" and key or keys[key]
  if not der then raise("invalid public key: " .. (reasons[key] or "it must come from importPublicKey()")) end
  signature, data = counted(signature, signature_length), counted(data, data_length)
  if question(VERIFY, text_of(hash) .. "\0" .. der, signature .. data, #signature, 0, 0) == NOTHING then
    return true, ""
  end
  return false, answer()
end

local MILLISECOND, MICROSECOND = 0, 1
internal.resolutions = { MILLISECOND = MILLISECOND, MICROSECOND = MICROSECOND }

function methods.timestamp(self, resolution)
  check(self)
  if resolution ~= nil and resolution ~= MILLISECOND then
    raise("timestamp format must be MILLISECOND.")
  end
  return floor(now_us() / 1000)
end

function methods.timestampString(self, resolution)
  check(self)
  if resolution == nil or resolution == MILLISECOND then return format("%.0f", floor(now_us() / 1000)) end
  if resolution == MICROSECOND then return format("%.0f", floor(now_us())) end
  raise("timestamp format must be MILLISECOND or MICROSECOND.")
end

local metatable = { __index = internal.loggable(methods), __metatable = false }

function internal.handle()
  return setmetatable({ shown.scope }, metatable)
end
