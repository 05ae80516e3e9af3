// Command testmodule is the module for eddy's tests: the filter of abi/vectors, filters that fail in every way, and
// filters for measurements.
package main

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go"
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
	_ "github.com/eddy-gateway/eddy/sdk/go/internal/vector"
)

func main() {}

type filter struct {
	do     func(f *filter, x *eddy.Exchange) eddy.Verdict
	env    *eddy.Env
	kept   [][]byte
	calls  *eddy.Counter
	sizes  *eddy.Histogram
	client *eddy.Client
}

type config struct {
	Greeting string `json:"greeting"`
}

func register(name string, do func(f *filter, x *eddy.Exchange) eddy.Verdict) {
	eddy.Register(name, func(c config) (eddy.Filter, error) {
		if c.Greeting == "panic" {
			panic("in New")
		}
		if c.Greeting == "error" {
			return nil, errors.New(strings.Repeat("no ", 1000))
		}
		return &filter{do: do}, nil
	})
}

func init() {
	register("empty", func(*filter, *eddy.Exchange) eddy.Verdict { return eddy.Continue })
	register("auth", func(_ *filter, x *eddy.Exchange) eddy.Verdict {
		value, ok := strings.CutPrefix(x.Request().Get(eddy.Authorization), "Basic ")
		var plain [64]byte
		if ok && base64.StdEncoding.DecodedLen(len(value)) <= len(plain) {
			if n, err := base64.StdEncoding.Decode(plain[:], []byte(value)); err == nil && string(plain[:n]) == "fooname:validpassword" {
				return eddy.Continue
			}
		}
		return x.Reply(401, "no\n", eddy.F(eddy.WWWAuthenticate, "Basic"))
	})
	register("mark", func(_ *filter, x *eddy.Exchange) eddy.Verdict {
		x.Request().SetByName("x-mark", "seen")
		return eddy.Continue
	})
	register("panic", func(*filter, *eddy.Exchange) eddy.Verdict { panic("in a hook") })
	register("loop", func(f *filter, x *eddy.Exchange) eddy.Verdict {
		for x.Request().Has(eddy.Authorization) {
			f.kept = f.kept[:0]
		}
		return eddy.Continue
	})
	register("memory", func(f *filter, x *eddy.Exchange) eddy.Verdict {
		for x.Request().Has(eddy.Authorization) {
			f.kept = append(f.kept, make([]byte, 1<<20))
		}
		return eddy.Continue
	})
	register("wait", func(*filter, *eddy.Exchange) eddy.Verdict { select {} })
	register("sleep", func(*filter, *eddy.Exchange) eddy.Verdict { time.Sleep(time.Hour); return eddy.Continue })
	register("count", func(f *filter, x *eddy.Exchange) eddy.Verdict {
		f.calls.Add(x, 1)
		f.sizes.Observe(x, uint64(len(x.Request().Target())))
		*eddy.State[int](x)++
		return eddy.Continue
	})
	register("large", func(_ *filter, x *eddy.Exchange) eddy.Verdict {
		for range 100 {
			x.Request().AddByName("x-large", strings.Repeat("x", 1000))
		}
		return eddy.Continue
	})
	register("ask", func(f *filter, x *eddy.Exchange) eddy.Verdict {
		return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict {
			answer, err := f.client.Do(x.Context(), &eddy.OutRequest{
				Target: "/allowed", Fields: []eddy.Field{eddy.Named("x-who", x.Request().Target())}, Body: []byte("body"),
			})
			if err != nil {
				return x.Fault(err)
			}
			x.Request().SetByName("x-answer", string(answer.Body))
			return eddy.Continue
		})
	})
}

func (f *filter) Start(env *eddy.Env) (err error) {
	f.env, f.client = env, env.Client("guards")
	if f.calls, err = env.Counter("calls"); err != nil {
		return err
	}
	f.sizes, err = env.Histogram("sizes", 1, 10)
	env.Logger().Info("made")
	return err
}

func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict { return f.do(f, x) }
