package raw

import (
	"runtime"
	"testing"
)

type endingFactory struct{ told func() }

func (f endingFactory) New(string, []byte, uint32) (Filter, Info, error) {
	return endingFilter(f), Info{}, nil
}

func (f endingFactory) NewConfig(Filter, []byte) (Config, error) { return nil, nil }

type endingFilter struct{ told func() }

func (f endingFilter) Run(*Call, *Step) Verdict { return Continue }

func (f endingFilter) Ended(uint64, EndReason) { f.told() }

func TestCurrentNamesTheFilterWhoseStateEnds(t *testing.T) {
	var current uint32
	var seen []uint32
	Register("ending", endingFactory{func() { seen = append(seen, current) }})
	first, _, err := NewFilter("ending", nil, 11)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := NewFilter("ending", nil, 12)
	if err != nil {
		t.Fatal(err)
	}
	ended := []Ended{{Filter: second, State: 1}, {Filter: first, State: 1}}
	step := Step{Filter: first, ID: 11}
	// The host names the filter of the first step before the call.
	current = 11
	Run(&Call{Steps: &step, StepsLen: 1, Current: &current, Ended: &ended[0], EndedLen: 2, Phase: PhaseNone})
	if len(seen) != 2 || seen[0] != 12 || seen[1] != 11 || current != 11 {
		t.Error(seen, current)
	}
}

func TestGoexitWhileAStateEndsKeepsTheFilterNamed(t *testing.T) {
	var current uint32
	Register("leaving", endingFactory{runtime.Goexit})
	handle, _, err := NewFilter("leaving", nil, 21)
	if err != nil {
		t.Fatal(err)
	}
	ended := Ended{Filter: handle, State: 1}
	over := make(chan struct{})
	go func() {
		defer close(over)
		Run(&Call{Current: &current, Ended: &ended, EndedLen: 1, Phase: PhaseNone})
	}()
	if <-over; current != 21 {
		t.Errorf("the filter named is %d", current)
	}
}
