module github.com/eddy-gateway/eddy/bench/bridge

go 1.24

require (
	github.com/eddy-gateway/eddy/bench/calls v0.0.0
	github.com/eddy-gateway/eddy/bridge/go v0.0.0
	github.com/eddy-gateway/eddy/sdk/go v0.0.0
	google.golang.org/protobuf v1.36.12
)

replace (
	github.com/eddy-gateway/eddy/bench/calls => ../calls
	github.com/eddy-gateway/eddy/bridge/go => ../../bridge/go
	github.com/eddy-gateway/eddy/sdk/go => ../../sdk/go
)
