-- Globals of scripts. Runs once in each VM, where every library is open, and returns the global table of the script.
-- Functions that are not named here are not available.

local allow, string_bytes_max, bounded = ...

local collectgarbage, error, load, select, tostring, type = collectgarbage, error, load, select, tostring, type
local concat, sort, unpack = table.concat, table.sort, unpack
local byte, find, format, rep, sub = string.byte, string.find, string.format, string.rep, string.sub
local find_pattern, find_text = bounded.find, bounded.find_text
local next_match, replace = bounded.next_match, bounded.replace
local check_depth = bounded.check_depth
local resume, wrap = coroutine.resume, coroutine.wrap

-- Size limits of C functions that run without a check of the CPU time.
local ELEMENTS_MAX = 4096
local CHUNK_BYTES_MAX = 8192
local FORMAT_BYTES_MAX = 16384
local PLAIN_WORK_MAX = 2 ^ 20
local REPEATED_BYTES_MAX = string_bytes_max / 2
-- Maximum number of patterns for which it is cached whether they are plain text.
local PATTERNS_MAX = 256

local function pick(from, names)
  local to = {}
  for name in names:gmatch("%S+") do
    to[name] = assert(from[name], name)
  end
  return to
end

local script = pick(_G, [[
  assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select setmetatable tonumber
  tostring type unpack xpcall _VERSION
]])
script._G = script
script.bit = pick(bit, "arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex")
script.coroutine = pick(coroutine, "create isyieldable running status yield")
script.math = pick(math, [[
  abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow rad random
  randomseed sin sinh sqrt tan tanh
]])
script.string = pick(string, "byte char len lower reverse sub upper")
script.table = pick(table, "foreach foreachi getn insert maxn move pack remove unpack")

-- The duration of a full collection is not bounded; the VM collects by itself, in steps.
function script.collectgarbage(option)
  return option == "count" and collectgarbage("count") or 0
end

function script.coroutine.resume(thread, ...)
  check_depth()
  return resume(thread, ...)
end

function script.coroutine.wrap(body)
  local go_on = wrap(body)
  return function(...)
    check_depth()
    return go_on(...)
  end
end

function script.string.rep(text, count, separator)
  local bytes = #text + (separator and #separator or 0)
  if bytes * count > REPEATED_BYTES_MAX then
    error("string.rep: the result is longer than " .. REPEATED_BYTES_MAX .. " bytes", 2)
  end
  return rep(text, count, separator)
end

-- Converts tables to text first, because the library would call `__tostring` from C.
local function with_texts(list, count)
  for i = 1, count do
    if type(list[i]) == "table" then list[i] = tostring(list[i]) end
  end
  return unpack(list, 1, count)
end

function script.string.format(text, ...)
  if #text > FORMAT_BYTES_MAX then
    error("string.format: the format is longer than " .. FORMAT_BYTES_MAX .. " bytes", 2)
  end
  local count = select("#", ...)
  for i = 1, count do
    if type((select(i, ...))) == "table" then
      return format(text, with_texts({ ... }, count))
    end
  end
  return format(text, ...)
end

local plain_patterns, plain_patterns_count = {}, 0

-- Caches whether a new pattern is plain text, and returns it.
local function note(pattern)
  if type(pattern) ~= "string" then return false end
  if plain_patterns_count == PATTERNS_MAX then plain_patterns, plain_patterns_count = {}, 0 end
  plain_patterns_count = plain_patterns_count + 1
  plain_patterns[pattern] = not find(pattern, "[$%%(*+.?[^%-]")
  return plain_patterns[pattern]
end

-- Only the library's search for plain text is compiled.
function script.string.find(text, pattern, from, plain)
  local is_plain = plain or plain_patterns[pattern]
  if is_plain == nil then is_plain = note(pattern) end
  if not is_plain then return find_pattern(text, pattern, from) end
  if type(text) == "string" and type(pattern) == "string" and #text * #pattern <= PLAIN_WORK_MAX then
    return find(text, pattern, from, true)
  end
  return find_text(text, pattern, from)
end

script.string.match = bounded.match

function script.string.gmatch(text, pattern)
  local at = 1
  local function go_on(first, last, ...)
    if not first then return nil end
    at = last >= first and last + 1 or last + 2
    if select("#", ...) == 0 then return sub(text, first, last) end
    return ...
  end
  return function() return go_on(next_match(text, pattern, at)) end
end

