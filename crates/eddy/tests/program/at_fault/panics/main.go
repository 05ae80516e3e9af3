// Command panics is a library of filters that panic where the path of a request says, or end their goroutine.
package main

import (
	"runtime"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go"
	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

type factory struct{}

type filter struct{}

type elsewhere struct{}

type leaving struct{}

func init() {
	raw.Register("panic-at", factory{})
	eddy.Register("panic-elsewhere", func(struct{}) (eddy.Filter, error) { return elsewhere{}, nil })
	eddy.Register("leave", func(struct{}) (eddy.Filter, error) { return leaving{}, nil })
}

func (factory) New(_ string, text []byte, _ uint32) (raw.Filter, raw.Info, error) {
	if strings.Contains(string(text), "panic") {
		panic("in New")
	}
	return filter{}, raw.Info{Interest: 0x7f}, nil
}

func (factory) NewConfig(raw.Filter, []byte) (raw.Config, error) { panic("in NewConfig") }

const (
	quiet  = 1
	ending = 2
)

func (filter) Run(c *raw.Call, s *raw.Step) raw.Verdict {
	where, _ := strings.CutPrefix(c.CurrentTarget(), "/panic/")
	s.State = quiet
	if where == "ended" {
		s.State = ending
	}
	if where == c.Phase.String() {
		var nothing *raw.Call
		c.Edit(raw.OpSet, "void", nothing.CurrentTarget(), 0)
	}
	return raw.Continue
}

func (filter) Ended(state uint64, _ raw.EndReason) {
	if state == ending {
		panic("in Ended")
	}
}

// RequestHead goes to a goroutine, and panics there.
func (elsewhere) RequestHead(x *eddy.Exchange) eddy.Verdict {
	if x.Request().Path() != "/panic/elsewhere" {
		return eddy.Continue
	}
	return eddy.Go(x, func(*eddy.Exchange) eddy.Verdict { panic("elsewhere") })
}

func main() {}

// RequestHead ends its goroutine: here, which takes `blocking: true`, or behind eddy.Go.
func (leaving) RequestHead(x *eddy.Exchange) eddy.Verdict {
	if x.Request().Path() == "/go" {
		return eddy.Go(x, func(*eddy.Exchange) eddy.Verdict {
			runtime.Goexit()
			return eddy.Continue
		})
	}
	runtime.Goexit()
	return eddy.Continue
}
