package eddytest

import (
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// run is the passage of one message through the chain. It follows the gateway's (eddy_filter::MessageRun, which has a
// table of the states); abi/chains holds both to the same cases. Positions count filters in the order in which the message
// passes them.
type run struct {
	exchange  *exchange
	direction int
	message   *Message
	phases    [3]raw.Phase

	head   headState
	headAt int
	body   bodyState
	bodyAt int
	part   bodyPart
	// holds are filters that buffer the body, the outermost first, and held is what they have buffered.
	holds []hold
	held  string
	// data passes the filters.
	data string

	pieces    []string
	passed    []string
	wasPassed bool
}

type headState int

const (
	headPasses headState = iota
	// headHeld means that the outermost hold holds the head, too.
	headHeld
	headPassed
	headSent
)

type bodyState int

const (
	bodyEnded bodyState = iota
	bodyAwaited
	bodyPasses
	bodyAtHold
	trailersPass
)

type bodyPart int

const (
	partPiece bodyPart = iota
	partLast
	partWhole
)

// hold is a filter that buffers the body.
type hold struct {
	by    int
	start int
	// seesWhole means that the body is complete and passes up to the filter.
	seesWhole bool
}

// newRun begins a message.
func (e *exchange) newRun(direction int, message *Message) *run {
	r := &run{
		exchange: e, direction: direction, message: message, pieces: message.pieces(),
		phases: [3]raw.Phase{raw.PhaseRequestHead, raw.PhaseRequestBody, raw.PhaseRequestTrailers},
	}
	if direction == 1 {
		r.phases = [3]raw.Phase{raw.PhaseResponseHead, raw.PhaseResponseBody, raw.PhaseResponseTrailers}
	}
	whole := strings.Join(r.pieces, "")
	switch {
	case direction == 1 && e.isLocal:
		// The gateway has the body of a local reply as a whole.
		if whole != "" {
			r.body, r.part, r.data = bodyPasses, partWhole, whole
			e.bytes[direction] += uint64(len(whole))
		}
	case len(r.pieces) != 0 || len(message.Trailers) != 0:
		r.body = bodyAwaited
	}
	return r
}

// pass passes the message through the filters.
func (r *run) pass() outcome {
	for {
		switch {
		case r.head == headPasses:
			if out := r.passHead(); out != goesOn {
				return out
			}
			continue
		case r.head == headPassed && (r.body == bodyEnded || r.body == bodyAwaited || r.body == bodyPasses && r.part != partWhole):
			r.head = headSent
		}
		switch r.body {
		case bodyEnded:
			r.message.Pieces, r.message.Body = r.passed, strings.Join(r.passed, "")
			return goesOn
		case bodyAwaited:
			r.read()
		case bodyPasses:
			if out := r.passBody(); out != goesOn {
				return out
			}
		case bodyAtHold:
			r.buffer()
		case trailersPass:
			if out := r.passTrailers(); out != goesOn {
				return out
			}
		}
	}
}

// passHead enters head hooks once.
func (r *run) passHead() outcome {
	order := r.order(r.phases[0], r.headAt, len(r.exchange.gateway.chain))
	if len(order) == 0 {
		r.head = headPassed
		if r.direction == 0 {
			r.exchange.reached = len(r.exchange.gateway.chain)
		}
		return goesOn
	}
	flags := uint8(0)
	if r.body == bodyEnded {
		flags = raw.CallEnd
	}
	verdict, at, out := r.exchange.cross(r.phases[0], order, flags, "")
	if out != goesOn {
		return out
	}
	r.headAt = r.position(order[at-1]) + 1
	// A message without a body has nothing to wait for.
	if verdict == raw.Buffer && r.body != bodyEnded {
		isWhole := r.body == bodyPasses && r.part == partWhole
		r.holds = append(r.holds, hold{by: r.headAt - 1, seesWhole: isWhole})
		r.head = headHeld
	}
	return goesOn
}

// read takes the next piece.
func (r *run) read() {
	r.data = ""
	if len(r.pieces) != 0 {
		r.data, r.pieces = r.pieces[0], r.pieces[1:]
	}
	r.exchange.bytes[r.direction] += uint64(len(r.data))
	r.body, r.bodyAt, r.part = bodyPasses, 0, partPiece
	if len(r.pieces) == 0 {
		r.part = partLast
	}
}

// passBody enters body hooks once, or passes on what has passed those before the innermost hold.
func (r *run) passBody() outcome {
	order := r.order(r.phases[1], r.bodyAt, r.gate())
	if len(order) == 0 {
		r.reachGate()
		return goesOn
	}
	flags := uint8(0)
	if r.part == partWhole {
		flags |= raw.CallBuffered
	}
	if r.part != partPiece && len(r.message.Trailers) == 0 {
		flags |= raw.CallEnd
	}
	verdict, at, out := r.exchange.crossBody(r.phases[1], order, flags, &r.data)
	if out != goesOn {
		return out
	}
	r.bodyAt = r.position(order[at-1]) + 1
	if verdict == raw.Buffer && r.part != partWhole {
		r.bodyAt--
		r.holds = append(r.holds, hold{by: r.bodyAt, start: len(r.held)})
	}
	return goesOn
}

// gate returns the position before which data stops.
func (r *run) gate() int {
	if len(r.holds) == 0 {
		return len(r.exchange.gateway.chain)
	}
	innermost := r.holds[len(r.holds)-1]
	if innermost.seesWhole {
		return innermost.by + 1
	}
	return innermost.by
}

func (r *run) reachGate() {
	switch {
	case len(r.holds) == 0 && r.part == partPiece:
		r.passed, r.wasPassed = append(r.passed, r.data), true
		r.body = bodyAwaited
	case len(r.holds) == 0:
		r.body, r.bodyAt = trailersPass, 0
	case r.holds[len(r.holds)-1].seesWhole:
		r.bodyAt = r.gate()
		r.holds = r.holds[:len(r.holds)-1]
		if len(r.holds) == 0 && r.head == headHeld {
			r.head, r.headAt = headPasses, r.bodyAt
		}
	default:
		r.body = bodyAtHold
	}
}

// buffer adds data to what the innermost hold has buffered.
func (r *run) buffer() {
	innermost := &r.holds[len(r.holds)-1]
	r.held += r.data
	r.data, r.body = "", bodyAwaited
	if r.part != partPiece {
		r.data, r.held = r.held[innermost.start:], r.held[:innermost.start]
		innermost.seesWhole = true
		r.body, r.bodyAt, r.part = bodyPasses, innermost.by, partWhole
	}
}

// passTrailers enters trailer hooks once, or ends the message.
func (r *run) passTrailers() outcome {
	var order []int
	if len(r.message.Trailers) != 0 {
		order = r.order(r.phases[2], r.bodyAt, len(r.exchange.gateway.chain))
	}
	if len(order) == 0 {
		if r.data != "" || r.wasPassed || r.part == partLast {
			r.passed = append(r.passed, r.data)
		}
		r.body = bodyEnded
		return goesOn
	}
	_, at, out := r.exchange.cross(r.phases[2], order, raw.CallEnd, "")
	if out == goesOn {
		r.bodyAt = r.position(order[at-1]) + 1
	}
	return out
}

// isHeadOpen returns whether the head can still be changed.
func (r *run) isHeadOpen() bool { return r.head != headSent }

func (r *run) position(filter int) int {
	if r.direction == 1 {
		return len(r.exchange.gateway.chain) - 1 - filter
	}
	return filter
}

// order returns the filters that are called in a phase among the positions before to.
func (r *run) order(phase raw.Phase, from, to int) (order []int) {
	e := r.exchange
	for at := from; at < to; at++ {
		// A position and its filter are converted alike.
		filter := r.position(at)
		wanted := e.gateway.chain[filter].info.Interest&phase.Bit() != 0 && !e.skipped[filter]
		// Responses are only passed to filters that the request has reached.
		if wanted && (r.direction == 0 || filter < e.reached) {
			order = append(order, filter)
		}
	}
	return order
}
