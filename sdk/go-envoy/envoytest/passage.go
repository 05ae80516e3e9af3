package envoytest

import (
	"slices"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/eddy-gateway/eddy/sdk/go/raw/rawtest"
)

// calls are the calls of filters for one message.
type calls struct {
	exchange *exchange
	// verdict is the one that ended the message.
	verdict raw.Verdict
}

// pass passes a message through the filters. It returns Continue, or the verdict that ended the message.
func (x *exchange) pass(d direction) raw.Verdict {
	body, trailers := x.message(d)
	c := &calls{exchange: x, verdict: raw.Continue}
	x.passage = rawtest.NewPassage(c, rawtest.Message{
		IsResponse: d == responseWay, IsLocal: x.isLocal, Pieces: *body,
		HasTrailers: func() bool { return len(*trailers) != 0 },
	})
	if !x.passage.Run() {
		return c.verdict
	}
	*body = slices.DeleteFunc(x.passage.Passed(), func(piece string) bool { return piece == "" })
	return raw.Continue
}

// Len implements rawtest.Chain.
func (c *calls) Len() int { return len(c.exchange.gateway.steps) }

// Wants implements rawtest.Chain. Responses are only passed to filters that the request has reached.
func (c *calls) Wants(filter int, phase raw.Phase) bool {
	isWanted := c.exchange.gateway.steps[filter].interest&phase.Bit() != 0
	return isWanted && (phase < raw.PhaseResponseHead || filter < c.exchange.entered)
}

// HeadPassed implements rawtest.Chain.
func (c *calls) HeadPassed(isResponse bool) {
	if !isResponse {
		c.exchange.entered = c.Len()
	}
}

// Enter implements rawtest.Chain.
func (c *calls) Enter(phase raw.Phase, filters []int, flags uint8, body *string) (rawtest.Next, int) {
	verdict, stopped := c.exchange.enter(phase, filters, body, flags)
	if phase == raw.PhaseRequestHead {
		c.exchange.entered = filters[stopped] + 1
	}
	switch verdict {
	case raw.Continue:
		return rawtest.GoOn, stopped + 1
	case raw.Buffer:
		return rawtest.Hold, stopped + 1
	default:
		c.verdict = verdict
		return rawtest.End, stopped + 1
	}
}

var _ rawtest.Chain = (*calls)(nil)
