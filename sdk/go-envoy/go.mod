module github.com/envoyproxy/envoy

go 1.24

require (
	github.com/golang/protobuf v1.5.4
	google.golang.org/protobuf v1.36.6
)

require github.com/eddy-gateway/eddy/sdk/go v0.0.0

replace github.com/eddy-gateway/eddy/sdk/go => ../go
