package eddytest

import (
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/eddy-gateway/eddy/sdk/go/raw/rawtest"
)

// run is the passage of one message through the chain of an exchange.
type run struct {
	*rawtest.Passage
	message *Message
	calls   *calls
}

// calls are the calls of filters for one message.
type calls struct {
	exchange *exchange
	// out is how the last of them continues the message.
	out outcome
}

// newRun begins a message.
func (e *exchange) newRun(direction int, message *Message) *run {
	c := &calls{exchange: e}
	return &run{message: message, calls: c, Passage: rawtest.NewPassage(c, rawtest.Message{
		IsResponse: direction == 1, IsLocal: e.isLocal, Pieces: message.pieces(), BytesRead: &e.bytes[direction],
		HasTrailers: func() bool { return len(message.Trailers) != 0 },
	})}
}

// pass passes the message through the filters.
func (r *run) pass() outcome {
	if !r.Run() {
		return r.calls.out
	}
	r.message.Pieces, r.message.Body = r.Passed(), strings.Join(r.Passed(), "")
	return proceeds
}

// Len implements rawtest.Chain.
func (c *calls) Len() int { return len(c.exchange.gateway.chain) }

// Wants implements rawtest.Chain. Responses are only passed to filters that the request has reached.
func (c *calls) Wants(filter int, phase raw.Phase) bool {
	e := c.exchange
	isWanted := e.gateway.chain[filter].info.Interest&phase.Bit() != 0 && !e.skipped[filter]
	return isWanted && (direction(phase) == 0 || filter < e.reached)
}

// HeadPassed implements rawtest.Chain.
func (c *calls) HeadPassed(isResponse bool) {
	if !isResponse {
		c.exchange.reached = c.Len()
	}
}

// Enter implements rawtest.Chain.
func (c *calls) Enter(phase raw.Phase, filters []int, flags uint8, body *string) (rawtest.Next, int) {
	if body == nil {
		body = new(string)
	}
	verdict, called, out := c.exchange.crossBody(phase, filters, flags, body)
	c.out = out
	switch {
	case out != proceeds:
		return rawtest.End, called
	case verdict == raw.Buffer:
		return rawtest.Hold, called
	default:
		return rawtest.GoOn, called
	}
}

var _ rawtest.Chain = (*calls)(nil)
