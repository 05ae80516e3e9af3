//go:build wasip1

package bundle

import (
	// It has the exported functions.
	_ "github.com/eddy-gateway/eddy/sdk/go/internal/linear"
)
