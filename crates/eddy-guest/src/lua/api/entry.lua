-- Entry points of the script. Hooks run as coroutines, which are reused when they have ended.

local internal, globals = ...
local create, resume, running, yield = coroutine.create, coroutine.resume, coroutine.running, coroutine.yield
local error, pairs, rawget, raise, setmetatable, type = error, pairs, rawget, internal.raise, setmetatable, type
local shown, ask, stage, handle = internal.shown, internal.ask, internal.stage, internal.handle

-- Result for the host: the event waited for, plus a multiple of the number of the waiting coroutine.
local CALL, HOOK, NUMBER, WAY = internal.CALL, internal.HOOK, internal.NUMBER, internal.WAY
local DONE, RESPONDED, FAILED = HOOK.DONE, HOOK.RESPONDED, HOOK.FAILED
local HOOK_FACTOR = NUMBER.HOOK_FACTOR
local FAILURE = CALL.FAILURE
local REQUEST, RESPONSE = WAY.REQUEST, WAY.RESPONSE
local IDLE_MAX = 64

-- Distinguishes a wait from a `coroutine.yield` of the script.
local TOKEN = {}
local current
local waiting, free, last = {}, {}, 0
local idle = { [REQUEST] = {}, [RESPONSE] = {} }
local idle_len = { [REQUEST] = 0, [RESPONSE] = 0 }
local way_of = setmetatable({}, { __mode = "k" })

function internal.check_waits()
  if running() ~= current then raise("a hook can only wait in its own coroutine") end
end

function internal.wait(what)
  if running() ~= current then raise("a hook can only wait in its own coroutine") end
  yield(TOKEN, what)
end

local function looped(hook)
  return function()
    while true do
      hook(handle())
      yield(TOKEN, DONE)
    end
  end
end

local function failed(why)
  if type(why) ~= "string" then why = "an error that is not a string: a " .. type(why) end
  ask(stage, FAILURE, why, #why, "", 0, 0, 0, 0)
  return FAILED
end

local function settle(co, way, is_fine, token, what)
  current = nil
  if not is_fine then return failed(token) end
  if token ~= TOKEN then return failed("script performed an unexpected yield") end
  if what == DONE then
    local count = idle_len[way]
    if count < IDLE_MAX then
      idle[way][count + 1], idle_len[way] = co, count + 1
    end
    return DONE
  end
  if what == RESPONDED then return RESPONDED end
  local number = free[#free]
  if number then
    free[#free] = nil
  else
    last = last + 1
    number = last
  end
  waiting[number], way_of[co] = co, way
  return number * HOOK_FACTOR + what
end

local loops = {}

local function start(way)
  local count, co = idle_len[way]
  if count > 0 then
    co = idle[way][count]
    idle[way][count], idle_len[way] = nil, count - 1
  else
    co = create(loops[way])
  end
  current = co
  return settle(co, way, resume(co))
end

local function continue(number)
  local co = waiting[number]
  waiting[number] = nil
  free[#free + 1] = number
  current = co
  return settle(co, way_of[co], resume(co))
end

local function forget(number)
  if waiting[number] then
    waiting[number] = nil
    free[#free + 1] = number
  end
  return DONE
end

for way, name in pairs { [REQUEST] = "envoy_on_request", [RESPONSE] = "envoy_on_response" } do
  local hook = rawget(globals, name)
  if hook ~= nil then
    if type(hook) ~= "function" then error("`" .. name .. "` has to be a function", 0) end
    loops[way] = looped(hook)
  end
end

-- These functions switch coroutines, which is never compiled; the functions they call are compiled.
jit.off(start)
jit.off(continue)
jit.off(settle)

return start, continue, forget, loops[REQUEST] ~= nil, loops[RESPONSE] ~= nil
