// Command main is the filters of `envoy-wasm-go` and `eddy-wasm-go`: one module for both, in Go with the kit of proxy-wasm. The
// configuration names the filter. Nothing is kept from one request to the next.
package main

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"
)

func init() {
	proxywasm.SetPluginContext(func(uint32) types.PluginContext { return &plugin{} })
}

func main() {}

// plugin makes the contexts of one filter.
type plugin struct {
	types.DefaultPluginContext
	create func() types.HttpContext
}

func (p *plugin) OnPluginStart(int) types.OnPluginStartStatus {
	text, err := proxywasm.GetPluginConfiguration()
	if err != nil {
		proxywasm.LogCriticalf("there is no configuration: %v", err)
		return types.OnPluginStartStatusFailed
	}
	var config struct{ Filter, Username, Password string }
	if err := json.Unmarshal(text, &config); err != nil {
		proxywasm.LogCriticalf("the configuration: %v", err)
		return types.OnPluginStartStatusFailed
	}
	switch config.Filter {
	case "passthrough":
		p.create = func() types.HttpContext { return &passthrough{} }
	case "basic-auth":
		expected := []byte(config.Username + ":" + config.Password)
		p.create = func() types.HttpContext { return &basicAuth{expected: expected} }
	case "header-get-set":
		p.create = func() types.HttpContext { return &headerFields{} }
	case "body-read":
		p.create = func() types.HttpContext { return &body{} }
	default:
		proxywasm.LogCriticalf("there is no filter %q", config.Filter)
		return types.OnPluginStartStatusFailed
	}
	return types.OnPluginStartStatusOK
}

func (p *plugin) NewHttpContext(uint32) types.HttpContext { return p.create() }

// passthrough does nothing. A module of this kit has every function that a gateway may enter, and is entered in every phase.
type passthrough struct{ types.DefaultHttpContext }

// basicAuth lets requests with the right credentials pass.
type basicAuth struct {
	types.DefaultHttpContext
	expected []byte
}

func (f *basicAuth) OnHttpRequestHeaders(int, bool) types.Action {
	value, err := proxywasm.GetHttpRequestHeader("authorization")
	if err == nil && f.allows(value) {
		return types.ActionContinue
	}
	fields := [][2]string{{"www-authenticate", `Basic realm="bench"`}}
	if err := proxywasm.SendHttpResponse(401, fields, []byte("unauthorized\n"), -1); err != nil {
		proxywasm.LogErrorf("cannot answer: %v", err)
	}
	return types.ActionPause
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
type headerFields struct{ types.DefaultHttpContext }

func (f *headerFields) OnHttpRequestHeaders(int, bool) types.Action {
	host, err := proxywasm.GetHttpRequestHeader(":authority")
	if err == nil {
		err = proxywasm.ReplaceHttpRequestHeader("host2", host)
	}
	if err != nil {
		proxywasm.LogErrorf("the request's headers: %v", err)
	}
	return types.ActionContinue
}

func (f *headerFields) OnHttpResponseHeaders(int, bool) types.Action {
	server, err := proxywasm.GetHttpResponseHeader("server")
	if err != nil {
		// The gateway's own answers have none.
		return types.ActionContinue
	}
	if err := proxywasm.ReplaceHttpResponseHeader("server2", server); err != nil {
		proxywasm.LogErrorf("the response's headers: %v", err)
	}
	return types.ActionContinue
}

// body looks through the response's body, as it passes, for a byte that the bodies of the benchmark don't have, so to its
// end.
type body struct{ types.DefaultHttpContext }

func (f *body) OnHttpResponseBody(size int, _ bool) types.Action {
	if size == 0 {
		return types.ActionContinue
	}
	piece, err := proxywasm.GetHttpResponseBody(0, size)
	if err != nil {
		proxywasm.LogErrorf("the response's body: %v", err)
	} else if bytes.IndexByte(piece, '<') >= 0 {
		proxywasm.LogError("the body has a mark")
	}
	return types.ActionContinue
}

var (
	_ types.PluginContext = (*plugin)(nil)
	_ types.HttpContext   = (*passthrough)(nil)
	_ types.HttpContext   = (*basicAuth)(nil)
	_ types.HttpContext   = (*headerFields)(nil)
	_ types.HttpContext   = (*body)(nil)
)
