// Package eddy is the kit for filters of the gateway eddy in Go.
//
// A filter is a value with hooks, registered under a name in an init function:
//
//	package greet
//
//	import "github.com/eddy-gateway/eddy/sdk/go"
//
//	// Config is what stands under `config` of the filter.
//	type Config struct {
//		Greeting string `json:"greeting" eddy:"required"`
//	}
//
//	type filter struct{ config Config }
//
//	func init() {
//		eddy.Register("greet", func(c Config) (eddy.Filter, error) { return &filter{c}, nil })
//	}
//
//	func (f *filter) RequestHead(x *eddy.Exchange) eddy.Verdict {
//		if !x.Request().Has(eddy.Authorization) {
//			return x.Reply(401, "who are you?\n")
//		}
//		x.Request().SetByName("x-greeting", f.config.Greeting)
//		return eddy.Continue
//	}
//
// Package eddytest tests a filter without a gateway; package bundle makes filters a library that the gateway opens.
//
// # What is read is a view
//
// The gateway enters a library once a phase for all of its filters, and hooks read the message where the gateway has
// it: nothing is copied, and reading a field or deciding allocates nothing. The price is that a text which an
// [Exchange] gives is valid only until the hook returns. What is kept longer must be cloned.
//
// # Waiting
//
// A hook runs on a worker of the gateway, and while it runs, the worker does nothing else. A hook that has to wait
// moves to a goroutine by [Go], or hands out [Exchange.Pause], or its filter is configured with `blocking: true`, which
// runs hooks as they are on goroutines.
//
// # Failing
//
// A panic in a hook, or behind [Go], is a fault of the filter for this exchange: the gateway logs it with the stack
// and answers 500, or goes on without the filter if it is configured with `on_failure: open`. A goroutine of a bare
// go statement has no such barrier: a panic there ends the process, as does runtime.Goexit in a hook that runs on a worker.
package eddy
