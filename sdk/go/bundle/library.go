//go:build !wasip1

package bundle

import (
	// It has the exported symbols.
	_ "github.com/eddy-gateway/eddy/sdk/go/internal/bridge"
)
