-- Lets a request pass if a cluster by the name of `auth` says so, and tells the endpoint who it is from.

function envoy_on_request(handle)
  local headers = handle:headers()
  headers:remove("x-user")
  local answer, body = handle:httpCall("auth", {
    [":method"] = "GET",
    [":path"] = "/check",
    [":authority"] = "auth",
    ["authorization"] = headers:get("authorization") or "",
    ["x-original-path"] = headers:get(":path"),
  }, nil, 1000)
  if answer[":status"] ~= "200" then
    handle:respond({ [":status"] = answer[":status"], ["content-type"] = "text/plain" }, body)
  end
  headers:replace("x-user", answer["x-user"] or "unknown")
end
