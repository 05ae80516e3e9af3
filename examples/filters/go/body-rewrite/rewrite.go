// Package rewrite replaces a text in the bodies of responses.
package rewrite

import (
	"bytes"
	"errors"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// Config says what becomes what.
type Config struct {
	Find    string `json:"find" eddy:"required"`
	Replace string `json:"replace"`
	// Types are the beginnings of the content types that are looked into; text/ and application/json by default.
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

// ResponseHead asks for the whole body, because the text may lie across two pieces.
func (f *filter) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	response := x.Response()
	if x.IsLast() || response.Has(eddy.ContentEncoding) || response.Status() == 206 {
		// There is no body, or only a part of it, or one that would have to be unpacked.
		return eddy.Continue
	}
	for _, prefix := range f.types {
		if response.HasPrefix(eddy.ContentType, prefix) {
			return x.Buffer()
		}
	}
	return eddy.Continue
}

// ResponseBody replaces the text in a whole body.
func (f *filter) ResponseBody(x *eddy.Exchange) eddy.Verdict {
	body := x.Body()
	if body.IsWhole() && bytes.Contains(body.Bytes(), f.find) {
		body.Set(bytes.ReplaceAll(body.Bytes(), f.find, f.replace))
		// It told the old body's.
		x.Response().Remove(eddy.ETag)
	}
	return eddy.Continue
}
