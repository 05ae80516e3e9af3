// Command filters is a library of filters that the tests of the program run.
package main

import (
	"github.com/eddy-gateway/eddy/sdk/go"
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
)

func init() {
	eddy.Register("illegal", func(any) (eddy.Filter, error) { return illegal{}, nil })
	eddy.Register("signals", func(any) (eddy.Filter, error) { return &signals{}, nil })
	eddy.Register("random", func(name string) (eddy.Filter, error) { return &random{name: name}, nil })
}

func main() {}
