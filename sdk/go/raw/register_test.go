package raw

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

type someFactory struct{}

func (someFactory) New(_ string, config []byte, _ uint32) (Filter, Info, error) {
	if string(config) == "bad" {
		return nil, Info{}, errors.New("bad")
	}
	return someFilter{}, Info{}, nil
}

func (someFactory) NewConfig(Filter, []byte) (Config, error) { return "rule", nil }

type someFilter struct{}

func (someFilter) Run(_ *Call, s *Step) Verdict {
	if s.Config != 0 && s.RuleConfig() != "rule" {
		return Fault
	}
	return Continue
}

func (someFilter) Ended(uint64, EndReason) {}

func TestAFilterIsDestroyedWhileOthersRun(t *testing.T) {
	Register("some", someFactory{})
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 500 {
				handle, _, err := NewFilter("some", nil, 1)
				if err != nil {
					t.Error(err)
					return
				}
				rule, err := NewConfig(handle, nil)
				if err != nil {
					t.Error(err)
				}
				step, current := Step{Filter: handle, Config: rule}, uint32(0)
				c := &Call{Steps: &step, StepsLen: 1, Current: &current}
				if Run(c); step.Verdict != Continue || c.Stopped != 1 {
					t.Errorf("%v at %d", step.Verdict, c.Stopped)
				}
				FreeConfig(rule)
				FreeFilter(handle)
				FreeFilter(handle)
				if Run(c); step.Verdict != Fault || c.Stopped != 0 {
					t.Error("a filter runs that is gone")
				}
				if _, err := NewConfig(handle, nil); err != Unknown {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
}

func TestDuplicateFilterNamesAreRefused(t *testing.T) {
	Register("once", someFactory{})
	for name, f := range map[string]Factory{"once": someFactory{}, "": someFactory{}, "none": nil} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", name)
				}
			}()
			Register(name, f)
		}()
	}
	if _, _, err := NewFilter("absent", nil, 1); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Error(err)
	}
	if _, _, err := NewFilter("once", []byte("bad"), 1); err == nil || err.Error() != "bad" {
		t.Error(err)
	}
}

func TestHostFunctionsWithoutAHostDoNothing(t *testing.T) {
	if Resume(1, 1, Continue, nil) != Gone || WriteLog(0, LevelError, "x") != Gone || LogEnabled(LevelError) || Workers() != 0 {
		t.Error("there is a host")
	}
	if _, err := Send(&Outbound{}, nil); err != Gone {
		t.Error(err)
	}
	if Cancel(1) != Unknown {
		t.Error("there was something to cancel")
	}
	if _, err := NewMetric(1, CounterKind, "a", nil); err != Gone {
		t.Error(err)
	}
}
