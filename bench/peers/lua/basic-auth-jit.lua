-- Basic authentication, written so that LuaJIT compiles it well: tables of numbers, `bit`, and no text in between. Nothing
-- is kept from one request to the next.

local bor, bxor, lshift = bit.bor, bit.bxor, bit.lshift
local byte = string.byte

local EXPECTED = "fooname:validpassword"
local SCHEME = "basic "

-- What each digit of base64 stands for, by its byte; what is no digit sets bits above those of any group.
local DIGITS = {}
for code = 0, 255 do
    DIGITS[code] = -1
end
do
    local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for index = 1, #alphabet do
        DIGITS[byte(alphabet, index)] = index - 1
    end
end

-- The expected bytes in groups of three, which are four digits each.
local GROUPS = {}
for at = 1, #EXPECTED, 3 do
    local a, b, c = byte(EXPECTED, at, at + 2)
    GROUPS[#GROUPS + 1] = bor(lshift(a, 16), lshift(b or 0, 8), c or 0)
end
local COUNT = #GROUPS
local PADDING = 3 * COUNT - #EXPECTED
local LENGTH = #SCHEME + 4 * COUNT
local PAD, ZERO = byte("="), byte("A")

-- Decodes four digits at a time and compares, in a time that depends on the length alone.
local function is_allowed(value)
    if not value or #value ~= LENGTH or value:sub(1, #SCHEME):lower() ~= SCHEME then
        return false
    end
    local difference = 0
    local at = #SCHEME + 1
    for group = 1, COUNT do
        local a, b, c, d = byte(value, at, at + 3)
        if group == COUNT and PADDING > 0 then
            difference = bor(difference, bxor(d, PAD))
            d = ZERO
            if PADDING > 1 then
                difference = bor(difference, bxor(c, PAD))
                c = ZERO
            end
        end
        local given = bor(lshift(DIGITS[a], 18), lshift(DIGITS[b], 12), lshift(DIGITS[c], 6), DIGITS[d])
        difference = bor(difference, bxor(given, GROUPS[group]))
        at = at + 4
    end
    return difference == 0
end

function envoy_on_request(handle)
    if not is_allowed(handle:headers():get("authorization")) then
        handle:respond({ [":status"] = "401", ["www-authenticate"] = 'Basic realm="bench"' }, "unauthorized\n")
    end
end
