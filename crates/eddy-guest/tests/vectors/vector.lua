-- The filter of the test vectors, as far as scripts support it: single steps, in the phases of heads.

local function bytes_of(text)
  if type(text) ~= "table" then return text or "" end
  if text.hex then
    return (text.hex:gsub("..", function(two) return string.char(tonumber(two, 16)) end))
  end
  return text["repeat"]:rep(text.times)
end

-- Whether a text is UTF-8.
local function is_utf8(text)
  local at = 1
  while at <= #text do
    local first = text:byte(at)
    local more = first < 0x80 and 0 or first >= 0xc2 and first < 0xe0 and 1 or first >= 0xe0 and first < 0xf0 and 2
      or first >= 0xf0 and first < 0xf5 and 3
    if not more then return false end
    for index = at + 1, at + more do
      local byte = text:byte(index)
      if not byte or byte < 0x80 or byte > 0xbf then return false end
    end
    at = at + more + 1
  end
  return true
end

local function told(text)
  if text == nil then return nil end
  if #text <= 1024 and is_utf8(text) then return text end
  local sum = 0
  for index = 1, #text do sum = sum + text:byte(index) end
  return { bytes = #text, sum = sum }
end

local function split(target)
  local path, query = target:match("^(.-)%?(.*)$")
  return path or target, query or ""
end

local see = {}
function see.field(h, op) return told(h:headers():getAtIndex(op.name, 0)) end
function see.values(h, op)
  local list = {}
  for index = 0, h:headers():getNumValues(op.name) - 1 do list[index + 1] = told(h:headers():getAtIndex(op.name, index)) end
  return list
end
function see.count(h)
  local count = 0
  for name in pairs(h:headers()) do
    if name:sub(1, 1) ~= ":" then count = count + 1 end
  end
  return count
end
function see.fields(h)
  local list = {}
  for name, value in pairs(h:headers()) do
    if name:sub(1, 1) ~= ":" then list[#list + 1] = { name, told(value) } end
  end
  table.sort(list, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  return list
end
for what, name in pairs { method = ":method", target = ":path", authority = ":authority", scheme = ":scheme" } do
  see[what] = function(h) return told(h:headers():get(name)) end
end
function see.path(h) return told((split(h:headers():get(":path")))) end
function see.query(h) return told((select(2, split(h:headers():get(":path"))))) end
function see.status(h) return tonumber(h:headers():get(":status") or "0") end
function see.version(h) return h:streamInfo():protocol() == "HTTP/1.0" and 10 or 11 end
function see.peer(h) return h:streamInfo():downstreamRemoteAddress() end
see["local"] = function(h) return h:streamInfo():downstreamLocalAddress() end
function see.rule(h) return h:streamInfo():routeName() end
function see.metadata(h, op)
  local all = h:streamInfo():dynamicMetadata():get(op.space)
  return all and all[op.key]
end

local verbs = {}
function verbs.set(h, op) h:headers():replace(op.name, bytes_of(op.value)) end
function verbs.add(h, op) h:headers():add(op.name, bytes_of(op.value)) end
function verbs.remove(h, op) h:headers():remove(op.name) end
function verbs.method(h, op) h:headers():replace(":method", bytes_of(op.value)) end
function verbs.target(h, op) h:headers():replace(":path", bytes_of(op.value)) end
function verbs.authority(h, op) h:headers():replace(":authority", bytes_of(op.value)) end
function verbs.status(h, op) h:headers():replace(":status", op.number) end
function verbs.clear_route(h) h:clearRouteCache() end
function verbs.endpoint(h, op) h:setUpstreamOverrideHost(bytes_of(op.value), op.number == 1) end
function verbs.panic(_, op) error(bytes_of(op.value), 0) end
verbs.fault = verbs.panic
function verbs.see(h, op)
  local value = see[op.what](h, op)
  h:streamInfo():dynamicMetadata():set("vector", op.as, value)
end

local function play(h, phase)
  for _, op in ipairs(h:filterContext()[phase] or {}) do verbs[op["do"]](h, op) end
end

function envoy_on_request(h) play(h, "request_head") end
function envoy_on_response(h) play(h, "response_head") end
