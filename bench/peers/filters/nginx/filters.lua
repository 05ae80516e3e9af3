-- The filters of `nginx-lua`: what each does in each direction, called from the hooks in nginx.conf. Nothing is kept
-- from one request to the next.

local bit = require "bit"

local EXPECTED = "fooname:validpassword"

local filters = {}

function filters.passthrough_request() end

function filters.passthrough_response() end

-- Compares in a time that depends on the lengths alone.
local function is_equal(one, other)
    local difference = bit.bxor(#one, #other)
    for index = 1, #one do
        difference = bit.bor(difference, bit.bxor(one:byte(index), other:byte(index) or 0))
    end
    return difference == 0
end

local function is_allowed(value)
    if not value or value:sub(1, 6):lower() ~= "basic " then
        return false
    end
    local decoded = ngx.decode_base64(value:sub(7))
    return decoded ~= nil and is_equal(decoded, EXPECTED)
end

function filters.basic_auth()
    if is_allowed(ngx.var.http_authorization) then
        return
    end
    ngx.status = 401
    ngx.header["WWW-Authenticate"] = 'Basic realm="bench"'
    ngx.header["Content-Length"] = 13
    ngx.print("unauthorized\n")
    return ngx.exit(401)
end

function filters.headers_request()
    ngx.req.set_header("host2", ngx.var.http_host)
end

function filters.headers_response()
    ngx.header["server2"] = ngx.header["server"]
end

-- Looks through a piece of the body for a byte that the bodies of the benchmark don't have, so to its end.
function filters.body_response()
    local piece = ngx.arg[1]
    if piece ~= "" and piece:find("<", 1, true) then
        ngx.log(ngx.ERR, "the body has a mark")
    end
end

return filters
