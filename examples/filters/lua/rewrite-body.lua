-- Replaces a word in responses that are text. The others go on as they come.

local SIZE_MAX = 64 * 1024

function envoy_on_response(handle)
  local headers, config = handle:headers(), handle:filterContext()
  local kind, length = headers:get("content-type") or "", tonumber(headers:get("content-length"))
  if not kind:find("^text/") or not length or length > SIZE_MAX then return end
  local body = handle:body()
  if not body then return end
  local text, count = body:getBytes(0, body:length()):gsub(config.word, config.replacement)
  if count > 0 then
    body:setBytes(text)
    headers:replace("x-rewritten", count)
  end
end
