package main

import (
	"crypto/subtle"
	"encoding/base64"

	"github.com/eddy-gateway/eddy/sdk/go"
)

func init() {
	eddy.Register("native-empty", func(struct{}) (eddy.Filter, error) { return nativeEmpty{}, nil })
	eddy.Register("native-auth", func(struct{}) (eddy.Filter, error) { return nativeAuth{}, nil })
	eddy.Register("native-headers", func(struct{}) (eddy.Filter, error) { return nativeHeaders{}, nil })
	eddy.Register("native-state", func(struct{}) (eddy.Filter, error) { return nativeState{}, nil })
	eddy.Register("native-go", func(struct{}) (eddy.Filter, error) { return nativeGo{}, nil })
}

type nativeEmpty struct{}

func (nativeEmpty) RequestHead(*eddy.Exchange) eddy.Verdict { return eddy.Continue }

type nativeAuth struct{}

var credentials = []byte("fooname:validpassword")

func (nativeAuth) RequestHead(x *eddy.Exchange) eddy.Verdict {
	value := x.Request().Get(eddy.Authorization)
	if len(value) > 6 && len(value) < 64 && value[:6] == "Basic " {
		var text, decoded [64]byte
		n, err := base64.StdEncoding.Decode(decoded[:], text[:copy(text[:], value[6:])])
		if err == nil && subtle.ConstantTimeCompare(decoded[:n], credentials) == 1 {
			return eddy.Continue
		}
	}
	return x.Reply(401, "", eddy.Field{Name: "www-authenticate", Value: "Basic"})
}

type nativeHeaders struct{}

func (nativeHeaders) RequestHead(x *eddy.Exchange) eddy.Verdict {
	request := x.Request()
	bytes := 0
	for name, value := range request.All() {
		bytes += len(name) + len(value)
	}
	if bytes != 0 {
		request.SetByName("x-first", "a value")
		request.SetByName("x-second", request.Get(eddy.Referer))
	}
	return eddy.Continue
}

type nativeState struct{}

func (nativeState) RequestHead(x *eddy.Exchange) eddy.Verdict {
	state := eddy.State[struct{ id, count uint64 }](x)
	if state.count != 0 && state.id != x.ID() {
		panic("the state of another exchange")
	}
	state.id = x.ID()
	state.count++
	return eddy.Continue
}

type nativeGo struct{}

func (nativeGo) RequestHead(x *eddy.Exchange) eddy.Verdict {
	return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict {
		x.Request().SetByName("x-later", x.Request().Target())
		return eddy.Continue
	})
}
