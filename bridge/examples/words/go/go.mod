module github.com/eddy-gateway/eddy/bridge/examples/words/go

go 1.24

require (
	github.com/eddy-gateway/eddy/bridge/go v0.0.0
	github.com/eddy-gateway/eddy/sdk/go v0.0.0 // indirect
)

replace (
	github.com/eddy-gateway/eddy/bridge/go => ../../../go
	github.com/eddy-gateway/eddy/sdk/go => ../../../../sdk/go
)
