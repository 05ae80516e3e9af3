// Command main is the filters of `envoy-go`: a dynamic module of Envoy, written with the Go kit of its makers and built
// by ../install. Nothing is kept from one request to the next.
package main

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"

	sdk "github.com/envoyproxy/envoy/source/extensions/dynamic_modules/sdk/go"
	_ "github.com/envoyproxy/envoy/source/extensions/dynamic_modules/sdk/go/abi"
	"github.com/envoyproxy/envoy/source/extensions/dynamic_modules/sdk/go/shared"
)

func init() {
	sdk.RegisterHttpFilterConfigFactories(map[string]shared.HttpFilterConfigFactory{
		"passthrough":    &kind{create: newPassthrough},
		"basic-auth":     &kind{create: newBasicAuth},
		"header-get-set": &kind{create: newHeaders},
		"body-read":      &kind{create: newBody},
	})
}

func main() {}

// kind makes factories of one filter.
type kind struct {
	shared.EmptyHttpFilterConfigFactory
	create func(config []byte) (func(shared.HttpFilterHandle) shared.HttpFilter, error)
}

func (k *kind) Create(_ shared.HttpFilterConfigHandle, config []byte) (shared.HttpFilterFactory, error) {
	create, err := k.create(config)
	if err != nil {
		return nil, err
	}
	return &factory{create: create}, nil
}

// factory makes the filter of one stream.
type factory struct {
	shared.EmptyHttpFilterFactory
	create func(shared.HttpFilterHandle) shared.HttpFilter
}

func (f *factory) Create(handle shared.HttpFilterHandle) shared.HttpFilter { return f.create(handle) }

// passthrough does nothing. Envoy enters a module in every phase, whether the module wants that or not.
type passthrough struct{ shared.EmptyHttpFilter }

func newPassthrough([]byte) (func(shared.HttpFilterHandle) shared.HttpFilter, error) {
	return func(shared.HttpFilterHandle) shared.HttpFilter { return &passthrough{} }, nil
}

// basicAuth lets requests with the right credentials pass.
type basicAuth struct {
	shared.EmptyHttpFilter
	handle   shared.HttpFilterHandle
	expected []byte
}

// newBasicAuth takes `name:password` as its configuration.
func newBasicAuth(config []byte) (func(shared.HttpFilterHandle) shared.HttpFilter, error) {
	if !bytes.Contains(config, []byte(":")) {
		return nil, errors.New("the configuration is name:password")
	}
	expected := bytes.Clone(config)
	return func(handle shared.HttpFilterHandle) shared.HttpFilter {
		return &basicAuth{handle: handle, expected: expected}
	}, nil
}

func (f *basicAuth) OnRequestHeaders(headers shared.HeaderMap, _ bool) shared.HeadersStatus {
	if f.allows(headers.GetOne("authorization").ToUnsafeString()) {
		return shared.HeadersStatusContinue
	}
	fields := [][2]string{{"www-authenticate", `Basic realm="bench"`}}
	f.handle.SendLocalResponse(401, fields, []byte("unauthorized\n"), "basic_auth")
	return shared.HeadersStatusStop
}

func (f *basicAuth) allows(value string) bool {
	const scheme = "basic "
	if len(value) < len(scheme) || !strings.EqualFold(value[:len(scheme)], scheme) {
		return false
	}
	var room [128]byte
	encoded := value[len(scheme):]
	if base64.StdEncoding.DecodedLen(len(encoded)) > len(room) {
		return false
	}
	count, err := base64.StdEncoding.Decode(room[:], []byte(encoded))
	return err == nil && subtle.ConstantTimeCompare(room[:count], f.expected) == 1
}

// headerFields reads a header and sets another from it, in each direction.
type headerFields struct{ shared.EmptyHttpFilter }

func newHeaders([]byte) (func(shared.HttpFilterHandle) shared.HttpFilter, error) {
	return func(shared.HttpFilterHandle) shared.HttpFilter { return &headerFields{} }, nil
}

// The value lies in memory of Envoy, which copies what is set before it changes its headers.
func (f *headerFields) OnRequestHeaders(headers shared.HeaderMap, _ bool) shared.HeadersStatus {
	headers.Set("host2", headers.GetOne(":authority").ToUnsafeString())
	return shared.HeadersStatusContinue
}

func (f *headerFields) OnResponseHeaders(headers shared.HeaderMap, _ bool) shared.HeadersStatus {
	// Envoy's own answers have none.
	if server := headers.GetOne("server").ToUnsafeString(); server != "" {
		headers.Set("server2", server)
	}
	return shared.HeadersStatusContinue
}

// body looks through the response's body, as it passes, for a byte that the bodies of the benchmark don't have, so to its
// end.
type body struct {
	shared.EmptyHttpFilter
	handle shared.HttpFilterHandle
}

func newBody([]byte) (func(shared.HttpFilterHandle) shared.HttpFilter, error) {
	return func(handle shared.HttpFilterHandle) shared.HttpFilter { return &body{handle: handle} }, nil
}

func (f *body) OnResponseBody(piece shared.BodyBuffer, _ bool) shared.BodyStatus {
	for _, chunk := range piece.GetChunks() {
		if bytes.IndexByte(chunk.ToUnsafeBytes(), '<') >= 0 {
			f.handle.Log(shared.LogLevelError, "the body has a mark")
		}
	}
	return shared.BodyStatusContinue
}

var (
	_ shared.HttpFilterConfigFactory = (*kind)(nil)
	_ shared.HttpFilterFactory       = (*factory)(nil)
	_ shared.HttpFilter              = (*passthrough)(nil)
	_ shared.HttpFilter              = (*basicAuth)(nil)
	_ shared.HttpFilter              = (*headerFields)(nil)
	_ shared.HttpFilter              = (*body)(nil)
)
