-- Enters both directions and does nothing there.

function envoy_on_request(handle) end

function envoy_on_response(handle) end
