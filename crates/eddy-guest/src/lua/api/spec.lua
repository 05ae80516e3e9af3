-- Functions of specs (`test`, `equal`, `filter`) and their protocol with the host.
--
-- Both sides exchange messages of parts, each of three texts: kind, name, value. The spec sends `passed` and `failed`
-- (a test), `broken` (the spec itself) and `end`. It requests a `filter`, or to `send` a request, and answers an `ask`
-- for the response of an endpoint or cluster with a `reply`. It receives `only` (selected tests), `made`, `ask`,
-- `result` and `error`.

local internal, globals, main = ...
local create, resume, running, status, yield =
  coroutine.create, coroutine.resume, coroutine.running, coroutine.status, coroutine.yield
local byte, find, format, lower, sub = string.byte, string.find, string.format, string.lower, string.sub
local concat, sort = table.concat, table.sort
local error, getmetatable, ipairs, pairs, pcall, rawequal, rawget, select, setmetatable, tonumber, tostring, type =
  error, getmetatable, ipairs, pairs, pcall, rawequal, rawget, select, setmetatable, tonumber, tostring, type
local ffi = ffi
local from_json, to_json = internal.from_json, internal.to_json
local write = io.write

ffi.cdef "typedef struct { const uint8_t *data; size_t len; } eddy_spec_text;"
local text_type = ffi.typeof("const eddy_spec_text *")

local current

-- Marks an error of the spec, which is reported at its line.
local MISTAKE = {}
local function mistake(why)
  error(setmetatable({ why }, MISTAKE), 0)
end

local function part(parts, what, name, value)
  local count = #parts
  parts[count + 1], parts[count + 2], parts[count + 3] = what, name or "", value or ""
end

local function pack(parts)
  local pieces = {}
  for index, text in ipairs(parts) do pieces[index] = #text .. ":" .. text end
  return concat(pieces)
end

