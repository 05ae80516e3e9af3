//go:build versions

// Package envoy only keeps requirements of go.mod that no package of this module has.
//
// Filters for Envoy before 1.29 commonly require github.com/golang/protobuf 1.5.0 to 1.5.3, which do not compile with
// the version of google.golang.org/protobuf that this module requires; 1.5.4 does.
package envoy

import (
	_ "github.com/golang/protobuf/proto"
)
