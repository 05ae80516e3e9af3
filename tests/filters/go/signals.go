package main

import (
	"runtime"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// signals fails as a request's x-go says, in ways that Go hears of by signals of the kernel, or has its runtime at work;
// responses say that it was there.
type signals struct{ zero int }

func (s *signals) RequestHead(x *eddy.Exchange) eddy.Verdict {
	what, _ := x.Request().Lookup("x-go")
	switch what {
	case "nothing":
		var nothing *signals
		nothing.zero++
	case "division":
		s.zero = 1 / s.zero
	case "depth":
		s.zero = deep(1<<16) - 1<<16
	case "collection":
		runtime.GC()
	}
	return eddy.Continue
}

func (s *signals) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	x.Response().SetByName("x-signals", "ok")
	return eddy.Continue
}

// deep calls itself, so that its stack is moved.
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1) + 1
}
