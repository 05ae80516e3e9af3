-- Runs a script once, so that its functions are there, in a coroutine: out of one an entry that lasts too long ends in one
-- step, however many protected calls the script has nested.

local main = ...
local thread = coroutine.create(main)
local is_fine, why = coroutine.resume(thread)
if not is_fine then error(why, 0) end
if coroutine.status(thread) ~= "dead" then error("a script cannot yield before its hooks run", 0) end
