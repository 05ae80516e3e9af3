// Package rewrite replaces a text in response bodies.
package rewrite

import (
	"bytes"
	"errors"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// Config has the text and its replacement.
type Config struct {
	Find    string `json:"find" eddy:"required"`
	Replace string `json:"replace"`
	// Types are prefixes of the content types to rewrite; default text/ and application/json.
	Types []string `json:"types,omitempty"`
}

// SetDefaults implements eddy.Defaulter.
func (c *Config) SetDefaults() { c.Types = []string{"text/", "application/json"} }

type filter struct {
	find, replace []byte
	types         []string
}

func init() {
	eddy.Register("body-rewrite", func(c Config) (eddy.Filter, error) {
		if c.Find == "" {
			return nil, errors.New(`key "find": can't be empty`)
		}
		return &filter{[]byte(c.Find), []byte(c.Replace), c.Types}, nil
	})
}

// ResponseHead requests the whole body, because the text may be split across two pieces.
func (f *filter) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	response := x.Response()
	if x.IsLast() || response.Has(eddy.ContentEncoding) || response.Status() == 206 {
		// No body, a partial one, or a compressed one.
		return eddy.Continue
	}
	for _, prefix := range f.types {
		if response.HasPrefix(eddy.ContentType, prefix) {
			return x.Buffer()
		}
	}
	return eddy.Continue
}

// ResponseBody replaces the text in the whole body.
func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict {
	body := x.Body()
	if body.IsWhole() && bytes.Contains(body.Bytes(), f.find) {
		body.Set(bytes.ReplaceAll(body.Bytes(), f.find, f.replace))
		// It is valid only for the old body.
		x.Response().Remove(eddy.ETag)
	}
	return eddy.Continue
}
