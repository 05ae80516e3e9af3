// Package rawtest passes messages through filters of package raw as the gateway does, without one: the order of calls,
// and what becomes of a body that a filter buffers.
//
// Test filters with package eddytest or envoytest instead, which have the rest of a gateway. This package is for the test
// kits of other interfaces on top of package raw.
package rawtest

import (
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Chain has the filters of an exchange, which are numbered in the order in which requests pass them.
type Chain interface {
	// Len returns the number of filters.
	Len() int
	// Wants returns whether a filter is called in a phase of a message that passes it.
	Wants(filter int, phase raw.Phase) bool
	// HeadPassed is called when the head of a message has passed all filters.
	HeadPassed(isResponse bool)
	// Enter calls filters in a phase, one after the other as long as the message goes on, and returns how many it has
	// called. A body hook may change *body.
	Enter(phase raw.Phase, filters []int, flags uint8, body *string) (Next, int)
}

// Next is how a message goes on after calls of filters.
type Next int

const (
	// GoOn passes the message to the next filter.
	GoOn Next = iota
	// Hold has the filter that was called last buffer the body.
	Hold
	// End ends the passage of the message.
	End
)

// Message is a message that is to pass the filters.
type Message struct {
	IsResponse bool
	// IsLocal means that the gateway itself made the response, and has its body as a whole.
	IsLocal bool
	Pieces  []string
	// HasTrailers returns whether there are trailers at the moment.
	HasTrailers func() bool
	// BytesRead counts the bytes of the body that have been read, if it is not nil.
	BytesRead *uint64
}

// Passage is the way of one message through the filters. It follows the gateway's (eddy_filter::MessageRun, which has a
// table of the states); abi/chains holds both to the same cases. Positions count filters in the order in which the message
// passes them.
type Passage struct {
	chain   Chain
	message Message
	phases  [3]raw.Phase

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

// NewPassage begins the passage of a message.
func NewPassage(chain Chain, message Message) *Passage {
	p := &Passage{
		chain: chain, message: message, pieces: message.Pieces,
		phases: [3]raw.Phase{raw.PhaseRequestHead, raw.PhaseRequestBody, raw.PhaseRequestTrailers},
	}
	if message.IsResponse {
		p.phases = [3]raw.Phase{raw.PhaseResponseHead, raw.PhaseResponseBody, raw.PhaseResponseTrailers}
	}
	switch {
	case message.IsResponse && message.IsLocal:
		if whole := strings.Join(p.pieces, ""); whole != "" {
			p.body, p.part, p.data = bodyPasses, partWhole, whole
			p.count(whole)
		}
	case len(p.pieces) != 0 || message.HasTrailers():
		p.body = bodyAwaited
	}
	return p
}

// Run passes the message through the filters. It returns false if a call ended the passage.
func (p *Passage) Run() bool {
	for {
		next := GoOn
		switch {
		case p.head == headPasses:
			next = p.passHead()
		case p.head == headPassed && (p.body == bodyEnded || p.body == bodyAwaited || p.body == bodyPasses && p.part != partWhole):
			p.head = headSent
		case p.body == bodyEnded:
			return true
		case p.body == bodyAwaited:
			p.read()
		case p.body == bodyPasses:
			next = p.passBody()
		case p.body == bodyAtHold:
			p.buffer()
		case p.body == trailersPass:
			next = p.passTrailers()
		}
		if next == End {
			return false
		}
	}
}

// Passed returns the pieces of the body that have passed all filters. A piece is empty if filters have left nothing of it.
func (p *Passage) Passed() []string { return p.passed }

// IsHeadOpen returns whether the head can still be changed.
func (p *Passage) IsHeadOpen() bool { return p.head != headSent }

// Filters returns the filters that are called in a phase, in the order in which the message passes them.
func (p *Passage) Filters(phase raw.Phase) []int { return p.order(phase, 0, p.chain.Len()) }

// passHead enters head hooks once.
func (p *Passage) passHead() Next {
	order := p.order(p.phases[0], p.headAt, p.chain.Len())
	if len(order) == 0 {
		p.head = headPassed
		p.chain.HeadPassed(p.message.IsResponse)
		return GoOn
	}
	flags := uint8(0)
	if p.body == bodyEnded {
		flags = raw.CallEnd
	}
	next, called := p.chain.Enter(p.phases[0], order, flags, nil)
	if next == End {
		return End
	}
	p.headAt = p.position(order[called-1]) + 1
	// A message without a body has nothing to wait for.
	if next == Hold && p.body != bodyEnded {
		isWhole := p.body == bodyPasses && p.part == partWhole
		p.holds = append(p.holds, hold{by: p.headAt - 1, seesWhole: isWhole})
		p.head = headHeld
	}
	return GoOn
}

// read takes the next piece.
func (p *Passage) read() {
	p.data = ""
	if len(p.pieces) != 0 {
		p.data, p.pieces = p.pieces[0], p.pieces[1:]
	}
	p.count(p.data)
	p.body, p.bodyAt, p.part = bodyPasses, 0, partPiece
	if len(p.pieces) == 0 {
		p.part = partLast
	}
}

func (p *Passage) count(data string) {
	if p.message.BytesRead != nil {
		*p.message.BytesRead += uint64(len(data))
	}
}

// passBody enters body hooks once, or passes on what has passed those before the innermost hold.
func (p *Passage) passBody() Next {
	order := p.order(p.phases[1], p.bodyAt, p.gate())
	if len(order) == 0 {
		p.passToHold()
		return GoOn
	}
	flags := uint8(0)
	if p.part == partWhole {
		flags |= raw.CallBuffered
	}
	if p.part != partPiece && !p.message.HasTrailers() {
		flags |= raw.CallEnd
	}
	next, called := p.chain.Enter(p.phases[1], order, flags, &p.data)
	if next == End {
		return End
	}
	p.bodyAt = p.position(order[called-1]) + 1
	if next == Hold && p.part != partWhole {
		p.bodyAt--
		p.holds = append(p.holds, hold{by: p.bodyAt, start: len(p.held)})
	}
	return GoOn
}

// gate returns the position before which data stops.
func (p *Passage) gate() int {
	if len(p.holds) == 0 {
		return p.chain.Len()
	}
	innermost := p.holds[len(p.holds)-1]
	if innermost.seesWhole {
		return innermost.by + 1
	}
	return innermost.by
}

func (p *Passage) passToHold() {
	switch {
	case len(p.holds) == 0 && p.part == partPiece:
		p.passed, p.wasPassed = append(p.passed, p.data), true
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
func (p *Passage) buffer() {
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
func (p *Passage) passTrailers() Next {
	var order []int
	if p.message.HasTrailers() {
		order = p.order(p.phases[2], p.bodyAt, p.chain.Len())
	}
	if len(order) == 0 {
		if p.data != "" || p.wasPassed || p.part == partLast {
			p.passed = append(p.passed, p.data)
		}
		p.body = bodyEnded
		return GoOn
	}
	// The trailers come last: nothing is left to buffer.
	next, called := p.chain.Enter(p.phases[2], order, raw.CallEnd, nil)
	if next == End {
		return End
	}
	p.bodyAt = p.position(order[called-1]) + 1
	return GoOn
}

// position converts a filter to its position, and a position to its filter.
func (p *Passage) position(filter int) int {
	if p.message.IsResponse {
		return p.chain.Len() - 1 - filter
	}
	return filter
}

// order returns the filters that are called in a phase among the positions from and before to.
func (p *Passage) order(phase raw.Phase, from, to int) (order []int) {
	for at := from; at < to; at++ {
		if filter := p.position(at); p.chain.Wants(filter, phase) {
			order = append(order, filter)
		}
	}
	return order
}
