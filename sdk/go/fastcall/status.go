package fastcall

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/cgocall"
)

// Way is how calls are made.
type Way uint32

const (
	// Nothing is the way of programs built without cgo: calling panics.
	Nothing Way = iota
	// Cgo is safe everywhere and costs 20 to 40 ns.
	Cgo
	// Assembly is the fast way.
	Assembly
	// Checked is the fast way with a clock around each call, see [Report].
	Checked
)

// String names the way in a word.
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

// Check is one question that the probe asked of the runtime.
type Check struct {
	// Name says what has to hold.
	Name string
	// Problem says why it does not; empty where it does.
	Problem string
}

// State is which way calls go, and why.
type State struct {
	// Way is how calls are made now.
	Way Way
	// Reason says why it is that one, in a sentence without a full stop.
	Reason string
	// Checks is what the probe found when the program started, up to the first that failed. It is empty where there
	// was nothing to probe.
	Checks []Check
}

// String is one line for a log.
func (s State) String() string {
	return fmt.Sprintf("fastcall: %v: %s (%s %s/%s)", s.Way, s.Reason, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Status tells which way calls go, and why.
func Status() State {
	state.Lock()
	defer state.Unlock()
	return state.now
}

// state is what Status tells; way repeats its Way for the calls.
var state struct {
	sync.Mutex
	now    State
	probed State // what the probe said, for Enable
}

func init() {
	begin(probe(), os.Getenv("EDDY_FASTCALL"))
}

// begin takes up what the probe found and what the environment asks for.
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

// set takes over a state; the lock is held.
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

// probe asks all that has to hold for the fast way.
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
