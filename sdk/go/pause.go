package eddy

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// Errors of finishing a paused exchange, or of a request of a [Client].
var (
	// ErrGone means that the exchange has ended: its client disconnected, or its time was up.
	ErrGone error = raw.Gone
	// ErrStale means that the exchange no longer waits for this handle: it was already finished.
	ErrStale error = raw.Stale
	// ErrTooLarge means that a limit is exceeded.
	ErrTooLarge error = raw.TooLarge
	// ErrFull means that a queue or table of the gateway is full.
	ErrFull error = raw.Full
	// ErrInvalid means that an argument is invalid; the gateway's log names it.
	ErrInvalid error = raw.Invalid
	// ErrUnknown means that the cluster, filter or call does not exist.
	ErrUnknown error = raw.Unknown
	// ErrBusy means that the maximum number of goroutines runs for filters, see [Options].
	ErrBusy = errors.New("as many goroutines run for filters as Options.GoroutinesMax or GoroutinesSoftMax allow")
)

// Options are settings of the Go runtime within the gateway, for [Configure].
type Options = raw.Options

// Configure sets options of the Go runtime within the gateway. Call it in an init function.
func Configure(o Options) { raw.Configure(o) }

// Pause is a handle of a paused exchange. Any goroutine may finish it; the first one does, later ones get [ErrStale] or
// [ErrGone] and have no effect. If it is not finished, the gateway responds with 504 when the time limit of the filter
// passes.
type Pause struct {
	x        Exchange
	entry    *entry
	finished atomic.Bool
}

// Pause pauses the exchange at this filter if the hook then returns [Paused]. The handle does not keep the message:
// copy what is needed from the exchange before the hook returns.
func (x *Exchange) Pause() *Pause {
	return x.pause(func(c *raw.Call, s *raw.Step) *raw.Copy { return c.CopyBare(s) }, true)
}

// PauseWithCopy is Pause with a copy of the message in [Pause.Exchange].
func (x *Exchange) PauseWithCopy() *Pause {
	return x.pause(func(c *raw.Call, s *raw.Step) *raw.Copy { return c.Copy(s) }, false)
}

func (x *Exchange) pause(take func(*raw.Call, *raw.Step) *raw.Copy, bare bool) *Pause {
	c := x.live()
	if x.paused != nil {
		panic("eddy: a hook pauses an exchange once")
	}
	p := &Pause{entry: x.state()}
	p.entry.holds.Add(1)
	p.x = Exchange{filter: x.filter, entry: p.entry, lane: raw.OutsideLane}
	if x.copy != nil && x.lane == raw.OutsideLane {
		// The hook itself runs on a copy: the gateway does not have its edits yet, so they are included.
		p.x.copy, p.x.bare = x.copy, x.bare
	} else {
		p.x.copy, p.x.bare = take(c, x.step), bare
	}
	p.x.call, p.x.step = &p.x.copy.Call, &p.x.copy.Step
	x.paused = p
	return p
}

// Exchange returns the exchange for edits, and for reading if the handle has a copy. Without a copy, reading panics.
func (p *Pause) Exchange() *Exchange { return &p.x }

// Send sends data in front of the piece of the body that the hook has paused with; the exchange stays paused. See
// [Exchange.Send].
func (p *Pause) Send(data []byte) error { return p.x.Send(data) }

// Resume forwards the message, with the edits made to [Pause.Exchange].
func (p *Pause) Resume() error { return p.finish(Continue) }

// Reply replies to the client.
func (p *Pause) Reply(status int, body string, fields ...Field) error {
	return p.finishWith(func() Verdict { return p.x.Reply(status, body, fields...) })
}

// ReplyWith replies to the client.
func (p *Pause) ReplyWith(a Answer) error {
	return p.finishWith(func() Verdict { return p.x.ReplyWith(a) })
}

// Buffer continues as [Exchange.Buffer] does.
func (p *Pause) Buffer() error { return p.finish(p.x.Buffer()) }

// Reset ends the exchange without a response, or without the rest of it.
func (p *Pause) Reset() error { return p.finish(p.x.Reset()) }

// Fault reports that the filter failed.
func (p *Pause) Fault(why error) error {
	return p.finishWith(func() Verdict { return p.x.Fault(why) })
}

// Finish ends the pause with a verdict, for example of a method of [Pause.Exchange].
func (p *Pause) Finish(v Verdict) error { return p.finish(v) }

func (p *Pause) finish(v Verdict) error { return p.finishWith(func() Verdict { return v }) }

// finishWith lets the first of several calls win.
func (p *Pause) finishWith(verdict func() Verdict) error {
	if !p.finished.CompareAndSwap(false, true) {
		return ErrStale
	}
	defer p.entry.holds.Add(-1)
	v := raw.Verdict(verdict())
	x := &p.x
	if x.failure == nil && (v == raw.Pause || v > raw.Reset) {
		x.fail(fmt.Errorf("a pause was finished with the verdict %v", v))
	}
	if x.failure != nil {
		v = raw.Fault
		x.copy.Clear()
		if err := x.copy.Edit(raw.OpFault, "", faultText(x.failure), 0); err != nil {
			x.copy.Clear()
		}
	}
	if x.sent.Load() {
		return raw.ResumeAfterData(x.call.Exchange, x.call.Turn, v, x.copy.Own())
	}
	return raw.Resume(x.call.Exchange, x.call.Turn, v, x.copy.Own())
}

// abandon invalidates the handle without notifying the gateway, which already has another verdict.
func (p *Pause) abandon() {
	if p.finished.CompareAndSwap(false, true) {
		p.entry.holds.Add(-1)
	}
}

func faultText(err error) string {
	text := err.Error()
	return text[:min(len(text), raw.FaultBytes)]
}
