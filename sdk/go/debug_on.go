//go:build eddydebug

package eddy

import "github.com/eddy-gateway/eddy/sdk/go/raw"

// debugging is true in builds with the tag eddydebug.
const debugging = true

// runPoisoned runs a hook on a separate copy, which is overwritten when the hook has returned. A text that was kept too
// long becomes garbage, and an Exchange that was kept too long panics.
func (f *filter) runPoisoned(c *raw.Call, s *raw.Step) raw.Verdict {
	own := c.Copy(s)
	x := &Exchange{call: &own.Call, step: &own.Step, copy: own, filter: f, lane: uint32(c.Worker)}
	defer func() {
		s.State = own.Step.State
		x.call, x.step, x.copy = nil, nil, nil
		own.Poison()
	}()
	if f.end != nil {
		x.state()
	}
	v := f.settle(x, f.enter(x))
	for r := range own.Own().All() {
		if err := c.Edit(r.Op, r.Name, r.Value, r.Number); err != nil {
			panic(err)
		}
	}
	return v
}