-- Returns the replacement of a match, and its position.
local function swap(with, kind, text, first, last, ...)
  if not first then return nil end
  local key = ...
  if select("#", ...) == 0 then key = sub(text, first, last) end
  local value
  if kind == "table" then
    value = with[key]
  elseif select("#", ...) == 0 then
    value = with(key)
  else
    value = with(...)
  end
  if not value then
    value = sub(text, first, last)
  elseif type(value) ~= "string" and type(value) ~= "number" then
    error("string.gsub: invalid replacement value (a " .. type(value) .. ")", 3)
  end
  return value, first, last
end

function script.string.gsub(text, pattern, with, count_max)
  local kind = type(with)
  count_max = count_max or 2 ^ 53
  if kind ~= "table" and kind ~= "function" then
    return replace(text, pattern, with, count_max, string_bytes_max)
  end
  local is_anchored = byte(pattern) == 94
  local search = is_anchored and find_pattern or next_match
  local pieces, at, count = {}, 1, 0
  while count < count_max do
    local value, first, last = swap(with, kind, text, search(text, pattern, at))
    if not value then break end
    count = count + 1
    pieces[#pieces + 1] = sub(text, at, first - 1)
    pieces[#pieces + 1] = value
    at = last + 1
    if last < first then
      pieces[#pieces + 1] = sub(text, first, first)
      at = first + 1
    end
    if is_anchored or at > #text + 1 then break end
  end
  pieces[#pieces + 1] = sub(text, at)
  return script.table.concat(pieces), count
end

function script.table.concat(list, separator, first, last)
  first, last = first or 1, last or #list
  if not (last - first >= ELEMENTS_MAX) then
    return concat(list, separator, first, last)
  end
  local pieces = {}
  for from = first, last, ELEMENTS_MAX do
    local to = from + ELEMENTS_MAX - 1
    pieces[#pieces + 1] = concat(list, separator, from, to < last and to or last)
  end
  return concat(pieces, separator)
end

local function is_less(a, b)
  return a < b
end

-- Moves the element at `at` down a heap of `count` elements.
local function sift(list, at, count, less)
  local moved = list[at]
  while true do
    local child = 2 * at
    if child > count then break end
    if child < count and less(list[child], list[child + 1]) then child = child + 1 end
    if not less(moved, list[child]) then break end
    list[at], at = list[child], child
  end
  list[at] = moved
end

function script.table.sort(list, less)
  local count = #list
  if count <= ELEMENTS_MAX then
    check_depth()
    return sort(list, less)
  end
  less = less or is_less
  for at = (count - count % 2) / 2, 1, -1 do
    sift(list, at, count, less)
  end
  for last = count, 2, -1 do
    list[1], list[last] = list[last], list[1]
    sift(list, 1, last - 1, less)
  end
end

-- Joins all pieces that a function returns; nil if they exceed the size limit of a chunk.
local function gather(read)
  local pieces, bytes = {}, 0
  while true do
    local piece = read()
    if piece == nil or piece == "" then return concat(pieces) end
    if type(piece) ~= "string" then error("load: the function must return strings", 3) end
    bytes = bytes + #piece
    if bytes > CHUNK_BYTES_MAX then return nil end
    pieces[#pieces + 1] = piece
  end
end

-- Text only, because compiled chunks are not verified.
function script.load(chunk, name, _, globals)
  globals = globals or script
  if type(globals) ~= "table" then error("load: the globals must be a table", 2) end
  if type(chunk) == "function" then chunk = gather(chunk) end
  if chunk and type(chunk) ~= "string" then error("load: the chunk must be a string or a function", 2) end
  if not chunk or #chunk > CHUNK_BYTES_MAX then
    return nil, "load: the chunk is longer than " .. CHUNK_BYTES_MAX .. " bytes"
  end
  return load(chunk, name and tostring(name) or "=(load)", "t", globals)
end

function script.loadstring(chunk, name)
  return script.load(chunk, name)
end

local texts = getmetatable("")
texts.__index = script.string
texts.__metatable = "string"

if allow.os then
  script.os = pick(os, "clock date difftime execute getenv remove rename time tmpname")
end
if allow.io then
  script.io = io
end
if allow.package then
  script.package, script.require = package, require
else
  -- Libraries that a script has anyway, by the names that are usual in other hosts.
  local known = pick(script, "bit coroutine math string table")
  known.os, known.io, known.ffi = script.os, script.io, allow.ffi and ffi or nil
  function script.require(name)
    local library = known[name]
    if library then return library end
    error(
      "require: \"" .. tostring(name) .. "\" is not available, only bit, coroutine, math, string and table: "
        .. "add `package` to `allow` for modules, and `ffi` for ffi",
      2
    )
  end
end

return script
