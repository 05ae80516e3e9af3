module github.com/eddy-gateway/eddy/sdk/go

go 1.24
