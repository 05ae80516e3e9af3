// Package eddy is the Go SDK for filters of the eddy gateway.
//
// A filter is a value with hooks, registered under a name in an init function:
//
//	package greet
//
//	import "github.com/eddy-gateway/eddy/sdk/go"
//
//	// Config is the `config` of the filter.
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
// Package eddytest tests a filter without a gateway; package bundle builds filters into a library for the gateway.
//
// # Views
//
// The gateway calls a library once per phase for all of its filters, and hooks read the message in the memory of the
// gateway: nothing is copied, and reading a header or returning a verdict does not allocate. Therefore a text that an
// [Exchange] returns is valid only until the hook returns. Clone texts that are needed longer.
//
// # Blocking
//
// A hook runs on a worker of the gateway and blocks it. A hook that has to wait moves its work to a goroutine with
// [Go], uses [Exchange.Pause], or has its filter configured with `blocking: true`, which runs the hooks on goroutines.
//
// # Faults
//
// A panic in a hook, or in work passed to [Go], is a fault of the filter for this exchange: the gateway logs it with
// the stack and responds with 500, or continues without the filter if it is configured with `on_failure: open`. A
// goroutine started by a plain go statement has no such recovery: a panic there ends the process, and so does
// runtime.Goexit in a hook that runs on a worker.
package eddy
