package fastcall

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/cgocall"
)

// Way is a way of making calls.
type Way uint32

const (
	// Nothing is the way of programs built without cgo: calls panic.
	Nothing Way = iota
	// Cgo works everywhere and costs 20 to 40 ns.
	Cgo
	// Assembly is the fast path.
	Assembly
	// Checked is the fast path with time measurement, see [Report].
	Checked
)

// String returns the name of the way.
func (w Way) String() string {
	switch w {
	case Nothing:
		return "nothing"
	case Cgo:
		return "cgo"
	case Assembly:
		return "assembly"
	case Checked:
		return "checked assembly"
	}
	return fmt.Sprintf("Way(%d)", uint32(w))
}

// Check is one check of the probe.
type Check struct {
	// Name is the condition.
	Name string
	// Problem is the reason why it does not hold; empty if it does.
	Problem string
}

// State is the current way of calls and its reason.
type State struct {
	// Way is how calls are made.
	Way Way
	// Reason is the reason for it, in a sentence without a full stop.
	Reason string
	// Checks are the results of the probe at the program start, up to the first failed one. It is empty if there was
	// nothing to probe.
	Checks []Check
}

// String returns one line for a log.
func (s State) String() string {
	return fmt.Sprintf("fastcall: %v: %s (%s %s/%s)", s.Way, s.Reason, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Status returns how calls are made, and why.
func Status() State {
	state.Lock()
	defer state.Unlock()
	return state.now
}

// state is the result of Status; way repeats its Way for calls.
var state struct {
	sync.Mutex
	now    State
	probed State // result of the probe, for Enable
}

func init() {
	begin(probe(), os.Getenv("EDDY_FASTCALL"))
}

// begin applies the results of the probe and the environment.
func begin(probed State, wish string) {
	state.Lock()
	state.probed = probed
	set(probed)
	state.Unlock()
	switch strings.ToLower(wish) {
	case "0", "off", "cgo", "false", "no":
		disable("EDDY_FASTCALL=" + wish)
	case "check":
		startChecking("EDDY_FASTCALL=" + wish)
	}
}

// set sets a state; the caller holds the lock.
func set(now State) {
	state.now = now
	way.Store(uint32(now.Way))
}

func disable(reason string) {
	state.Lock()
	defer state.Unlock()
	if state.now.Way != Nothing {
		set(State{Way: Cgo, Reason: reason, Checks: state.probed.Checks})
	}
}

func enable() {
	state.Lock()
	defer state.Unlock()
	set(state.probed)
}

func startChecking(reason string) {
	state.Lock()
	defer state.Unlock()
	if state.probed.Way == Assembly {
		set(State{Way: Checked, Reason: reason, Checks: state.probed.Checks})
	}
}

// probe makes all checks for the fast path.
func probe() State {
	if !cgocall.Linked {
		return State{Way: Nothing, Reason: "built without cgo"}
	}
	if !isAssembled {
		return State{Way: Cgo, Reason: "no assembly for " + runtime.Compiler + " on " + runtime.GOOS + "/" + runtime.GOARCH}
	}
	checks := probeRuntime()
	if last := checks[len(checks)-1]; last.Problem != "" {
		return State{Way: Cgo, Reason: last.Name + ": " + last.Problem, Checks: checks}
	}
	return State{Way: Assembly, Reason: fmt.Sprintf("all %d checks hold", len(checks)), Checks: checks}
}
