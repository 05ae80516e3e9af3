-- Stream information and metadata, through which filters exchange values.

local internal = ...
local ipairs, next, pairs, pcall = ipairs, next, pairs, pcall
local rawget, setmetatable, type = rawget, setmetatable, type
local shown, question, change, answer = internal.shown, internal.question, internal.change, internal.answer
local raise, SCOPE = internal.raise, internal.SCOPE
local from_json, to_json, text_of = internal.from_json, internal.to_json, internal.text_of

local CALL, EDIT = internal.CALL, internal.EDIT
local PEER, LOCAL, RULE, PROTOCOL = CALL.PEER, CALL.LOCAL, CALL.RULE, CALL.PROTOCOL
local SPACE, SPACES, CONTEXT = CALL.METADATA, CALL.SPACES, CALL.CONTEXT
local SERVER_NAME, TLS = CALL.SERVER_NAME, CALL.TLS
local SET, METADATA, CLEAR_ROUTE = EDIT.SET, EDIT.METADATA, EDIT.CLEAR_ROUTE
local ENDPOINT, ENDPOINT_STRICT = EDIT.ENDPOINT, EDIT.ENDPOINT_STRICT
local NOTHING, REQUEST = internal.ANSWER.NOTHING, internal.WAY.REQUEST

local function check(self)
  if self[1] ~= shown.scope then raise(SCOPE) end
end

local function fact(what)
  question(what, "", "", 0, 0, 0)
  return answer()
end

-- Returns a constructor of objects with these methods, which are valid during the hook.
local function class(methods, each)
  local metatable = { __index = internal.loggable(methods), __pairs = each, __metatable = false }
  return function(...)
    return setmetatable({ shown.scope, ... }, metatable)
  end
end
internal.class = class

-- Returns the metadata under a name as a table; nil if there is none.
local function noted(space)
  if question(SPACE, space, "", 0, 0, 0) == NOTHING then return nil end
  return from_json(answer())
end

local function note(space, key, value)
  if key == "" then raise("a metadata key cannot be empty") end
  local is_text, text = pcall(to_json, value)
  if not is_text then raise(text) end
  change(METADATA, space .. "\0" .. key, value == nil and "" or text, 0)
end

local dynamic = {}

function dynamic.get(self, space)
  check(self)
  return noted(text_of(space))
end

function dynamic.set(self, space, key, value)
  check(self)
  note(text_of(space), text_of(key), value)
end

local dynamic_object = class(dynamic, function(self)
  check(self)
  question(SPACES, "", "", 0, 0, 0)
  local spaces, at = from_json(answer()), 0
  return function()
    at = at + 1
    local space = spaces[at]
    if space then return space, noted(space) end
  end
end)

-- Filter state is stored as metadata under a reserved name.
local STATE = "filter_state"
local state = {}

function state.get(self, name, member)
  check(self)
  local all = noted(STATE)
  local value = all and all[text_of(name)]
  if member == nil or value == nil then return value end
  return type(value) == "table" and value[text_of(member)] or nil
end

function state.set(self, name, factory, value)
  check(self)
  text_of(factory)
  note(STATE, text_of(name), text_of(value))
end

local state_object = class(state)

local parsed_name = {}

function parsed_name.commonName(self) check(self) return self[2] or "" end
function parsed_name.organizationName(self) check(self) return self[3] or {} end

local parsed_name_object = class(parsed_name)

-- Facts of the connection are at 2; those of the client certificate are their `certificate`.
local ssl = {}

function ssl.peerCertificatePresented(self) check(self) return self[2].certificate ~= nil end
-- The handshake fails if the certificate is not valid.
ssl.peerCertificateValidated = ssl.peerCertificatePresented

for name, fact_name in pairs {
  sha256PeerCertificateDigest = "digest",
  serialNumberPeerCertificate = "serial",
  issuerPeerCertificate = "issuer",
  subjectPeerCertificate = "subject",
  urlEncodedPemEncodedPeerCertificate = "pem",
  -- eddy keeps the client's own certificate alone.
  urlEncodedPemEncodedPeerCertificateChain = "pem",
} do
  ssl[name] = function(self)
    check(self)
    local certificate = self[2].certificate
    return certificate and certificate[fact_name] or ""
  end
end

