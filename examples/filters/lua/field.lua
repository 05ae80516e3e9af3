-- Tells the endpoint in a header whose an order is, as its message says. The configuration has the field under `fields`, by the
-- key `tenant`; the message is not decoded.

function envoy_on_request(handle)
  local body = handle:body()
  local tenant = body and body:field("tenant")
  if tenant then handle:headers():replace("x-tenant-lua", tenant) end
end
