module example.com/stream

go 1.24

require github.com/envoyproxy/envoy v1.36.2
