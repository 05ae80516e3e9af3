-- Headers and trailers: read in place, changed by the host.

local internal = ...
local ffi, pairs, setmetatable, tonumber, tostring, type = ffi, pairs, setmetatable, tonumber, tostring, type
local shown, find, count = internal.shown, internal.find, internal.count
local change, raise, text_of, SCOPE = internal.change, internal.raise, internal.text_of, internal.SCOPE
local string_of, lower, concat = ffi.string, string.lower, table.concat

local EDIT, NUMBER, WAY = internal.EDIT, internal.NUMBER, internal.WAY
local SET, ADD, REMOVE = EDIT.SET, EDIT.ADD, EDIT.REMOVE
local METHOD, TARGET, AUTHORITY, STATUS = EDIT.METHOD, EDIT.TARGET, EDIT.AUTHORITY, EDIT.STATUS
local REQUEST, RESPONSE = WAY.REQUEST, WAY.RESPONSE
local MORE, TRAILERS_FLAG = NUMBER.MORE_FLAG, NUMBER.TRAILERS_FLAG

local method, target, authority, scheme = shown.method, shown.target, shown.authority, shown.scheme

-- Pseudo-headers: the message that has it, a function that reads the value, and the edit that sets it.
local pseudo = {
  [":method"] = { REQUEST, function() return string_of(method.data, method.len) end, METHOD },
  [":path"] = { REQUEST, function() return string_of(target.data, target.len) end, TARGET },
  [":authority"] = { REQUEST, function() return string_of(authority.data, authority.len) end, AUTHORITY },
  [":scheme"] = { REQUEST, function() return string_of(scheme.data, scheme.len) end },
  [":status"] = { RESPONSE, function() return tostring(shown.status) end, STATUS },
}
local ORDERS = { [REQUEST] = { ":authority", ":path", ":method", ":scheme" }, [RESPONSE] = { ":status" } }
local NO_ORDER = {}

-- Message whose pseudo-headers a section has.
local function own_way() return shown.way end
local function request_way() return REQUEST end
local function no_way() return nil end

-- Methods for one section of a message.
local function methods_of(section, way)
  local is_head = way == own_way
  local flag = is_head and 0 or TRAILERS_FLAG
  local function get_pseudo(name)
    local known = pseudo[name]
    if known and known[1] == way() then return known[2]() end
    return nil
  end

  local function value_at(index)
    local value = section.fields[index].value
    return string_of(section.bytes + value.start, value.stop - value.start)
  end

  local function joined(name, index)
    local values, last = {}, 0
    while index >= 0 do
      local has_more = index >= MORE
      if has_more then index = index - MORE end
      last = last + 1
      values[last] = value_at(index)
      if not has_more then break end
      index = find(section, name, #name, index + 1)
    end
    return concat(values, ",")
  end

  local methods = {}

  function methods.get(self, name)
    if self[1] ~= shown.scope then raise(SCOPE) end
    if type(name) ~= "string" then name = text_of(name) end
    local index = find(section, name, #name, 0)
    if index < 0 then return get_pseudo(name) end
    if index >= MORE then return joined(name, index) end
    local value = section.fields[index].value
    return string_of(section.bytes + value.start, value.stop - value.start)
  end

  function methods.getAtIndex(self, name, at)
    if self[1] ~= shown.scope then raise(SCOPE) end
    name = text_of(name)
    if type(at) ~= "number" then raise("number expected") end
    if at < 0 then return nil end
    local index = find(section, name, #name, 0)
    if index < 0 then
      if at == 0 then return get_pseudo(name) end
      return nil
    end
    while true do
      local has_more = index >= MORE
      if has_more then index = index - MORE end
      if at < 1 then return value_at(index) end
      if not has_more then return nil end
      at = at - 1
      index = find(section, name, #name, index + 1)
    end
  end

  function methods.getNumValues(self, name)
    if self[1] ~= shown.scope then raise(SCOPE) end
    name = text_of(name)
    local values = count(section, name, #name)
    if values == 0 and get_pseudo(name) then return 1 end
    return values
  end

  local function check_open(self)
    if self[1] ~= shown.scope then raise(SCOPE) end
    if way == request_way or (is_head and not shown.is_open) then raise("header map can no longer be modified") end
  end

  function methods.add(self, name, value)
    check_open(self)
    change(ADD + flag, text_of(name), text_of(value), 0)
  end

  function methods.remove(self, name)
    check_open(self)
    change(REMOVE + flag, text_of(name), "", 0)
  end

  function methods.replace(self, name, value)
    check_open(self)
    name, value = text_of(name), text_of(value)
    local known = is_head and pseudo[name]
    if not known then
      if is_head and shown.way == REQUEST and #name == 4 and lower(name) == "host" then
        return change(AUTHORITY, "", value, 0)
      end
      return change(SET + flag, name, value, 0)
    end
    if known[1] ~= shown.way then raise(name .. " does not exist in this message") end
    local op = known[3]
    if op == STATUS then
      local status = tonumber(value)
      if not status or status < 200 or status > 599 then raise(":status must be between 200-599") end
      return change(STATUS, "", "", status)
    end
    if op then return change(op, "", value, 0) end
    -- The scheme is always that of the connection; scripts cannot change it.
  end

  function methods.setHttp1ReasonPhrase(self, reason)
    check_open(self)
    text_of(reason)
    if shown.way == REQUEST then raise("setHttp1ReasonPhrase is only valid in the response flow") end
    -- The phrase adds nothing to the status; eddy writes the standard one.
  end

  -- Returns an iterator over all headers, pseudo-headers first.
  local function each(self)
    if self[1] ~= shown.scope then raise(SCOPE) end
    local scope, changes, at = shown.scope, shown.changes, 0
    local order = ORDERS[way()] or NO_ORDER
    local first = #order
    return function()
      if scope ~= shown.scope then raise(SCOPE) end
      if changes ~= shown.changes then raise("header map cannot be modified while iterating") end
      at = at + 1
      if at <= first then
        local name = order[at]
        return name, pseudo[name][2]()
      end
      local index = at - first - 1
      if index >= section.len then return nil end
      local field = section.fields[index]
      local name = lower(string_of(section.bytes + field.name.start, field.name.stop - field.name.start))
      return name, value_at(index)
    end
  end

  return { __index = internal.loggable(methods), __pairs = each, __metatable = false }
end

local head = methods_of(shown.head, own_way)
local trailers = methods_of(shown.trailers, no_way)
local request = methods_of(shown.request, request_way)

function internal.headers_object()
  return setmetatable({ shown.scope }, head)
end

function internal.request_object()
  return setmetatable({ shown.scope }, request)
end

function internal.trailers_object()
  return setmetatable({ shown.scope }, trailers)
end

-- Calls `add` for each header of a table from a script; each value is a string or a list of strings.
function internal.each_header(headers, add)
  if type(headers) ~= "table" then raise("a table of headers is expected") end
  for name, value in pairs(headers) do
    if type(name) ~= "string" then raise("the name of a header has to be a string") end
    if type(value) == "table" then
      for index = 1, #value do add(name, text_of(value[index])) end
    elseif type(value) == "boolean" then
      raise("the value of header \"" .. name .. "\" has to be a string")
    else
      add(name, text_of(value))
    end
  end
end
