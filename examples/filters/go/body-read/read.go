// Package read searches response bodies while they are streamed, without changing them.
package read

import (
	"bytes"
	"fmt"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// Config configures the search.
type Config struct {
	// Byte is the byte to count; default is the line feed.
	Byte string `json:"byte,omitempty"`
}

// SetDefaults implements eddy.Defaulter.
func (c *Config) SetDefaults() { c.Byte = "\n" }

type filter struct {
	wanted byte
	found  *eddy.Counter
}

func init() {
	eddy.Register("body-read", func(c Config) (eddy.Filter, error) {
		if len(c.Byte) != 1 {
			return nil, fmt.Errorf("key %q: one byte is wanted, not %q", "byte", c.Byte)
		}
		return &filter{wanted: c.Byte[0]}, nil
	})
}

// Start implements eddy.Starter.
func (f *filter) Start(env *eddy.Env) (err error) {
	f.found, err = env.Counter("bytes_found")
	return err
}

// ReadsOnly implements eddy.BodyReader: bodies keep their framing.
func (f *filter) ReadsOnly() bool { return true }

// ResponseBody counts the byte in a piece of the body.
func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict {
	if n := bytes.Count(x.Body().Bytes(), []byte{f.wanted}); n != 0 {
		f.found.Add(x, uint64(n))
	}
	return eddy.Continue
}
