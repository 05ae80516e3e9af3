package envoytest

import (
	"slices"
	"strings"
	"time"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// exchange is an exchange in progress.
type exchange struct {
	gateway  *Gateway
	number   uint64
	request  Request
	response Response
	states   []uint64
	entered  int // filters whose request head hook was called
	isLocal  bool
	// isLeaving means that the client disconnects when a filter pauses.
	isLeaving bool
	result    *Result
	metadata  []raw.Pair
	at        int // index of the current piece
	// holdsHead means that the head waits for the current body.
	holdsHead bool

	// The host's mutex guards the following fields.
	turn      uint32
	phase     raw.Phase
	isResumed bool
	resumed   chan resumed
}

// PauseMax is the maximum duration of a pause in a test.
const PauseMax = 10 * time.Second

func (g *Gateway) run(request Request, endpoint func(Request) Response) *Result {
	h := g.host
	x := &exchange{
		gateway: g, request: request, states: make([]uint64, len(g.steps)), resumed: make(chan resumed, 1),
		result: &Result{Metadata: map[string]string{}},
	}
	if x.isLeaving = endpoint == nil; x.isLeaving {
		endpoint = func(Request) Response { return Response{Status: 200} }
	}
	// The caller's pieces must not be changed.
	x.request.Body = slices.Clone(request.Body)
	if x.request.Method == "" {
		x.request.Method = "GET"
	}
	if x.request.Path == "" {
		x.request.Path = "/"
	}
	h.mutex.Lock()
	h.last++
	x.number = h.last
	h.waiting[x.number] = x
	h.mutex.Unlock()
	end := raw.EndComplete
	if !x.exchange(endpoint) {
		end = raw.EndCut
	}
	x.enter(raw.PhaseLog, x.interested(raw.PhaseLog), "", raw.CallEnd)
	h.mutex.Lock()
	delete(h.waiting, x.number)
	h.mutex.Unlock()
	x.tellEnd(end)
	for _, p := range x.metadata {
		x.result.Metadata[p.Space.String()+"."+p.Key.String()] = p.Value.String()
	}
	x.result.Response = x.response
	return x.result
}

func (x *exchange) exchange(endpoint func(Request) Response) bool {
	all := make([]int, len(x.gateway.steps))
	for i := range all {
		all[i] = i
	}
	switch x.way(requestWay, all) {
	case raw.Continue:
		upstream := x.request
		upstream.Body = slices.Clone(x.request.Body)
		x.result.Upstream = &upstream
		x.response = endpoint(upstream)
		x.response.Body = slices.Clone(x.response.Body)
	case raw.Reply:
		x.isLocal = true
	case raw.Fault:
		return x.fault()
	default:
		x.response = Response{}
		return false
	}
	back := all[:x.entered]
	slices.Reverse(back)
	switch x.way(responseWay, back) {
	case raw.Continue, raw.Reply:
		return true
	case raw.Fault:
		return x.fault()
	default:
		x.response = Response{}
		return false
	}
}

func (x *exchange) fault() bool {
	x.isLocal = true
	x.response = Response{Status: 500}
	return false
}

func (x *exchange) interested(phase raw.Phase) (steps []int) {
	for i := range x.entered {
		if x.gateway.steps[i].interest&phase.Bit() != 0 {
			steps = append(steps, i)
		}
	}
	return steps
}

// direction is one direction of an exchange, with the locations of its parts.
type direction struct {
	head, body, trailers raw.Phase
}

var (
	requestWay  = direction{raw.PhaseRequestHead, raw.PhaseRequestBody, raw.PhaseRequestTrailers}
	responseWay = direction{raw.PhaseResponseHead, raw.PhaseResponseBody, raw.PhaseResponseTrailers}
)

func (x *exchange) message(d direction) (body *[]string, trailers *Fields) {
	if d == requestWay {
		return &x.request.Body, &x.request.Trailers
	}
	return &x.response.Body, &x.response.Trailers
}

// way passes one direction through filters: heads in one crossing, until one stops it, then the body.
func (x *exchange) way(d direction, steps []int) raw.Verdict {
	body, trailers := x.message(d)
	passed := 0 // steps that have received the body
	for at := 0; at < len(steps); {
		flags := uint8(0)
		if len(*body) == 0 && len(*trailers) == 0 {
			flags = raw.CallEnd
		}
		if d == requestWay {
			x.entered = max(x.entered, len(steps))
		}
		verdict, stopped := x.enter(d.head, steps[at:], "", flags)
		if d == requestWay && verdict != raw.Continue {
			x.entered = at + stopped + 1
		}
		at += stopped + 1
		switch {
		case verdict == raw.Buffer && flags == raw.CallEnd:
			// At the end of a message: continue.
		case verdict == raw.Buffer:
			if v := x.pieces(d, steps[passed:at-1]); v != raw.Continue {
				return v
			}
			passed = at
			if v := x.whole(d, steps[at-1], 0, true); v != raw.Continue {
				return v
			}
		case verdict != raw.Continue:
			return verdict
		}
	}
	if v := x.pieces(d, steps[passed:]); v != raw.Continue {
		return v
	}
	if len(*trailers) == 0 {
		return raw.Continue
	}
	wants := func(s int) bool { return x.gateway.steps[s].interest&d.trailers.Bit() == 0 }
	verdict, _ := x.enter(d.trailers, slices.DeleteFunc(slices.Clone(steps), wants), "", raw.CallEnd)
	return verdict
}

// pieces passes the body through filters as it is streamed.
func (x *exchange) pieces(d direction, steps []int) raw.Verdict {
	body, trailers := x.message(d)
	for _, s := range steps {
		if x.gateway.steps[s].interest&d.body.Bit() == 0 {
			continue
		}
		for i := 0; i < len(*body); i++ {
			flags := uint8(0)
			if i == len(*body)-1 && len(*trailers) == 0 {
				flags = raw.CallEnd
			}
			x.at = i
			switch verdict, _ := x.enter(d.body, []int{s}, (*body)[i], flags); {
			case verdict == raw.Buffer && i < len(*body)-1:
				if v := x.whole(d, s, i, false); v != raw.Continue {
					return v
				}
			case verdict != raw.Continue && verdict != raw.Buffer:
				return verdict
			}
		}
	}
	return raw.Continue
}

// whole joins the body from a piece on and passes it to a filter.
func (x *exchange) whole(d direction, s, from int, holdsHead bool) raw.Verdict {
	body, trailers := x.message(d)
	*body = append((*body)[:from:from], strings.Join((*body)[from:], ""))
	if x.gateway.steps[s].interest&d.body.Bit() == 0 {
		return raw.Continue
	}
	flags := uint8(raw.CallBuffered)
	if len(*trailers) == 0 {
		flags |= raw.CallEnd
	}
	x.at, x.holdsHead = from, holdsHead
	verdict, _ := x.enter(d.body, []int{s}, (*body)[from], flags)
	x.holdsHead = false
	if verdict == raw.Buffer {
		return raw.Continue
	}
	return verdict
}

// enter calls filters in a phase, in one crossing until one pauses, and waits for those that do. It returns the verdict
// that ended it, and the index of the step that returned it.
func (x *exchange) enter(phase raw.Phase, steps []int, body string, flags uint8) (raw.Verdict, int) {
	for at := 0; at < len(steps); {
		h := x.gateway.host
		h.mutex.Lock()
		x.turn++
		x.phase, x.isResumed = phase, false
		h.mutex.Unlock()
		call, made := x.call(phase, steps[at:], body, flags)
		raw.Run(call)
		for i, s := range made {
			x.states[steps[at+i]] = s.State
		}
		verdict := raw.Continue
		if call.Stopped < call.StepsLen {
			verdict = made[call.Stopped].Verdict
		}
		stopped := at + int(call.Stopped)
		if phase == raw.PhaseLog {
			return raw.Continue, stopped
		}
		if !x.apply(phase, call.Log(), verdict) {
			return raw.Fault, stopped
		}
		if verdict == raw.Pause && x.isLeaving {
			return raw.Reset, stopped
		}
		if verdict == raw.Pause {
			select {
			case r := <-x.resumed:
				verdict = r.verdict
				if !x.apply(phase, r.edits, verdict) {
					return raw.Fault, stopped
				}
			case <-time.After(PauseMax):
				x.gateway.test.Fatalf("a filter paused in phase %s and did not go on", phase)
			}
		}
		if verdict != raw.Continue {
			return verdict, stopped
		}
		at = stopped + 1
		if isBody(phase) {
			pieces, _ := x.message(x.directionOf(phase))
			body = (*pieces)[x.at]
		}
	}
	return raw.Continue, len(steps) - 1
}

func isBody(phase raw.Phase) bool {
	return phase == raw.PhaseRequestBody || phase == raw.PhaseResponseBody
}

func (x *exchange) directionOf(phase raw.Phase) direction {
	if phase >= raw.PhaseResponseHead {
		return responseWay
	}
	return requestWay
}

// tellEnd reports the end of the exchange to filters with state.
func (x *exchange) tellEnd(reason raw.EndReason) {
	var ended []raw.Ended
	for i, state := range x.states {
		if state != 0 {
			ended = append(ended, raw.Ended{Filter: x.gateway.steps[i].filter, State: state, Reason: reason})
		}
	}
	if len(ended) == 0 {
		return
	}
	raw.Run(&raw.Call{Phase: raw.PhaseNone, Ended: &ended[0], EndedLen: uint32(len(ended)), Current: new(uint32)})
}
