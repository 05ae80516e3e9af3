-- Asks for a user name and a password, those of the filter's `config`.

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- The bytes that a text in base64 stands for, or nil if it is none.
local function decode(text)
  local out, bits, count = {}, 0, 0
  for index = 1, #text do
    local letter = text:sub(index, index)
    if letter == "=" then break end
    local place = ALPHABET:find(letter, 1, true)
    if not place then return nil end
    bits, count = bits * 64 + place - 1, count + 6
    if count >= 8 then
      count = count - 8
      local scale = 2 ^ count
      local byte = math.floor(bits / scale)
      out[#out + 1] = string.char(byte)
      bits = bits - byte * scale
    end
  end
  return table.concat(out)
end

local function refuse(handle)
  handle:respond({
    [":status"] = "401",
    ["www-authenticate"] = 'Basic realm="restricted", charset="UTF-8"',
  }, "who are you?\n")
end

function envoy_on_request(handle)
  local sent = handle:headers():get("authorization") or ""
  local scheme, encoded = sent:match("^(%a+) +(%S+)$")
  if not scheme or scheme:lower() ~= "basic" then return refuse(handle) end
  local credentials = decode(encoded)
  local user, password = (credentials or ""):match("^([^:]*):(.*)$")
  local wanted = handle:filterContext()
  if user ~= wanted.username or password ~= wanted.password then return refuse(handle) end
  handle:headers():remove("authorization")
  handle:headers():replace("x-user", user)
end
