-- Reads a header and sets another from it, in each direction.

function envoy_on_request(handle)
    local headers = handle:headers()
    headers:replace("host2", headers:get(":authority"))
end

function envoy_on_response(handle)
    local headers = handle:headers()
    local server = headers:get("server")
    -- Envoy's own answers have none.
    if server then
        headers:replace("server2", server)
    end
end
