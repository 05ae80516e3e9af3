module github.com/eddy-gateway/eddy/tests/envoy-filters

go 1.24

require github.com/envoyproxy/envoy v1.31.0

require github.com/eddy-gateway/eddy/sdk/go v0.0.0 // indirect

replace github.com/envoyproxy/envoy => ../../sdk/go-envoy

replace github.com/eddy-gateway/eddy/sdk/go => ../../sdk/go
