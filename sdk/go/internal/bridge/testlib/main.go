// Command testlib is the library that the driver in testdata opens: filters that fail in every way, and filters for
// measurements.
package main

import (
	"encoding/base64"
	"errors"
	"runtime"
	"strings"
	"time"

	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

func main() {}

func init() {
	for _, name := range []string{"empty", "auth", "panic", "nil", "edit-then-panic", "pause", "garbage", "state", "grow", "exit"} {
		raw.Register(name, factory{})
	}
	raw.OnStop(func() { panic("stop") })
}

type factory struct{}

func (factory) New(name string, config []byte, id uint32) (raw.Filter, raw.Info, error) {
	switch string(config) {
	case `"panic"`:
		panic("new")
	case `"error"`:
		return nil, raw.Info{}, errors.New(strings.Repeat("no ", 1000))
	}
	all := raw.Info{Interest: 1<<raw.PhaseEnd - 1}
	f := &filter{name: name, id: id}
	switch name {
	case "empty":
		return empty{}, all, nil
	case "auth":
		return auth{}, all, nil
	case "state":
		return state{raw.NewSlabs[[4]uint64](raw.Workers())}, all, nil
	}
	return f, all, nil
}

func (factory) NewConfig(_ raw.Filter, config []byte) (raw.Config, error) {
	if string(config) == `"panic"` {
		panic("config")
	}
	return closer{}, nil
}

type closer struct{}

func (closer) Close() { panic("config close") }

type empty struct{}

func (empty) Run(*raw.Call, *raw.Step) raw.Verdict { return raw.Continue }
func (empty) Ended(uint64, raw.EndReason)          {}

type auth struct{}

func (auth) Run(c *raw.Call, _ *raw.Step) raw.Verdict {
	value, _ := c.Field(raw.RequestFields, raw.FieldAuthorization)
	if len(value) > 6 && value[:6] == "Basic " {
		var decoded [64]byte
		encoded := []byte(value[6:])
		if n, err := base64.StdEncoding.Decode(decoded[:], encoded); err == nil && string(decoded[:n]) == "fooname:validpassword" {
			return raw.Continue
		}
	}
	return raw.Reply
}
func (auth) Ended(uint64, raw.EndReason) {}

type state struct{ slabs *raw.Slabs[[4]uint64] }

func (f state) Run(c *raw.Call, s *raw.Step) raw.Verdict {
	var value *[4]uint64
	if s.State == 0 {
		s.State, value = f.slabs.New(c.Worker)
		value[0] = c.Exchange
	} else if value = f.slabs.Get(s.State); value == nil || value[0] != c.Exchange {
		panic("the state of another exchange")
	}
	value[1]++
	return raw.Continue
}

func (f state) Ended(handle uint64, _ raw.EndReason) {
	if !f.slabs.Free(handle, true) {
		panic("ended twice")
	}
}

type filter struct {
	name string
	id   uint32
}

var sink []byte

func (f *filter) Run(c *raw.Call, s *raw.Step) raw.Verdict {
	switch f.name {
	case "panic":
		panic(errors.New("deliberate"))
	case "nil":
		var p *int
		*p = 1
	case "exit":
		runtime.Goexit()
	case "edit-then-panic":
		c.Edit(raw.OpSet, "a", "b", 0)
		panic("later")
	case "pause":
		own := c.Copy(s)
		go func() {
			own.Edit(raw.OpSet, "x-later", own.Call.CurrentTarget(), 0)
			for {
				err := raw.Resume(own.Call.Exchange, own.Call.Turn, raw.Continue, own.Own())
				if err == nil {
					break
				}
				runtime.Gosched()
			}
			// The second call must be refused.
			if err := raw.Resume(own.Call.Exchange, own.Call.Turn, raw.Continue, own.Own()); err != raw.Stale && err != raw.Gone {
				raw.WriteLog(f.id, raw.LevelError, "BAD: a second resume was accepted")
			}
		}()
		return raw.Pause
	case "garbage":
		sink = make([]byte, 64<<10)
		s.State = c.Exchange
		c.Edit(raw.OpSet, "x-exchange", string(append([]byte(nil), c.CurrentTarget()...)), 0)
		if c.Exchange%256 == 0 {
			runtime.GC()
		}
	case "grow":
		value := strings.Repeat("v", 1000)
		for range 1000 {
			if err := c.Edit(raw.OpAdd, "x-many", value, 0); err != nil {
				panic(err)
			}
		}
		if err := c.Edit(raw.OpAdd, "x-huge", strings.Repeat("v", 16<<20), 0); err != raw.TooLarge {
			panic("16 MiB of edits were accepted")
		}
	}
	return raw.Continue
}

func (f *filter) Ended(state uint64, _ raw.EndReason) {
	if f.name == "panic" {
		panic("ended")
	}
	if f.name == "garbage" && time.Now().IsZero() {
		sink = nil
	}
}

func (f *filter) Close() { panic("close") }
