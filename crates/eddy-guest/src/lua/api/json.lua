-- JSON parser and serializer.

local internal = ...
local byte, char, find, format, gsub, match, sub = string.byte, string.char, string.find, string.format, string.gsub, string.match, string.sub
local concat, error, next, pairs, tonumber, tostring, type = table.concat, error, next, pairs, tonumber, tostring, type
local floor = math.floor

local DEPTH_MAX = 64
local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function utf8_of(code)
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xc0 + floor(code / 64), 0x80 + code % 64) end
  if code < 0x10000 then
    return char(0xe0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
  end
  return char(0xf0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64, 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

local function read_string(text, at)
  local pieces = {}
  while true do
    local stop = find(text, '["\\]', at)
    if not stop then error("a string in JSON is not terminated", 0) end
    pieces[#pieces + 1] = sub(text, at, stop - 1)
    if byte(text, stop) == 34 then return concat(pieces), stop + 1 end
    local escape = sub(text, stop + 1, stop + 1)
    if escape == "u" then
      local code = tonumber(match(text, "^%x%x%x%x", stop + 2) or error("an escape in JSON is truncated", 0), 16)
      at = stop + 6
      local low = code >= 0xd800 and code < 0xdc00 and match(text, "^\\u(%x%x%x%x)", at)
      if low then
        code = 0x10000 + (code - 0xd800) * 0x400 + (tonumber(low, 16) - 0xdc00) % 0x400
        at = at + 6
      end
      pieces[#pieces + 1] = utf8_of(code)
    else
      pieces[#pieces + 1] = ESCAPES[escape] or error("an escape in JSON is unknown", 0)
      at = stop + 2
    end
  end
end

local read

local function read_list(text, at, depth)
  local list, count = {}, 0
  at = find(text, "%S", at)
  if byte(text, at) == 93 then return list, at + 1 end
  while true do
    count = count + 1
    list[count], at = read(text, at, depth)
    at = find(text, "%S", at)
    local after = byte(text, at or 0)
    if after == 93 then return list, at + 1 end
    if after ~= 44 then error("an array in JSON is not terminated", 0) end
    at = at + 1
  end
end

local function read_object(text, at, depth)
  local object = {}
  at = find(text, "%S", at)
  if byte(text, at or 0) == 125 then return object, at + 1 end
  while true do
    at = find(text, '"', at, true)
    if not at then error("an object in JSON is not terminated", 0) end
    local key
    key, at = read_string(text, at + 1)
    at = find(text, ":", at, true)
    object[key], at = read(text, at + 1, depth)
    at = find(text, "%S", at)
    local after = byte(text, at or 0)
    if after == 125 then return object, at + 1 end
    if after ~= 44 then error("an object in JSON is not terminated", 0) end
    at = at + 1
  end
end

function read(text, at, depth)
  if depth > DEPTH_MAX then error("a value in JSON is nested too deeply", 0) end
  at = find(text, "%S", at)
  local first = at and sub(text, at, at)
  if first == "{" then return read_object(text, at + 1, depth + 1) end
  if first == "[" then return read_list(text, at + 1, depth + 1) end
  if first == '"' then return read_string(text, at + 1) end
  local word = at and match(text, "^%l+", at)
  if word == "true" then return true, at + 4 end
  if word == "false" then return false, at + 5 end
  if word == "null" then return nil, at + 4 end
  local digits = at and match(text, "^[-+%d.eE]+", at)
  local number = tonumber(digits)
  if not number then error("expected a value in JSON", 0) end
  return number, at + #digits
end

-- Parses a text. null becomes nil, so a member that is null is left out.
function internal.from_json(text)
  return (read(text, 1, 0))
end

local function quoted(text)
  return '"' .. gsub(text, '[%c"\\]', function(one)
    return format("\\u%04x", byte(one))
  end) .. '"'
end

local write

local function write_table(value, depth)
  local pieces = {}
  if #value > 0 or next(value) == nil then
    local is_list = true
    for key in pairs(value) do
      if type(key) ~= "number" then is_list = false end
    end
    if is_list and #value > 0 then
      for index = 1, #value do pieces[index] = write(value[index], depth) end
      return "[" .. concat(pieces, ",") .. "]"
    end
  end
  for key, member in pairs(value) do
    pieces[#pieces + 1] = quoted(tostring(key)) .. ":" .. write(member, depth)
  end
  return "{" .. concat(pieces, ",") .. "}"
end

function write(value, depth)
  if depth > DEPTH_MAX then error("a value is nested too deeply for JSON", 0) end
  local kind = type(value)
  if kind == "string" then return quoted(value) end
  if kind == "boolean" then return value and "true" or "false" end
  if kind == "number" then
    if value ~= value or value == 1 / 0 or value == -1 / 0 then error("JSON cannot represent this number", 0) end
    return format(value == floor(value) and "%.0f" or "%.17g", value)
  end
  if kind == "nil" then return "null" end
  if kind == "table" then return write_table(value, depth + 1) end
  error("JSON cannot represent a " .. kind, 0)
end

-- Serializes a value.
function internal.to_json(value)
  return write(value, 0)
end
