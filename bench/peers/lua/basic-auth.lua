-- Basic authentication in plain Lua, which has no decoder of base64. Nothing is kept from one request to the next.

local EXPECTED = "fooname:validpassword"

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- Decodes base64; nil for what is not.
local function decode(text)
    local bytes, bits, value = {}, 0, 0
    for digit in text:gsub("=*$", ""):gmatch(".") do
        local index = ALPHABET:find(digit, 1, true)
        if not index then
            return nil
        end
        value = value * 64 + index - 1
        bits = bits + 6
        if bits >= 8 then
            bits = bits - 8
            bytes[#bytes + 1] = string.char(math.floor(value / 2 ^ bits))
            value = value % 2 ^ bits
        end
    end
    return table.concat(bytes)
end

-- Compares in a time that depends on the lengths alone.
local function is_equal(one, other)
    local difference = math.abs(#one - #other)
    for index = 1, #one do
        difference = difference + math.abs(one:byte(index) - (other:byte(index) or 0))
    end
    return difference == 0
end

local function is_allowed(value)
    if not value or value:sub(1, 6):lower() ~= "basic " then
        return false
    end
    local decoded = decode(value:sub(7))
    return decoded ~= nil and is_equal(decoded, EXPECTED)
end

function envoy_on_request(handle)
    if not is_allowed(handle:headers():get("authorization")) then
        handle:respond({ [":status"] = "401", ["www-authenticate"] = 'Basic realm="bench"' }, "unauthorized\n")
    end
end
