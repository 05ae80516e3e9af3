-- Globals of scripts. Runs once in each VM, where every library is open, and returns the global table of the script.
-- Functions that are not named here are not available.

local allow, string_bytes_max, bounded, pattern_steps_max = ...

local collectgarbage, error, load, select, tostring, type = collectgarbage, error, load, select, tostring, type
local concat, sort, unpack = table.concat, table.sort, unpack
local byte, find, format, gmatch, gsub = string.byte, string.find, string.format, string.gmatch, string.gsub
local match, rep, sub = string.match, string.rep, string.sub
local floor = math.floor
local find_pattern, find_text, match_pattern = bounded.find, bounded.find_text, bounded.match
local next_match, replace = bounded.next_match, bounded.replace
local check_depth = bounded.check_depth
local resume, wrap = coroutine.resume, coroutine.wrap

-- Size limits of C functions that run without a check of the CPU time.
local ELEMENTS_MAX = 4096
local CHUNK_BYTES_MAX = 8192
local FORMAT_BYTES_MAX = 16384
local PLAIN_WORK_MAX = 2 ^ 20
local REPEATED_BYTES_MAX = string_bytes_max / 2
local REPLACED_BYTES_MAX = 2 ^ 16
-- Maximum number of known patterns, and length of a pattern that is examined.
local PATTERNS_MAX = 256
local PATTERN_BYTES_MAX = 128

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

-- Returns the position after the set that begins at `at`; nil if it has no end.
local function set_end(pattern, at)
  at = at + (byte(pattern, at + 1) == 94 and 2 or 1) -- ^
  repeat
    local one = byte(pattern, at)
    if not one then return nil end
    at = at + (one == 37 and 2 or 1) -- %
  until byte(pattern, at) == 93 -- ]
  return at + 1
end

-- Kinds of pattern items: those that match one length or fail, those that also read on through the subject, those that
-- are optional or repeat, the end of the subject, and all bytes up to it.
local FIXED, SCAN, OPTIONAL, ANY, SOME, END, ALL, ALL_BUT_NONE = 1, 2, 3, 4, 5, 6, 7, 8
local SUFFIXES = { [63] = OPTIONAL, [42] = ANY, [45] = ANY, [43] = SOME } -- ? * - +

-- Returns the kind of the item at `at`, if it consumes anything, and the position after it; nil for both if the
-- pattern is malformed.
local function item_at(pattern, at)
  local one, two = byte(pattern, at, at + 1)
  if one == 40 or one == 41 then return nil, at + 1 end -- ( )
  if one == 36 and not two then return END, at + 1 end -- $
  if one == 46 and two == 42 then return ALL, at + 2 end -- .*
  if one == 46 and two == 43 then return ALL_BUT_NONE, at + 2 end -- .+
  if one == 37 then -- %
    if not two then return nil, nil end
    if two == 98 then return SCAN, at + 4 end -- b
    if two >= 48 and two <= 57 then return SCAN, at + 2 end -- 0 to 9
    if two == 102 then -- f
      return FIXED, byte(pattern, at + 2) == 91 and set_end(pattern, at + 2) or nil
    end
    at = at + 2
  else
    at = one == 91 and set_end(pattern, at) or one ~= 91 and at + 1 or nil
    if not at then return nil, nil end
  end
  local kind = SUFFIXES[byte(pattern, at)]
  if kind then return kind, at + 1 end
  return FIXED, at
end

-- Returns the length of subjects for which the library's functions need at most pattern_steps_max steps; -1 for none.
--
-- An item that repeats is tried with every length if the items after it can fail, and an unanchored pattern at every
-- position, so the steps grow with a power of the subject's length; each step is at most as long as the pattern.
local function examine(pattern)
  local len = #pattern
  if len > PATTERN_BYTES_MAX then return -1 end
  local is_anchored = byte(pattern) == 94
  local kinds, count, at, nested = {}, 0, is_anchored and 2 or 1, 0
  while at <= len do
    local one, kind = byte(pattern, at), nil
    nested = nested + (one == 40 and 1 or one == 41 and -1 or 0)
    -- The library finds such a pattern as a plain text.
    if nested < 0 then return -1 end
    kind, at = item_at(pattern, at)
    if not at or at > len + 1 then return -1 end
    if kind then kinds[count + 1], count = kind, count + 1 end
  end
  local degree, factor, can_fail, scans = is_anchored and 0 or 1, len + 1, false, 0
  for index = count, 1, -1 do
    local kind = kinds[index]
    local takes_all = kind == ALL or kind == ALL_BUT_NONE
    if kind == OPTIONAL then
      if can_fail then factor = 2 * factor end
    elseif takes_all and kinds[index + 1] == END then
      -- The first try succeeds.
      can_fail = kind == ALL_BUT_NONE
    elseif takes_all or kind == ANY or kind == SOME then
      if can_fail then degree = degree + 1 end
      can_fail = can_fail or kind == SOME or kind == ALL_BUT_NONE
    else
      can_fail = true
      if kind == SCAN then scans = 1 end
    end
  end
  degree = degree + scans
  return floor((pattern_steps_max / factor) ^ (1 / (degree > 0 and degree or 1))) - 1
