package eddy

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Filter is a configured filter: a value with at least one of the hooks [RequestHeadHook], [RequestBodyHook],
// [RequestTrailersHook], [ResponseHeadHook], [ResponseBodyHook], [ResponseTrailersHook], [LogHook] and [EndHook].
//
// One value serves all exchanges, several at the same time: it must be safe for concurrent use. What belongs to one
// exchange is kept by [State]. A filter is entered only in the phases it has hooks for.
//
// A filter may also be a [Starter], a [BodyReader] or an io.Closer-like value with a method Close(), which is called
// when nothing uses the filter any more.
type Filter any

// RequestHeadHook is a filter that wants request heads.
type RequestHeadHook interface {
	// RequestHead sees a request's head, before a body or with the whole body after [Exchange.Buffer].
	RequestHead(x *Exchange) Verdict
}

// RequestBodyHook is a filter that wants request bodies.
type RequestBodyHook interface {
	// RequestBody sees a piece of a request's body, or the whole after [Exchange.Buffer].
	RequestBody(x *Exchange) Verdict
}

// RequestTrailersHook is a filter that wants the trailers of requests that have some.
type RequestTrailersHook interface {
	// RequestTrailers sees a request's trailers.
	RequestTrailers(x *Exchange) Verdict
}

// ResponseHeadHook is a filter that wants the heads of final responses, be they an endpoint's or eddy's own.
type ResponseHeadHook interface {
	// ResponseHead sees a response's head.
	ResponseHead(x *Exchange) Verdict
}

// ResponseBodyHook is a filter that wants response bodies.
type ResponseBodyHook interface {
	// ResponseBody sees a piece of a response's body, or the whole after [Exchange.Buffer].
	ResponseBody(x *Exchange) Verdict
}

// ResponseTrailersHook is a filter that wants the trailers of responses that have some.
type ResponseTrailersHook interface {
	// ResponseTrailers sees a response's trailers.
	ResponseTrailers(x *Exchange) Verdict
}

// LogHook is a filter that looks back at exchanges that are over.
type LogHook interface {
	// Log sees both heads once more. Changes are ignored.
	Log(x *Exchange)
}

// EndHook is a filter that wants to know when an exchange that it has seen is over.
type EndHook interface {
	// End comes last, and only once: behind hooks that run on goroutines, on the last one of them if the exchange is over
	// by then. The message can't be read any more, the state can.
	End(e *Ending)
}

// BodyReader is a filter whose body hooks only look, or keep the length. If ReadsOnly is true, a message keeps its framing, and
// another length is the filter's fault, unless it has removed content-length in the hook for the head.
type BodyReader interface {
	ReadsOnly() bool
}

// Starter is a filter that needs metrics, a logger or a client of its own.
type Starter interface {
	// Start is called once, before the filter sees an exchange. Its error refuses the configuration.
	Start(env *Env) error
}

// filter joins a Filter to package raw. A rule with a configuration of its own has one more, whose base is the first.
type filter struct {
	requestHead      RequestHeadHook
	requestBody      RequestBodyHook
	requestTrailers  RequestTrailersHook
	responseHead     ResponseHeadHook
	responseBody     ResponseBodyHook
	responseTrailers ResponseTrailersHook
	log              LogHook
	end              EndHook

	base    *filter
	user    Filter
	id      uint32
	name    string
	logger  *slog.Logger
	workers []worker
	states  *raw.Slabs[entry]
	// running defines the gauge.
	running sync.Once
	gauge   *raw.Metric
	// merge makes the filter of a rule.
	merge func(rule []byte) (Filter, error)
}

// worker is what a filter has of its own on each worker.
type worker struct {
	exchange Exchange
	// Two workers shall not share a cache line.
	_ [64]byte
}

