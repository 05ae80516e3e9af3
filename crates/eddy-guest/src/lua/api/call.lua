-- HTTP calls of a script, and replies in place of the upstream response.

local internal = ...
local ffi, pairs, tonumber, tostring, type = ffi, pairs, tonumber, tostring, type
local shown, question, change, raise = internal.shown, internal.question, internal.change, internal.raise
local each_header, text_of = internal.each_header, internal.text_of
local string_of, lower = ffi.string, string.lower

local CALL, EDIT, HOOK = internal.CALL, internal.EDIT, internal.HOOK
local REQUEST_BEGIN, REQUEST_FIELD = CALL.REQUEST_BEGIN, CALL.REQUEST_FIELD
local REQUEST_AWAIT, REQUEST_SEND = CALL.REQUEST_AWAIT, CALL.REQUEST_SEND
local REPLY, REPLY_FIELD = EDIT.REPLY, EDIT.REPLY_FIELD
local WAIT_CALL, RESPONDED = HOOK.CALL, HOOK.RESPONDED

local OPTIONS = {
  asynchronous = "boolean",
  timeout_ms = "number",
  trace_sampled = "boolean",
  return_duplicate_headers = "boolean",
  send_xff = "boolean",
}

local function options_of(options, asynchronous)
  if type(options) ~= "table" then
    local timeout = tonumber(options)
    if not timeout then raise("http call timeout must be a number of milliseconds, or a table of options") end
    return { timeout_ms = timeout, asynchronous = asynchronous and true or false }
  end
  for name, value in pairs(options) do
    local kind = OPTIONS[name]
    if not kind then raise("\"" .. tostring(name) .. "\" is not a valid option of httpCall") end
    if type(value) ~= kind then raise("the option \"" .. name .. "\" of httpCall has to be a " .. kind) end
  end
  return options
end

-- Returns the response headers as a table. Of several with the same name, the last one, or a list of all.
local function answered_headers(keeps_all)
  local headers, reply = { [":status"] = tostring(shown.reply_status) }, shown.reply
  for index = 0, reply.len - 1 do
    local field = reply.fields[index]
    local name = lower(string_of(reply.bytes + field.name.start, field.name.stop - field.name.start))
    local value = string_of(reply.bytes + field.value.start, field.value.stop - field.value.start)
    local before = keeps_all and headers[name]
    if not before then
      headers[name] = value
    elseif type(before) == "table" then
      before[#before + 1] = value
    else
      headers[name] = { before, value }
    end
  end
  return headers
end

function internal.http_call(cluster, headers, body, options, asynchronous)
  options = options_of(options, asynchronous)
  question(REQUEST_BEGIN, text_of(cluster), "", 0, 0, 0)
  each_header(headers, function(name, value)
    question(REQUEST_FIELD, lower(name), value, 0, 0, 0)
  end)
  local is_async = options.asynchronous
  if not is_async then internal.check_waits() end
  local send = is_async and REQUEST_SEND or REQUEST_AWAIT
  question(send, body == nil and "" or text_of(body), "", options.timeout_ms or 0, 0, 0)
  if is_async then return nil end
  internal.wait(WAIT_CALL)
  local text = shown.reply_body
  return answered_headers(options.return_duplicate_headers), text.len > 0 and string_of(text.data, text.len) or nil
end

function internal.respond(headers, body)
  if not shown.is_open then raise("respond() cannot be called if headers have been continued") end
  internal.check_waits()
  if type(headers) ~= "table" then raise("a table of headers is expected") end
  local status = tonumber(headers[":status"])
  if not status or status < 200 or status > 599 then raise(":status must be between 200-599") end
  change(REPLY, "lua_response", body == nil and "" or text_of(body), status)
  each_header(headers, function(name, value)
    name = lower(name)
    if name ~= ":status" and name ~= "content-length" and name ~= "transfer-encoding" then
      change(REPLY_FIELD, name, value, 0)
    end
  end)
  internal.wait(RESPONDED)
end
