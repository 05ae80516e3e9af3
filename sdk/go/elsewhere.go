package eddy

import (
	"errors"
	"sync/atomic"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Go pauses the exchange while `work` runs on a goroutine with a copy of the exchange, and then continues with its
// verdict: `return eddy.Go(x, func(x *eddy.Exchange) eddy.Verdict { ... })`. A panic in it is a fault of the filter and
// does not end the process, unlike in a goroutine of a plain go statement.
//
// The number of these goroutines is limited, see [Options]; beyond it the filter fails at once with [ErrBusy].
func Go(x *Exchange, work func(x *Exchange) Verdict) Verdict {
	if !x.filter.takeGoroutine() {
		return x.Fault(ErrBusy)
	}
	p := x.PauseWithCopy()
	p.entry.begin()
	go carry(p, work)
	return Paused
}

// runOnGoroutine runs the filter's hook in the way that Go runs work.
func (f *filter) runOnGoroutine(c *raw.Call, s *raw.Step) raw.Verdict {
	if !f.takeGoroutine() {
		if c.Phase == raw.PhaseLog {
			f.logger.Warn("an exchange was not looked back at: " + ErrBusy.Error())
			return raw.Continue
		}
		return c.FailStep(s, ErrBusy.Error())
	}
	x := Exchange{call: c, step: s, filter: f, lane: uint32(c.Worker)}
	p := x.PauseWithCopy()
	p.entry.begin()
	go carry(p, f.enter)
	if c.Phase == raw.PhaseLog {
		return raw.Continue
	}
	return raw.Pause
}

// carry runs work and finishes the pause with its verdict in all cases.
func carry(p *Pause, work func(*Exchange) Verdict) {
	done, left := false, false
	defer func() {
		if done {
			return
		}
		why := errors.New("the filter called runtime.Goexit")
		if r := recover(); r != nil {
			why = errors.New(raw.PanicText(r))
		}
		if !left {
			p.x.filter.giveGoroutine()
			p.entry.leave()
		}
		if p.x.call.Phase == raw.PhaseLog {
			p.abandon()
			p.x.filter.logger.Error(why.Error())
			return
		}
		// If the work has paused again, nothing else uses its handle.
		if again := p.x.paused; again != nil {
			again.abandon()
		}
		if err := p.Fault(why); err != nil {
			p.x.filter.logger.Error("after the end of the exchange: " + why.Error())
		}
	}()
	v := work(&p.x)
	left = true
	// Before the end becomes visible: a client that has the response and sends the next request must find free
	// capacity.
	p.x.filter.giveGoroutine()
	p.entry.leave()
	done = true
	switch {
	case p.x.call.Phase == raw.PhaseLog:
		p.abandon()
	case v == Paused && p.x.paused != nil && p.x.failure == nil:
		// The handle created by the work finishes the exchange.
		p.abandon()
	default:
		if again := p.x.paused; again != nil {
			again.abandon()
			p.x.fail(errors.New("the hook called Pause and then said " + v.String()))
		}
		// For an ended exchange, nothing is left to do.
		_ = p.Finish(v)
	}
}

var goroutines atomic.Int64

// takeGoroutine counts a goroutine for the filter, unless the limit is reached.
func (f *filter) takeGoroutine() bool {
	if goroutines.Add(1) > int64(raw.Configured().GoroutinesMax) || raw.Crowded() {
		goroutines.Add(-1)
		return false
	}
	if m := f.goroutines(); m != nil {
		m.Add(raw.OutsideLane, 1)
	}
	return true
}

func (f *filter) giveGoroutine() {
	goroutines.Add(-1)
	if m := f.goroutines(); m != nil {
		m.Add(raw.OutsideLane, ^uint64(0))
	}
}

// goroutines is the gauge of the filter's running goroutines; nil if the gateway has no space for it. It is defined
// when the first one starts, because most filters have none.
func (f *filter) goroutines() *raw.Metric {
	f.running.Do(func() {
		m, err := raw.NewMetric(f.id, raw.GaugeKind, "goroutines", nil)
		if err == nil {
			f.gauge = m
		}
	})
	return f.gauge
}
