module envoy-api

go 1.26
