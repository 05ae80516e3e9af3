// Package auth implements HTTP Basic authentication (RFC 7617) with one user.
package auth

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"

	"github.com/eddy-gateway/eddy/sdk/go"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Config has the credentials.
type Config struct {
	// Username must not contain a colon.
	Username string `json:"username" eddy:"required"`
	Password string `json:"password" eddy:"required"`
	// Realm is shown to the user; default "restricted".
	Realm string `json:"realm,omitempty"`
}

// SetDefaults implements eddy.Defaulter.
func (c *Config) SetDefaults() { c.Realm = "restricted" }

type filter struct {
	credentials []byte
	challenge   string
}

func init() { eddy.Register("basic-auth", newFilter) }

func newFilter(c Config) (eddy.Filter, error) {
	f := &filter{credentials: []byte(c.Username + ":" + c.Password), challenge: `Basic realm="` + c.Realm + `"`}
	switch {
	case len(f.credentials) > credentialsMax:
		return nil, errors.New("username and password are longer than 256 bytes together")
	case containsAny(c.Username, ':'):
		return nil, errors.New(`key "username": can't have a colon`)
	case containsAny(c.Realm, '"', '\\', '\r', '\n'):
		return nil, errors.New(`key "realm": can't have quotes, backslashes or line ends`)
	}
	return f, nil
}

// RequestHead continues requests with the correct password. Every request is decoded and compared again, in constant
// time, so the duration does not reveal a partial match.
func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
	if f.isKnown(x.Request().Get(eddy.Authorization)) {
		return eddy.Continue
	}
	return x.Reply(401, "credentials are needed\n", eddy.F(eddy.WWWAuthenticate, f.challenge))
}

func (f *filter) isKnown(value string) bool {
	if len(value) < len(scheme) || !raw.EqualFold(value[:len(scheme)], scheme) {
		return false
	}
	encoded := value[len(scheme):]
	var text [encodedMax]byte
	var decoded [encodedMax]byte
	if len(encoded) > len(text) {
		return false
	}
	n, err := base64.StdEncoding.Decode(decoded[:], text[:copy(text[:], encoded)])
	return err == nil && subtle.ConstantTimeCompare(decoded[:n], f.credentials) == 1
}

func containsAny(s string, bytes ...byte) bool {
	for i := range len(s) {
		for _, b := range bytes {
			if s[i] == b {
				return true
			}
		}
	}
	return false
}

const (
	scheme         = "Basic "
	credentialsMax = 256
	encodedMax     = (credentialsMax + 2) / 3 * 4
)
