// Filters in the shapes of Envoy's Go API. They build for Envoy 1.31 to 1.40 as they stand, without the two
// replacements, and for eddy with them.
module github.com/eddy-gateway/eddy/examples/filters/go-envoy

go 1.24

require (
	github.com/cncf/xds/go v0.0.0-20231128003011-0fa0005c9caa
	github.com/envoyproxy/envoy v1.31.0
	google.golang.org/protobuf v1.36.6
)

require (
	github.com/eddy-gateway/eddy/sdk/go v0.0.0 // indirect
	github.com/envoyproxy/protoc-gen-validate v1.0.2 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20230822172742-b8732ec3820d // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20230822172742-b8732ec3820d // indirect
)

replace github.com/envoyproxy/envoy => ../../../sdk/go-envoy

replace github.com/eddy-gateway/eddy/sdk/go => ../../../sdk/go
