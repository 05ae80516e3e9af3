-- The filters of `haproxy-lua`: actions for heads, a filter for the body. Nothing is kept from one request to the next.

local EXPECTED = "fooname:validpassword"

core.register_action("passthrough_request", { "http-req" }, function(txn) end)
core.register_action("passthrough_response", { "http-res" }, function(txn) end)

-- Compares in a time that depends on the lengths alone.
local function is_equal(one, other)
    local difference = #one ~ #other
    for index = 1, #one do
        difference = difference | (one:byte(index) ~ (other:byte(index) or 0))
    end
    return difference == 0
end

local function is_allowed(txn)
    local value = txn.sf:req_fhdr("authorization")
    if value:sub(1, 6):lower() ~= "basic " then
        return false
    end
    local decoded = txn.sc:b64dec(value:sub(7))
    return is_equal(decoded, EXPECTED)
end

core.register_action("basic_auth", { "http-req" }, function(txn)
    if is_allowed(txn) then
        return
    end
    local reply = txn:reply({ status = 401 })
    reply:add_header("WWW-Authenticate", 'Basic realm="bench"')
    reply:add_header("Content-Length", "13")
    reply:set_body("unauthorized\n")
    txn:done(reply)
end)

core.register_action("headers_request", { "http-req" }, function(txn)
    txn.http:req_set_header("host2", txn.sf:req_fhdr("host"))
end)

core.register_action("headers_response", { "http-res" }, function(txn)
    txn.http:res_set_header("server2", txn.sf:res_fhdr("server"))
end)

local Body = {}
Body.id = "body"
Body.flags = filter.FLT_CFG_FL_HTX
Body.__index = Body

function Body:new()
    return setmetatable({}, Body)
end

function Body:http_headers(txn, message)
    if message:is_resp() then
        filter.register_data_filter(self, message.channel)
    end
end

-- Looks through a piece of the body for a byte that the bodies of the benchmark don't have, so to its end. Without a
-- value returned, HAProxy forwards the piece as it is.
function Body:http_payload(txn, message)
    local piece = message:body()
    if piece and piece:find("<", 1, true) then
        core.Alert("the body has a mark")
    end
end

core.register_filter("body", Body, function(body, args)
    return body
end)
