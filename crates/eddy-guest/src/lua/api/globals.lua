-- Globals of scripts beyond those of the language.

local internal, globals = ...
local setmetatable, tonumber, type = setmetatable, tonumber, type
local shown, question, answer, text_of = internal.shown, internal.question, internal.answer, internal.text_of
local raise = internal.raise

globals.EnvoyTimestampResolution = internal.resolutions

local ANSWER, CALL, STORE = internal.ANSWER, internal.CALL, internal.STORE
local GET, INCREMENT, DELETE = CALL.STORE_GET, CALL.STORE_INCREMENT, CALL.STORE_DELETE
local SET_TEXT, SET_NUMBER = CALL.STORE_TEXT, CALL.STORE_NUMBER
local SET_TRUE, SET_FALSE = CALL.STORE_TRUE, CALL.STORE_FALSE
local ALWAYS, ABSENT = STORE.ALWAYS, STORE.ABSENT
local NOTHING, TEXT, NUMBER = ANSWER.NOTHING, ANSWER.TEXT, ANSWER.NUMBER
local TRUE, FALSE = ANSWER.TRUE, ANSWER.FALSE

local function seconds(ttl)
  if ttl == nil then return 0 end
  ttl = tonumber(ttl)
  if not ttl or ttl < 0 then raise("the lifetime of a value is a number of seconds") end
  return ttl
end

-- Stores a value. Returns true, or false and the reason.
local function put(self, key, value, ttl, condition)
  key, ttl = self[1] .. text_of(key), seconds(ttl)
  local kind, what, text, number = type(value), nil, "", 0
  if kind == "string" then
    what, text = SET_TEXT, value
  elseif kind == "number" then
    what, number = SET_NUMBER, value
  elseif kind == "boolean" then
    what = value and SET_TRUE or SET_FALSE
  else
    raise("a shared value is a string, a number or a boolean")
  end
  if question(what, key, text, number, ttl, condition) == NOTHING then return true end
  return false, answer()
end

local store = {}

function store.get(self, key)
  local kind = question(GET, self[1] .. text_of(key), "", 0, 0, 0)
  if kind == TEXT then return answer() end
  if kind == NUMBER then return shown.number end
  if kind == TRUE then return true end
  if kind == FALSE then return false end
  return nil
end

function store.set(self, key, value, ttl)
  return put(self, key, value, ttl, ALWAYS)
end

function store.add(self, key, value, ttl)
  return put(self, key, value, ttl, ABSENT)
end

function store.incr(self, key, by, init, ttl)
  by = tonumber(by)
  if not by then raise("the increment must be a number") end
  init = init == nil and 0 / 0 or tonumber(init) or raise("the initial value must be a number")
  if question(INCREMENT, self[1] .. text_of(key), "", by, init, seconds(ttl)) == NOTHING then return shown.number end
  return nil, answer()
end

function store.delete(self, key)
  return question(DELETE, self[1] .. text_of(key), "", 0, 0, 0) == TRUE
end

local metatable = { __index = store, __metatable = false }

globals.eddy = {
  shared = function(name)
    name = text_of(name)
    if name:find("\0", 1, true) then raise("the name of a store must not contain NUL") end
    return setmetatable({ name .. "\0" }, metatable)
  end,
}
