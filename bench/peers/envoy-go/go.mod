module eddy-bench-envoy-go

go 1.26

require github.com/envoyproxy/envoy/source/extensions/dynamic_modules v0.0.0-20260423231439-f1dd21b16c24
