module github.com/eddy-gateway/eddy/bridge/rust/eddy-bridge-e2e/go

go 1.24

require (
	github.com/eddy-gateway/eddy/bridge/go v0.0.0
	github.com/eddy-gateway/eddy/sdk/go v0.0.0 // indirect
)

replace (
	github.com/eddy-gateway/eddy/bridge/go => ../../../go
	github.com/eddy-gateway/eddy/sdk/go => ../../../../sdk/go
)