func newFilter(name string, id uint32, user Filter, base *filter) (*filter, error) {
	f := &filter{user: user, id: id, name: name, base: base}
	f.requestHead, _ = user.(RequestHeadHook)
	f.requestBody, _ = user.(RequestBodyHook)
	f.requestTrailers, _ = user.(RequestTrailersHook)
	f.responseHead, _ = user.(ResponseHeadHook)
	f.responseBody, _ = user.(ResponseBodyHook)
	f.responseTrailers, _ = user.(ResponseTrailersHook)
	f.log, _ = user.(LogHook)
	f.end, _ = user.(EndHook)
	f.logger = slog.New(&logHandler{filter: id})
	if base == nil {
		if f.interest() == 0 {
			return nil, fmt.Errorf("%T has none of the hooks of a filter; is it meant to be a pointer?", user)
		}
		f.base = f
		f.workers = make([]worker, raw.Workers())
		f.states = raw.NewSlabs[entry](raw.Workers())
	}
	if s, ok := user.(Starter); ok {
		if err := s.Start(&Env{filter: f}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *filter) interest() uint32 {
	mask := uint32(0)
	for phase, has := range map[raw.Phase]bool{
		raw.PhaseRequestHead: f.requestHead != nil, raw.PhaseRequestBody: f.requestBody != nil,
		raw.PhaseRequestTrailers: f.requestTrailers != nil, raw.PhaseResponseHead: f.responseHead != nil,
		raw.PhaseResponseBody: f.responseBody != nil, raw.PhaseResponseTrailers: f.responseTrailers != nil,
		raw.PhaseLog: f.log != nil,
	} {
		if has {
			mask |= phase.Bit()
		}
	}
	if f.end != nil && mask == 0 {
		// An end is told only of exchanges that the filter was entered for.
		mask = raw.PhaseRequestHead.Bit()
	}
	return mask
}

func (f *filter) info() raw.Info {
	info := raw.Info{Interest: f.interest()}
	if r, ok := f.user.(BodyReader); ok && r.ReadsOnly() {
		info.Flags |= raw.FilterReadsBody
	}
	return info
}

// Close tells the user's filter that it is not used any more.
func (f *filter) Close() {
	if c, ok := f.user.(interface{ Close() }); ok {
		c.Close()
	}
}

// Run implements raw.Filter.
func (f *filter) Run(c *raw.Call, s *raw.Step) raw.Verdict {
	owner := f
	if s.Config != 0 {
		rule, ok := s.RuleConfig().(*filter)
		if !ok {
			return raw.Fault
		}
		owner = rule
	}
	if int(c.Worker) >= len(f.workers) {
		panic(fmt.Sprintf("worker %d of %d", c.Worker, len(f.workers)))
	}
	if s.Flags&raw.StepBlocking != 0 {
		return owner.runElsewhere(c, s)
	}
	if debugging {
		return owner.runPoisoned(c, s)
	}
	x := &f.workers[c.Worker].exchange
	x.call, x.step, x.filter, x.entry, x.paused, x.failure = c, s, owner, nil, nil, nil
	x.lane = uint32(c.Worker)
	if owner.end != nil {
		x.state()
	}
	v := owner.settle(x, owner.enter(x))
	x.call, x.step = nil, nil
	return v
}

// enter calls the hook of the call's phase.
func (f *filter) enter(x *Exchange) Verdict {
	switch x.call.Phase {
	case raw.PhaseRequestHead:
		if f.requestHead != nil {
			return f.requestHead.RequestHead(x)
		}
	case raw.PhaseRequestBody:
		if f.requestBody != nil {
			return f.requestBody.RequestBody(x)
		}
	case raw.PhaseRequestTrailers:
		if f.requestTrailers != nil {
			return f.requestTrailers.RequestTrailers(x)
		}
	case raw.PhaseResponseHead:
		if f.responseHead != nil {
			return f.responseHead.ResponseHead(x)
		}
	case raw.PhaseResponseBody:
		if f.responseBody != nil {
			return f.responseBody.ResponseBody(x)
		}
	case raw.PhaseResponseTrailers:
		if f.responseTrailers != nil {
			return f.responseTrailers.ResponseTrailers(x)
		}
	case raw.PhaseLog:
		if f.log != nil {
			f.log.Log(x)
		}
	}
	return Continue
}

// settle checks that what a hook did and what it says fit together.
func (f *filter) settle(x *Exchange, v Verdict) raw.Verdict {
	if x.failure == nil && x.paused == nil && v != Paused {
		return raw.Verdict(v)
	}
	return f.settleSlowly(x, v)
}

func (f *filter) settleSlowly(x *Exchange, v Verdict) raw.Verdict {
	err := x.failure
	switch {
	case err != nil:
	case v == Paused && x.paused == nil:
		err = errors.New("the hook said Paused without having called Pause")
	case v != Paused:
		err = fmt.Errorf("the hook called Pause and then said %v", v)
	default:
		return raw.Pause
	}
	if x.paused != nil {
		x.paused.abandon()
	}
	if x.copy != nil {
		x.copy.Clear()
		if x.copy.Edit(raw.OpFault, "", faultText(err), 0) != nil {
			x.copy.Clear()
		}
		return raw.Fault
	}
	return x.call.FailStep(x.step, faultText(err))
}

// Ended implements raw.Filter.
func (f *filter) Ended(state uint64, reason raw.EndReason) {
	e := f.states.Get(state)
	if e == nil {
		return
	}
	owner := e.owner
	putOff := e.finish(reason)
	// Invariant: only this thread makes holds out of none, so that nobody can come to hold what is let go here. Hooks on
	// goroutines hold it until they have left.
	free := e.holds.Load() == 0
	defer func() {
		if free {
			e.clear()
		}
		f.states.Free(state, free)
	}()
	if owner.end != nil && !putOff {
		owner.end.End(&e.ending)
	}
}
