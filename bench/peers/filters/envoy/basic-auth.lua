-- Basic authentication. Envoy has no decoder of base64 for Lua, so this brings one that LuaJIT compiles. Nothing is kept
-- from one request to the next.

local bit = require("bit")
local band, bor, bxor, lshift, rshift = bit.band, bit.bor, bit.bxor, bit.lshift, bit.rshift
local byte, char, concat = string.byte, string.char, table.concat

local EXPECTED = "fooname:validpassword"

local DIGITS = {}
do
    local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for index = 1, #alphabet do
        DIGITS[byte(alphabet, index)] = index - 1
    end
end

-- Decodes padded base64; nil for what is not.
local function decode(text)
    local length = #text
    if length % 4 ~= 0 then
        return nil
    end
    local out, count = {}, 0
    local padding = 0
    if byte(text, length) == 61 then
        padding = byte(text, length - 1) == 61 and 2 or 1
    end
    for at = 1, length, 4 do
        local is_last = at + 3 == length
        local a, b, c, d = byte(text, at, at + 3)
        a, b = DIGITS[a], DIGITS[b]
        c = (is_last and padding == 2) and 0 or DIGITS[c]
        d = (is_last and padding >= 1) and 0 or DIGITS[d]
        if not (a and b and c and d) then
            return nil
        end
        local word = bor(lshift(a, 18), lshift(b, 12), lshift(c, 6), d)
        count = count + 1
        local piece = char(rshift(word, 16), band(rshift(word, 8), 255), band(word, 255))
        out[count] = is_last and piece:sub(1, 3 - padding) or piece
    end
    return concat(out)
end

-- Compares in a time that depends on the lengths alone.
local function is_equal(one, other)
    local difference = bxor(#one, #other)
    for index = 1, #one do
        difference = bor(difference, bxor(byte(one, index), byte(other, index) or 0))
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
