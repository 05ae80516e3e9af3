-- Metrics that a script defines: counters, gauges and histograms.

local internal = ...
local setmetatable, tonumber, tostring, type = setmetatable, tonumber, tostring, type
local shown, question, raise, text_of = internal.shown, internal.question, internal.raise, internal.text_of
local class, SCOPE = internal.class, internal.SCOPE
local floor = math.floor

local CALL, METRIC = internal.CALL, internal.METRIC
local DEFINE, ADD, SET = CALL.STAT_DEFINE, CALL.STAT_ADD, CALL.STAT_SET
local RECORD, VALUE = CALL.STAT_RECORD, CALL.STAT_VALUE

-- Maximum number of metrics whose objects are kept; a filter cannot define more.
local KEPT_MAX = 64

local UNITS = { ms = true, milliseconds = true, microseconds = true, bytes = true, unspecified = true }

-- Returns a number that a metric can record.
local function amount_of(value, what)
  local number = tonumber(value)
  if not number then raise("number expected, got " .. (value == nil and "no value" or type(value))) end
  if not (number >= 0) then raise(what .. " must be non-negative") end
  return floor(number)
end

-- Objects of metrics have the number of the metric, and remain valid after the hook.
local function add(self, amount)
  if shown.scope == 0 then raise(SCOPE) end
  question(ADD, "", "", self[1], amount, 0)
end

local function value(self)
  if shown.scope == 0 then raise(SCOPE) end
  question(VALUE, "", "", self[1], 0, 0)
  return shown.number
end

local counter = { value = value }

function counter.inc(self) add(self, 1) end
function counter.add(self, amount) add(self, amount_of(amount, "counter add amount")) end

local gauge = { value = value }

function gauge.inc(self) add(self, 1) end
function gauge.dec(self) add(self, -1) end
function gauge.add(self, amount) add(self, amount_of(amount, "gauge add amount")) end
function gauge.sub(self, amount) add(self, -amount_of(amount, "gauge sub amount")) end

function gauge.set(self, number)
  number = amount_of(number, "gauge set value")
  if shown.scope == 0 then raise(SCOPE) end
  question(SET, "", "", self[1], number, 0)
end

local histogram = {}

function histogram.recordValue(self, number)
  number = amount_of(number, "histogram value")
  if shown.scope == 0 then raise(SCOPE) end
  question(RECORD, "", "", self[1], number, 0)
end

local kept = 0

-- Returns a function that returns the metric of a name.
local function definer(kind, methods)
  local metatable = { __index = internal.loggable_always(methods), __metatable = false }
  local known = {}
  return function(name)
    name = text_of(name)
    local found = known[name]
    if found then return found end
    question(DEFINE, name, "", kind, 0, 0)
    found = setmetatable({ shown.number }, metatable)
    if shown.number > 0 and kept < KEPT_MAX then
      known[name], kept = found, kept + 1
    end
    return found
  end
end

local define_counter = definer(METRIC.COUNTER, counter)
local define_gauge = definer(METRIC.GAUGE, gauge)
local define_histogram = definer(METRIC.HISTOGRAM, histogram)

local stats = {}

function stats.counter(self, name)
  if self[1] ~= shown.scope then raise(SCOPE) end
  return define_counter(name)
end

function stats.gauge(self, name)
  if self[1] ~= shown.scope then raise(SCOPE) end
  return define_gauge(name)
end

function stats.histogram(self, name, unit)
  if self[1] ~= shown.scope then raise(SCOPE) end
  if unit ~= nil and not UNITS[unit] then
    raise("invalid histogram unit '" .. tostring(unit)
      .. "', expected 'ms', 'milliseconds', 'microseconds', 'bytes', or 'unspecified'")
  end
  return define_histogram(name)
end

internal.stats = class(stats)
