-- Log methods, which every object of the interface has.

local internal = ...
local pairs = pairs
local stage, shown, log = internal.stage, internal.shown, internal.log
local raise, text_of, SCOPE = internal.raise, internal.text_of, internal.SCOPE

-- Critical is logged as error.
local LEVEL = internal.LEVEL
local LEVELS = {
  logTrace = LEVEL.TRACE, logDebug = LEVEL.DEBUG, logInfo = LEVEL.INFO,
  logWarn = LEVEL.WARN, logErr = LEVEL.ERROR, logCritical = LEVEL.ERROR,
}

local of_hooks, of_scripts = {}, {}
for name, level in pairs(LEVELS) do
  of_hooks[name] = function(self, message)
    if self[1] ~= shown.scope then raise(SCOPE) end
    message = text_of(message)
    log(stage, level, message, #message)
  end
  of_scripts[name] = function(_, message)
    if shown.scope == 0 then raise(SCOPE) end
    message = text_of(message)
    log(stage, level, message, #message)
  end
end

local function with(methods, more)
  for name, method in pairs(more) do methods[name] = method end
  return methods
end

-- Adds the log methods to those of objects that are valid during their hook, with its number at 1.
function internal.loggable(methods)
  return with(methods, of_hooks)
end

-- Adds the log methods to those of objects that remain valid after their hook.
function internal.loggable_always(methods)
  return with(methods, of_scripts)
end
