// Command bundle builds all example filters into one library: go build -buildmode=c-shared -o filters.so ./bundle
package main

import (
	_ "github.com/eddy-gateway/eddy/examples/filters/go/basic-auth"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/body-read"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/body-rewrite"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/events"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/external-auth"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/field"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/header-get-set"
	_ "github.com/eddy-gateway/eddy/examples/filters/go/passthrough"
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
)

func main() {}
