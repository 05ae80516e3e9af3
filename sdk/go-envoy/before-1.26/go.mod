// In snapshots of Envoy before 1.26, the Go filter API was a module of its own. The packages have kept their paths and
// are in the module of today: this empty module takes the place of the old one, which would otherwise provide them too.
module github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go

go 1.24

require github.com/envoyproxy/envoy v1.26.0

replace (
	github.com/eddy-gateway/eddy/sdk/go => ../../go
	github.com/envoyproxy/envoy => ..
)