for name, fact_name in pairs {
  uriSanPeerCertificate = "uris", dnsSansPeerCertificate = "hosts", oidsPeerCertificate = "oids",
} do
  ssl[name] = function(self)
    check(self)
    local certificate = self[2].certificate
    return certificate and certificate[fact_name] or {}
  end
end

for name, fact_name in pairs {
  validFromPeerCertificate = "valid_from", expirationPeerCertificate = "expiration",
} do
  ssl[name] = function(self)
    check(self)
    local certificate = self[2].certificate
    return certificate and certificate[fact_name] or 0
  end
end

function ssl.parsedSubjectPeerCertificate(self)
  check(self)
  local certificate = self[2].certificate
  return certificate and parsed_name_object(certificate.common_name, certificate.organizations) or nil
end

-- eddy does not know which of its certificates the connection uses.
for _, name in ipairs { "uriSanLocalCertificate", "dnsSansLocalCertificate", "oidsLocalCertificate" } do
  ssl[name] = function(self) check(self) return {} end
end
function ssl.subjectLocalCertificate(self) check(self) return "" end
function ssl.sessionId(self) check(self) return "" end
function ssl.ciphersuiteId(self) check(self) return self[2].suite_id end
function ssl.ciphersuiteString(self) check(self) return self[2].suite end
function ssl.tlsVersion(self) check(self) return self[2].version end

local ssl_object = class(ssl)

-- Returns the TLS connection; nil if the client does not use TLS.
function internal.ssl()
  if question(TLS, "", "", 0, 0, 0) == NOTHING then return nil end
  return ssl_object(from_json(answer()))
end

local stream = {}

function stream.protocol(self) check(self) return fact(PROTOCOL) end
function stream.routeName(self) check(self) return fact(RULE) end
function stream.virtualClusterName(self) check(self) return "" end
function stream.downstreamDirectLocalAddress(self) check(self) return fact(LOCAL) end
function stream.downstreamLocalAddress(self) check(self) return fact(LOCAL) end
function stream.downstreamDirectRemoteAddress(self) check(self) return fact(PEER) end
function stream.downstreamRemoteAddress(self) check(self) return fact(PEER) end
function stream.requestedServerName(self) check(self) return fact(SERVER_NAME) end
function stream.downstreamSslConnection(self) check(self) return internal.ssl() end
function stream.drainConnectionUponCompletion(self)
  check(self)
  if not shown.is_open then raise("the head was already sent, so it cannot announce the end of the connection") end
  change(SET, "connection", "close", 0)
end
function stream.dynamicMetadata(self) check(self) return dynamic_object() end
function stream.filterState(self) check(self) return state_object() end

function stream.dynamicTypedMetadata(self, space)
  check(self)
  return noted(text_of(space))
end

internal.stream_info = class(stream)

internal.connection_info = class {
  dynamicMetadata = stream.dynamicMetadata,
  dynamicTypedMetadata = stream.dynamicTypedMetadata,
}

internal.connection = class {
  ssl = function(self) check(self) return internal.ssl() end,
}

local context = { __index = internal.loggable_always { get = rawget }, __metatable = false }

-- Returns the configuration of the filter for this rule; an empty table if there is none. Its values are members, and
-- `get` returns them as well.
function internal.context()
  question(CONTEXT, "", "", 0, 0, 0)
  local value = from_json(answer())
  if value == nil then value = {} end
  return type(value) == "table" and setmetatable(value, context) or value
end

local metadata = {}

function metadata.get(self, key)
  check(self)
  local all = internal.context()
  return type(all) == "table" and rawget(all, key) or nil
end

internal.metadata = class(metadata, function(self)
  check(self)
  local all = internal.context()
  return next, type(all) == "table" and all or {}, nil
end)

local function metadata_of(self)
  check(self)
  return internal.metadata()
end

internal.route = class { metadata = metadata_of }

-- Once the request is forwarded, its endpoint and its route are decided; these calls have no effect then.
local function is_decided() return shown.way ~= REQUEST or not shown.is_open end

function internal.override_host(host, is_strict)
  host = text_of(host)
  if is_strict ~= nil and type(is_strict) ~= "boolean" then
    raise("bad argument #2 to 'setUpstreamOverrideHost' (boolean expected, got " .. type(is_strict) .. ")")
  end
  if is_decided() then return end
  change(is_strict and ENDPOINT_STRICT or ENDPOINT, "", host, 0)
end

function internal.clear_route()
  if is_decided() then return end
  change(CLEAR_ROUTE, "", "", 0)
end
