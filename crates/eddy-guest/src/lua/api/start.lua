-- Runs a script once, which defines its functions. It runs in a coroutine, because there an entry that exceeds its time
-- limit ends in one step, regardless of nested protected calls.

local main = ...
local thread = coroutine.create(main)
local is_fine, why = coroutine.resume(thread)
if not is_fine then error(why, 0) end
if coroutine.status(thread) ~= "dead" then error("a script cannot yield before its hooks run", 0) end
