// Filter basic-auth lets requests pass that name a user and a password: those of its configuration.
package main

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"

	xds "github.com/cncf/xds/go/xds/type/v3"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
	"github.com/envoyproxy/envoy/contrib/golang/filters/http/source/go/pkg/http"
	"google.golang.org/protobuf/types/known/anypb"
)

func init() {
	http.RegisterHttpFilterFactoryAndConfigParser("basic-auth", newFilter, parser{})
}

// config holds user, colon and password.
type config struct{ credentials []byte }

type parser struct{}

// Parse takes `username` and `password`.
func (parser) Parse(message *anypb.Any, _ api.ConfigCallbackHandler) (interface{}, error) {
	var typed xds.TypedStruct
	if err := message.UnmarshalTo(&typed); err != nil {
		return nil, err
	}
	fields := typed.GetValue().GetFields()
	user, password := fields["username"].GetStringValue(), fields["password"].GetStringValue()
	if user == "" || strings.Contains(user, ":") || password == "" {
		return nil, errors.New("username, without a colon, and password are needed")
	}
	return &config{[]byte(user + ":" + password)}, nil
}

// Merge lets a rule's configuration stand for the filter's.
func (parser) Merge(_, child interface{}) interface{} { return child }

func newFilter(c interface{}, callbacks api.FilterCallbackHandler) api.StreamFilter {
	return &filter{config: c.(*config), callbacks: callbacks}
}

type filter struct {
	api.PassThroughStreamFilter
	config    *config
	callbacks api.FilterCallbackHandler
}

// DecodeHeaders answers 401 to whoever is not let in.
func (f *filter) DecodeHeaders(header api.RequestHeaderMap, _ bool) api.StatusType {
	credentials, _ := header.Get("authorization")
	if f.config.admits(credentials) {
		return api.Continue
	}
	challenge := map[string][]string{"www-authenticate": {`Basic realm="eddy"`}}
	f.callbacks.DecoderFilterCallbacks().SendLocalReply(401, "unauthorized\n", challenge, -1, "bad-request")
	return api.LocalReply
}

func (c *config) admits(credentials string) bool {
	const scheme = "Basic "
	if len(credentials) < len(scheme) || !strings.EqualFold(credentials[:len(scheme)], scheme) {
		return false
	}
	var buffer [256]byte
	encoded := credentials[len(scheme):]
	if base64.StdEncoding.DecodedLen(len(encoded)) > len(buffer) {
		return false
	}
	n, err := base64.StdEncoding.Decode(buffer[:], []byte(encoded))
	if err != nil {
		return false
	}
	// The time that this takes tells at most the length.
	return subtle.ConstantTimeCompare(buffer[:n], c.credentials) == 1
}

func main() {}
