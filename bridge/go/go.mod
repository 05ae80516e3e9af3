module github.com/eddy-gateway/eddy/bridge/go

go 1.24

require github.com/eddy-gateway/eddy/sdk/go v0.0.0

replace github.com/eddy-gateway/eddy/sdk/go => ../../sdk/go
