// Command library is the test filter of abi/vectors as a library for eddy.
package main

import (
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
	_ "github.com/eddy-gateway/eddy/sdk/go/internal/vector"
)

func main() {}
