-- What a script finds as its globals. Runs once in each machine, where every library is open, and answers with the
-- script's own table. What is not named here is not there.

local allow, string_bytes_max = ...

local collectgarbage, error, load, select, tostring, type = collectgarbage, error, load, select, tostring, type
local concat, sort = table.concat, table.sort
local format, rep = string.format, string.rep

-- How long what runs in C without a look at the clock may be.
local ELEMENTS_MAX = 4096
local CHUNK_BYTES_MAX = 16384
local FORMAT_BYTES_MAX = 16384

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
script.coroutine = pick(coroutine, "create isyieldable resume running status wrap yield")
script.math = pick(math, [[
  abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow rad random
  randomseed sin sinh sqrt tan tanh
]])
script.string = pick(string, "byte char find gmatch gsub len lower match reverse sub upper")
script.table = pick(table, "foreach foreachi getn insert maxn move pack remove unpack")

-- A full collection takes as long as there is garbage: the machine collects by itself, in steps.
function script.collectgarbage(option)
  return option == "count" and collectgarbage("count") or 0
end

function script.string.rep(text, count, separator)
  local bytes = #text + (separator and #separator or 0)
  if bytes * count > string_bytes_max then
    error("string.rep: the result is larger than a string may be", 2)
  end
  return rep(text, count, separator)
end

function script.string.format(text, ...)
  if #text > FORMAT_BYTES_MAX then
    error("string.format: the format is longer than " .. FORMAT_BYTES_MAX .. " bytes", 2)
  end
  return format(text, ...)
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
  if count <= ELEMENTS_MAX then return sort(list, less) end
  less = less or is_less
  for at = (count - count % 2) / 2, 1, -1 do
    sift(list, at, count, less)
  end
  for last = count, 2, -1 do
    list[1], list[last] = list[last], list[1]
    sift(list, 1, last - 1, less)
  end
end

-- The text of all pieces that a function gives; nothing if they are more than a chunk may have.
local function gather(read)
  local pieces, bytes = {}, 0
  while true do
    local piece = read()
    if piece == nil or piece == "" then return concat(pieces) end
    if type(piece) ~= "string" then error("load: the function has to give strings", 3) end
    bytes = bytes + #piece
    if bytes > CHUNK_BYTES_MAX then return nil end
    pieces[#pieces + 1] = piece
  end
end

-- Text only: nobody checks what is in compiled chunks.
function script.load(chunk, name, _, globals)
  if type(chunk) == "function" then chunk = gather(chunk) end
  if chunk and type(chunk) ~= "string" then error("load: the chunk has to be a string or a function", 2) end
  if not chunk or #chunk > CHUNK_BYTES_MAX then
    return nil, "load: the chunk is longer than " .. CHUNK_BYTES_MAX .. " bytes"
  end
  return load(chunk, name and tostring(name) or "=(load)", "t", globals or script)
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
elseif allow.ffi then
  function script.require(name)
    return name == "ffi" and ffi or error("require: only `ffi` may be loaded", 2)
  end
end

return script
