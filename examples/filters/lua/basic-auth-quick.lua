-- The same as basic-auth.lua, in a way that LuaJIT compiles: what is wanted is encoded once, so that nothing of a
-- request has to be decoded, and the hook calls only what is compiled with it.

local wanted

-- Known once the first request is there: a script sees its configuration in hooks only.
local function expected(handle)
  local context = handle:filterContext()
  return "Basic " .. handle:base64Escape(context.username .. ":" .. context.password)
end

local REFUSAL = { [":status"] = "401", ["www-authenticate"] = 'Basic realm="restricted", charset="UTF-8"' }

function envoy_on_request(handle)
  wanted = wanted or expected(handle)
  if handle:headers():get("authorization") ~= wanted then
    handle:respond(REFUSAL, "who are you?\n")
  end
end