end

-- Known patterns: whether they are plain text, the length of subjects that the library may match, and the item of those
-- that match it at the end of a text, any number of times (`=*$`) or at least once (`%s+$`).
local plain_patterns, subject_bytes_max, trailing_items, patterns_count = {}, {}, {}, 0

-- Examines a new pattern; returns the length of subjects.
local function note(pattern)
  if type(pattern) ~= "string" then return -1 end
  if patterns_count == PATTERNS_MAX then
    plain_patterns, subject_bytes_max, trailing_items, patterns_count = {}, {}, {}, 0
  end
  patterns_count = patterns_count + 1
  plain_patterns[pattern] = not find(pattern, "[$%%(*+.?[^%-]")
  subject_bytes_max[pattern] = examine(pattern)
  trailing_items[pattern] = match(pattern, "^([^%^%%%[%]().$*+?-])[*+]%$$") or match(pattern, "^(%%[^bf%d])[*+]%$$")
  return subject_bytes_max[pattern]
end

-- The library's functions run to completion, so they get only what takes them a short time. LuaJIT compiles the search
-- for plain text, and continues behind the others.
function script.string.find(text, pattern, from, plain)
  local bytes_max = subject_bytes_max[pattern] or note(pattern)
  local is_plain = plain or plain_patterns[pattern]
  if type(text) == "string" and type(pattern) == "string" then
    if is_plain then
      if #text * #pattern <= PLAIN_WORK_MAX then return find(text, pattern, from, true) end
    elseif #text <= bytes_max then
      return find(text, pattern, from)
    end
  end
  if is_plain then return find_text(text, pattern, from) end
  return find_pattern(text, pattern, from)
end

function script.string.match(text, pattern, from)
  local bytes_max = subject_bytes_max[pattern] or note(pattern)
  if type(text) == "string" and #text <= bytes_max then return match(text, pattern, from) end
  return match_pattern(text, pattern, from)
end

-- An iterator over all bytes, which LuaJIT compiles.
local function each_byte(text)
  local at = 0
  return function()
    if at == #text then return nil end
    at = at + 1
    return sub(text, at, at)
  end
end

function script.string.gmatch(text, pattern)
  if type(text) == "string" then
    if pattern == "." then return each_byte(text) end
    local bytes_max = subject_bytes_max[pattern] or note(pattern)
    -- The library takes `^` for a byte here, which anchors nothing.
    if #text <= bytes_max and byte(pattern) ~= 94 then return gmatch(text, pattern) end
  end
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
  local bytes_max = subject_bytes_max[pattern] or note(pattern)
  local is_short = type(text) == "string" and #text <= bytes_max
  if kind ~= "table" and kind ~= "function" then
    if is_short and kind == "string" then
      local bytes = (#text + 1) * #with
      -- A reference stands for at most the whole text.
      local has_references = find(with, "%", 1, true)
      local item = trailing_items[pattern]
      -- Most texts have nothing to trim, which the last byte shows.
      if item and not has_references and count_max == nil and not match(sub(text, -1), item) then
        if byte(pattern, -2) == 43 then return text, 0 end -- +
        return text .. with, 1
      end
      if has_references then bytes = bytes * #text end
      if bytes <= REPLACED_BYTES_MAX then return gsub(text, pattern, with, count_max) end
    end
    return replace(text, pattern, with, count_max or 2 ^ 53, string_bytes_max)
  end
  count_max = count_max or 2 ^ 53
  local is_anchored = byte(pattern) == 94
  local search = is_short and find or is_anchored and find_pattern or next_match
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