local function unpack_parts(message)
  local texts, at = {}, 1
  while at <= #message do
    local colon = find(message, ":", at, true)
    local len = tonumber(sub(message, at, colon - 1))
    texts[#texts + 1] = sub(message, colon + 1, colon + len)
    at = colon + len + 1
  end
  return texts
end

-- Sends a message to the host from the coroutine of a test or of the spec itself; returns the answer.
local function ask(parts)
  if running() ~= current then error("a spec can send requests only in its own coroutine", 3) end
  return unpack_parts(yield(pack(parts)))
end

local function shown(value, depth)
  if type(value) == "string" then return format("%q", value) end
  if type(value) ~= "table" or depth > 4 then return tostring(value) end
  local pieces = {}
  for index, member in ipairs(value) do pieces[index] = shown(member, depth + 1) end
  local named = {}
  for key, member in pairs(value) do
    if type(key) ~= "number" then named[#named + 1] = tostring(key) .. " = " .. shown(member, depth + 1) end
  end
  sort(named)
  for _, piece in ipairs(named) do pieces[#pieces + 1] = piece end
  return "{" .. concat(pieces, ", ") .. "}"
end

local function same(a, b)
  if rawequal(a, b) then return true end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, rawget(b, key)) then return false end
  end
  for key in pairs(b) do
    if rawget(a, key) == nil then return false end
  end
  return true
end

-- Converts a string or number to text.
local function text_of(value, what)
  if type(value) == "string" then return value end
  if type(value) == "number" then return tostring(value) end
  mistake(what .. " must be a string, not a " .. type(value))
end

local function check_keys(value, known, what)
  if type(value) ~= "table" then mistake(what .. " must be a table, not a " .. type(value)) end
  for key in pairs(value) do
    if not find(known, " " .. tostring(key) .. " ", 1, true) then
      mistake("`" .. tostring(key) .. "` is not allowed here; " .. what .. " has:" .. known)
    end
  end
end

local function add_fields(parts, what, fields)
  if fields == nil then return end
  if type(fields) ~= "table" then mistake("headers must be a table") end
  local names = {}
  for name in pairs(fields) do names[#names + 1] = text_of(name, "the name of a header") end
  sort(names)
  for _, name in ipairs(names) do
    local values = fields[name]
    if type(values) ~= "table" then values = { values } end
    for _, value in ipairs(values) do part(parts, what, name, text_of(value, "the value of a header")) end
  end
end

local function add_body(parts, body)
  if body == nil then return end
  if type(body) ~= "table" then body = { body } end
  for _, piece in ipairs(body) do part(parts, "piece", "", text_of(piece, "a body")) end
end

-- Headers by name: several with one name are joined by commas, and case is ignored.
local function fields_object()
  return setmetatable({}, {
    __index = function(self, name)
      return type(name) == "string" and rawget(self, lower(name)) or nil
    end,
  })
end

local function add_field(fields, name, value)
  name = lower(name)
  local before = rawget(fields, name)
  fields[name] = before and before .. "," .. value or value
end

-- Reads a message from the parts from `at` on; also returns the position after it.
local function read_message(texts, at)
  local message = { headers = fields_object(), fields = {}, body = "", trailers = fields_object() }
  local pieces = {}
  while texts[at] do
    local what, name, value = texts[at], texts[at + 1], texts[at + 2]
    if what == "field" then
      add_field(message.headers, name, value)
      message.fields[#message.fields + 1] = { lower(name), value }
    elseif what == "trailer" then
      add_field(message.trailers, name, value)
    elseif what == "piece" then
      pieces[#pieces + 1] = value
    elseif what == "status" then
      message.status = tonumber(value)
    elseif what == "method" or what == "path" or what == "authority" or what == "endpoint" then
      message[what] = value
    else
      break
    end
    at = at + 3
  end
  message.body = concat(pieces)
  return message, at
end

-- Reads the result of a request.
local function read_result(texts)
  local result, at = read_message(texts, 4)
  result.logs, result.notes = {}, {}
  while texts[at] do
    local what, name, value = texts[at], texts[at + 1], texts[at + 2]
    at = at + 3
    if what == "log" then
      result.logs[#result.logs + 1] = value
    elseif what == "closes" then
      result.closes = true
    elseif what == "failure" then
      result.failure = value
    elseif what == "note" then
      local nul = find(name, "\0", 1, true)
      local space = sub(name, 1, nul - 1)
      result.notes[space] = result.notes[space] or {}
      result.notes[space][sub(name, nul + 1)] = from_json(value)
    elseif what == "forwarded" then
      result.forwarded, at = read_message(texts, at)
    end
  end
  return result
end

-- Returns the reply of a mocked endpoint or cluster to a request.
local function reply_of(answers, request)
  if type(answers) == "function" then answers = answers(request) end
  local parts = {}
  part(parts, "reply")
  if answers == nil or answers == "timeout" then
    part(parts, "none", "", answers)
    return parts
  end
  check_keys(answers, " status headers body trailers ", "a response")
  part(parts, "status", "", tostring(answers.status or 200))
  add_fields(parts, "field", answers.headers)
  add_body(parts, answers.body)
  add_fields(parts, "trailer", answers.trailers)
  return parts
end

local function sent(self, request)
  check_keys(request, " method path authority headers body trailers config endpoint clusters ", "a request")
  local parts = {}
  part(parts, "send", self.number)
  for _, name in ipairs { "method", "path", "authority" } do
    if request[name] ~= nil then part(parts, name, "", text_of(request[name], "`" .. name .. "`")) end
  end
  add_fields(parts, "field", request.headers)
  add_body(parts, request.body)
  add_fields(parts, "trailer", request.trailers)
  if request.config ~= nil then part(parts, "config", "", to_json(request.config)) end
  local clusters = request.clusters or {}
  for name in pairs(clusters) do part(parts, "cluster", name) end
  local endpoint = request.endpoint
  if endpoint == nil then endpoint = {} end
  local texts = ask(parts)
  while texts[1] == "ask" do
    local answers = endpoint
    if texts[2] ~= "" then answers = clusters[texts[2]] end
    texts = ask(reply_of(answers, (read_message(texts, 4))))
  end
  if texts[1] == "error" then mistake(texts[2]) end
  return read_result(texts)
end

-- Raises an error of the spec at the line of its caller.
local function located(run, ...)
  local is_fine, result = pcall(run, ...)
  if is_fine then return result end
  if getmetatable(result) == MISTAKE then error(result[1], 3) end
  error(result, 0)
end

local methods = {}

function methods.send(self, request)
  local result = located(sent, self, request)
  return result
end

local function made(wanted)
  check_keys(wanted, " file name source config allow ", "a filter")
  if (wanted.file == nil) == (wanted.source == nil) then mistake("a filter needs a `file` or a `source`") end
  local parts = {}
  part(parts, "filter")
  if wanted.file then part(parts, "file", "", text_of(wanted.file, "`file`")) end
  if wanted.name then part(parts, "name", "", text_of(wanted.name, "`name`")) end
  if wanted.source then part(parts, "source", "", text_of(wanted.source, "`source`")) end
  if wanted.config ~= nil then part(parts, "config", "", to_json(wanted.config)) end
  for _, name in ipairs(wanted.allow or {}) do part(parts, "allow", "", text_of(name, "`allow`")) end
  local texts = ask(parts)
  if texts[1] == "error" then mistake(texts[2]) end
  return setmetatable({ number = texts[2] }, { __index = methods })
end

function globals.filter(wanted)
  local filter = located(made, wanted)
  return filter
end

local tests, names = {}, {}

function globals.test(name, run)
  if type(name) ~= "string" or type(run) ~= "function" then error("a test needs a name and a function", 2) end
  if names[name] then error("a test \"" .. name .. "\" already exists", 2) end
  names[name], tests[#tests + 1] = true, { name = name, run = run }
end

function globals.equal(actual, expected, what)
  if same(actual, expected) then return end
  what = what and tostring(what) .. ": " or ""
  error(what .. "expected " .. shown(expected, 0) .. ", got " .. shown(actual, 0), 2)
end

-- As in Lua, but the error has the line.
function globals.assert(value, message, ...)
  if value then return value, message, ... end
  error(message == nil and "assertion failed!" or message, 2)
end

function globals.print(...)
  local texts = {}
  for index = 1, select("#", ...) do texts[index] = tostring((select(index, ...))) end
  write(concat(texts, "\t"), "\n")
end

local function reason(why)
  if type(why) == "string" then return why end
  return "an error that is not a string: a " .. type(why)
end

local only, at = {}, 0
local under_way

local function is_wanted(name)
  if #only == 0 then return true end
  for _, text in ipairs(only) do
    if find(name, text, 1, true) then return true end
  end
  return false
end

-- Resumes the coroutine until it has a message for the host.
local function go_on(answer)
  local is_fine, said = resume(current, answer)
  if status(current) == "suspended" then return said end
  local parts, of = {}, under_way
  current, under_way = nil, nil
  if not is_fine then
    part(parts, of and "failed" or "broken", of and of.name, reason(said))
    -- The tests of a broken spec are unknown.
    if not of then at = #tests end
    return pack(parts)
  end
  if of then
    part(parts, "passed", of.name)
    return pack(parts)
  end
end

local has_begun = false

return function(argument)
  argument = ffi.cast(text_type, argument)
  local message, said = ffi.string(argument.data, argument.len), nil
  if current then
    said = go_on(message)
  elseif not has_begun then
    has_begun = true
    local texts = unpack_parts(message)
    for index = 1, #texts, 3 do
      if texts[index] == "only" then only[#only + 1] = texts[index + 1] end
    end
    current = create(main)
    said = go_on()
  end
  while not said do
    at = at + 1
    local test = tests[at]
    if not test then return pack { "end", "", "" } end
    if is_wanted(test.name) then
      current, under_way = create(test.run), test
      said = go_on()
    end
  end
  return said
end
