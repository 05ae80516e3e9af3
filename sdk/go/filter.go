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
// One value serves all exchanges, several at the same time: it must be safe for concurrent use. Use [State] for values
// of one exchange. A filter is called only in the phases that it has hooks for.
//
// A filter may also be a [Starter], a [BodyReader], or have a method Close(), which is called when the filter is no
// longer used.
type Filter any

// RequestHeadHook is a filter that handles request heads.
type RequestHeadHook interface {
	// RequestHead handles a request head, before the body or with the whole body after [Exchange.Buffer].
	RequestHead(x *Exchange) Verdict
}

// RequestBodyHook is a filter that handles request bodies.
type RequestBodyHook interface {
	// RequestBody handles a piece of a request body, or the whole body after [Exchange.Buffer].
	RequestBody(x *Exchange) Verdict
}

// RequestTrailersHook is a filter that handles request trailers.
type RequestTrailersHook interface {
	// RequestTrailers handles the trailers of a request that has some.
	RequestTrailers(x *Exchange) Verdict
}

// ResponseHeadHook is a filter that handles the heads of final responses, of endpoints or local replies.
type ResponseHeadHook interface {
	// ResponseHead handles a response head.
	ResponseHead(x *Exchange) Verdict
}

// ResponseBodyHook is a filter that handles response bodies.
type ResponseBodyHook interface {
	// ResponseBody handles a piece of a response body, or the whole body after [Exchange.Buffer].
	ResponseBody(x *Exchange) Verdict
}

// ResponseTrailersHook is a filter that handles response trailers.
type ResponseTrailersHook interface {
	// ResponseTrailers handles the trailers of a response that has some.
	ResponseTrailers(x *Exchange) Verdict
}

// LogHook is a filter that is called for finished exchanges.
type LogHook interface {
	// Log can read both heads. Edits are ignored.
	Log(x *Exchange)
}

// EndHook is a filter that is called at the end of each exchange in which it was called.
type EndHook interface {
	// End is called last, and once: after hooks on goroutines, on the last of these goroutines if the exchange has
	// ended by then. The message is no longer readable, but the state is.
	End(e *Ending)
}

// BodyReader is a filter whose body hooks only read bodies, or keep their length. If ReadsOnly returns true, the
// framing of messages is kept, and a changed length is a fault of the filter, unless it has removed content-length in
// the hook for the head.
type BodyReader interface {
	ReadsOnly() bool
}

// Starter is a filter that needs metrics, a logger or a client.
type Starter interface {
	// Start is called once, before the first exchange. An error refuses the configuration.
	Start(env *Env) error
}

// filter adapts a Filter to package raw. A rule with its own configuration has another one, whose base is the first.
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
	// merge creates the filter of a rule.
	merge func(rule []byte) (Filter, error)
}

// worker is the data of a filter on a worker.
type worker struct {
	exchange Exchange
	// Two workers must not share a cache line.
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
		// Ends are reported only for exchanges in which the filter was called.
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

// Close notifies the user's filter that it is no longer used.
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
		return owner.runOnGoroutine(c, s)
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

// settle checks that the hook's actions match its verdict.
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
	// Invariant: only this thread increments holds from zero, so no goroutine can get hold of an entry that is released
	// here. Hooks on goroutines hold it until they have returned.
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
