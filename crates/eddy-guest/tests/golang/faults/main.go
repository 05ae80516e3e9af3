// Command faults is a library of filters that panic or call runtime.Goexit, each in another entry.
package main

import (
	"runtime"
	"strings"

	_ "github.com/eddy-gateway/eddy/sdk/go/bundle"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

type factory struct{}

type filter struct{ name, config string }

type config struct{ text string }

var names = []string{
	"pass", "set", "panic-new", "panic-config", "panic-run", "panic-nil", "panic-free", "panic-ended", "panic-goroutine",
	"exit-new", "exit-config", "exit-run", "exit-free", "exit-ended", "collect", "state", "hang",
}

func init() {
	for _, name := range names {
		raw.Register(name, factory{})
	}
	raw.OnStop(func() { panic("at the end") })
}

func (factory) New(name string, text []byte, id uint32) (raw.Filter, raw.Info, error) {
	switch name {
	case "panic-new":
		panic("in New")
	case "exit-new":
		runtime.Goexit()
	}
	return &filter{name, string(text)}, raw.Info{Interest: raw.PhaseRequestHead.Bit()}, nil
}

func (factory) NewConfig(parent raw.Filter, text []byte) (raw.Config, error) {
	switch parent.(*filter).name {
	case "panic-config":
		panic("in NewConfig")
	case "exit-config":
		runtime.Goexit()
	}
	return &config{string(text)}, nil
}

func (f *filter) Run(c *raw.Call, s *raw.Step) raw.Verdict {
	switch f.name {
	case "panic-run":
		c.Edit(raw.OpSet, "void", "1", 0)
		panic("in Run")
	case "panic-nil":
		var nothing *filter
		_ = nothing.config
	case "panic-goroutine":
		go refresh(strings.Clone(f.config))
		runtime.Gosched()
	case "exit-run":
		runtime.Goexit()
	case "collect":
		runtime.GC()
	case "state", "exit-ended":
		s.State += 5
	case "hang":
		select {}
	}
	if f.name == "set" || f.name == "collect" {
		c.Edit(raw.OpSet, "x-guest", "seen", 0)
	}
	return raw.Continue
}

func refresh(config string) {
	panic("in a goroutine: " + config)
}

func (f *filter) Ended(uint64, raw.EndReason) {
	switch f.name {
	case "panic-ended":
		panic("in Ended")
	case "exit-ended":
		runtime.Goexit()
	}
}

func (f *filter) Close() {
	switch f.name {
	case "panic-free":
		panic("in Close")
	case "exit-free":
		runtime.Goexit()
	}
}

func (c *config) Close() {
	if strings.Contains(c.text, "panic") {
		panic("in Close of a configuration")
	}
}

func main() {}
