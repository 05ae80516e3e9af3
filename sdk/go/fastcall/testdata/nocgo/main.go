// Nocgo is built without cgo and makes calls nevertheless.
package main

import (
	"fmt"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall"
)

func main() {
	fmt.Println(fastcall.Status())
	fastcall.Call(nil, nil)
}
