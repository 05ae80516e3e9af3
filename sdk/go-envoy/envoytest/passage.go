package envoytest

import (
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// passage is the way of one message through the filters. It follows the gateway's (eddy_filter::MessageRun, which has a
// table of the states); abi/chains holds both to the same cases. Positions count filters in the order in which the
// message passes them.
type passage struct {
	exchange  *exchange
	direction direction

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

	pieces, passed []string
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

// pass passes a message through the filters. It returns Continue, or the verdict that ended the message.
func (x *exchange) pass(d direction) raw.Verdict {
	body, trailers := x.message(d)
	p := &passage{exchange: x, direction: d, pieces: *body}
	x.passage = p
	whole := strings.Join(p.pieces, "")
	switch {
	case d == responseWay && x.isLocal:
		// The gateway has the body of a local reply as a whole.
		if whole != "" {
			p.body, p.part, p.data = bodyPasses, partWhole, whole
		}
	case len(p.pieces) != 0 || len(*trailers) != 0:
		p.body = bodyAwaited
	}
	if verdict := p.run(); verdict != raw.Continue {
		return verdict
	}
	body, _ = x.message(d)
	*body = p.passed
	return raw.Continue
}

func (p *passage) run() raw.Verdict {
	for {
		verdict := raw.Continue
		switch {
		case p.head == headPasses:
			verdict = p.passHead()
		case p.head == headPassed && (p.body == bodyEnded || p.body == bodyAwaited || p.body == bodyPasses && p.part != partWhole):
			p.head = headSent
		case p.body == bodyEnded:
			return raw.Continue
		case p.body == bodyAwaited:
			p.read()
		case p.body == bodyPasses:
			verdict = p.passBody()
		case p.body == bodyAtHold:
			p.buffer()
		case p.body == trailersPass:
			verdict = p.passTrailers()
		}
		if verdict != raw.Continue {
			return verdict
		}
	}
}

// passHead enters head hooks once.
func (p *passage) passHead() raw.Verdict {
	x := p.exchange
	order := p.order(p.direction.head, p.headAt, len(x.gateway.steps))
	if len(order) == 0 {
		p.head = headPassed
		if p.direction == requestWay {
			x.entered = len(x.gateway.steps)
		}
		return raw.Continue
	}
	flags := uint8(0)
	if p.body == bodyEnded {
		flags = raw.CallEnd
	}
	verdict, stopped := x.enter(p.direction.head, order, nil, flags)
	p.headAt = p.position(order[stopped]) + 1
	if p.direction == requestWay {
		x.entered = p.headAt
	}
	if verdict != raw.Buffer {
		return verdict
	}
	// A message without a body has nothing to wait for.
	if p.body != bodyEnded {
		isWhole := p.body == bodyPasses && p.part == partWhole
		p.holds = append(p.holds, hold{by: p.headAt - 1, seesWhole: isWhole})
		p.head = headHeld
	}
	return raw.Continue
}

// read takes the next piece.
func (p *passage) read() {
	p.data = ""
	if len(p.pieces) != 0 {
		p.data, p.pieces = p.pieces[0], p.pieces[1:]
	}
	p.body, p.bodyAt, p.part = bodyPasses, 0, partPiece
	if len(p.pieces) == 0 {
		p.part = partLast
	}
}

// passBody enters body hooks once, or passes on what has passed those before the innermost hold.
func (p *passage) passBody() raw.Verdict {
	order := p.order(p.direction.body, p.bodyAt, p.gate())
	if len(order) == 0 {
		p.reachGate()
		return raw.Continue
	}
	flags := uint8(0)
	if p.part == partWhole {
		flags |= raw.CallBuffered
	}
	if p.part != partPiece && !p.hasTrailers() {
		flags |= raw.CallEnd
	}
	verdict, stopped := p.exchange.enter(p.direction.body, order, &p.data, flags)
	p.bodyAt = p.position(order[stopped]) + 1
	if verdict != raw.Buffer {
		return verdict
	}
	if p.part != partWhole {
		p.bodyAt--
		p.holds = append(p.holds, hold{by: p.bodyAt, start: len(p.held)})
	}
	return raw.Continue
}

// gate returns the position before which data stops.
func (p *passage) gate() int {
	if len(p.holds) == 0 {
		return len(p.exchange.gateway.steps)
	}
	innermost := p.holds[len(p.holds)-1]
	if innermost.seesWhole {
		return innermost.by + 1
	}
	return innermost.by
}

func (p *passage) reachGate() {
	switch {
	case len(p.holds) == 0 && p.part == partPiece:
		p.write()
		p.body = bodyAwaited
	case len(p.holds) == 0:
		p.body, p.bodyAt = trailersPass, 0
	case p.holds[len(p.holds)-1].seesWhole:
		p.bodyAt = p.gate()
		p.holds = p.holds[:len(p.holds)-1]
		if len(p.holds) == 0 && p.head == headHeld {
			p.head, p.headAt = headPasses, p.bodyAt
		}
	default:
		p.body = bodyAtHold
	}
}

// buffer adds data to what the innermost hold has buffered.
func (p *passage) buffer() {
	innermost := &p.holds[len(p.holds)-1]
	p.held += p.data
	p.data, p.body = "", bodyAwaited
	if p.part != partPiece {
		p.data, p.held = p.held[innermost.start:], p.held[:innermost.start]
		innermost.seesWhole = true
		p.body, p.bodyAt, p.part = bodyPasses, innermost.by, partWhole
	}
}

// passTrailers enters trailer hooks once, or ends the message.
func (p *passage) passTrailers() raw.Verdict {
	var order []int
	if p.hasTrailers() {
		order = p.order(p.direction.trailers, p.bodyAt, len(p.exchange.gateway.steps))
	}
	if len(order) == 0 {
		p.write()
		p.body = bodyEnded
		return raw.Continue
	}
	verdict, stopped := p.exchange.enter(p.direction.trailers, order, nil, raw.CallEnd)
	p.bodyAt = p.position(order[stopped]) + 1
	if verdict == raw.Buffer {
		// The trailers come last: nothing is left to buffer.
		return raw.Continue
	}
	return verdict
}

func (p *passage) write() {
	if p.data != "" {
		p.passed = append(p.passed, p.data)
	}
}

func (p *passage) hasTrailers() bool {
	_, trailers := p.exchange.message(p.direction)
	return len(*trailers) != 0
}

// isHeadOpen returns whether the head can still be changed.
func (p *passage) isHeadOpen() bool { return p.head != headSent }

// position converts a filter to its position, and a position to its filter.
func (p *passage) position(filter int) int {
	if p.direction == responseWay {
		return len(p.exchange.gateway.steps) - 1 - filter
	}
	return filter
}

// order returns the filters that are called in a phase among the positions from and before to.
func (p *passage) order(phase raw.Phase, from, to int) (order []int) {
	for at := from; at < to; at++ {
		filter := p.position(at)
		isWanted := p.exchange.gateway.steps[filter].interest&phase.Bit() != 0
		// Responses are only passed to filters that the request has reached.
		if isWanted && (p.direction == requestWay || filter < p.exchange.entered) {
			order = append(order, filter)
		}
	}
	return order
}
