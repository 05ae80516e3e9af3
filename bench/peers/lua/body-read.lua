-- Looks through each piece of the response's body, as it passes, for a byte that the bodies of the benchmark don't have,
-- so to its end.

function envoy_on_response(handle)
    for chunk in handle:bodyChunks() do
        local length = chunk:length()
        if length > 0 and chunk:getBytes(0, length):find("<", 1, true) then
            handle:logErr("the body has a mark")
        end
    end
end
