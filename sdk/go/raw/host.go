package raw

import (
	"sync/atomic"
	"time"
)

// Host is the gateway's interface for the library. The bridge implements it with functions of the gateway, eddytest in
// Go.
type Host interface {
	// Workers returns the number of workers of the gateway.
	Workers() int
	// Level returns the minimum level that is logged.
	Level() Level
	Resume(exchange uint64, turn uint32, verdict Verdict, edits []byte) Result
	EditsGrow(c *Call, more uint32) Result
	Log(filter uint32, level Level, text string) Result
	Metric(filter uint32, kind MetricKind, name string, bounds []uint64) (MetricCells, Result)
	Send(token uint64, out *Outbound) Result
	Cancel(filter uint32, token uint64) Result
}

var host atomic.Pointer[Host]

// Open sets the host. The bridge calls it when the gateway opens the library, tests with their own host.
func Open(h Host) { host.Store(&h) }

func theHost() Host {
	if h := host.Load(); h != nil {
		return *h
	}
	return nil
}

// Workers returns the number of workers of the gateway; 0 before the library is opened.
func Workers() int {
	if h := theHost(); h != nil {
		return h.Workers()
	}
	return 0
}

// Resume resumes a paused exchange. The edits are like those of the call with this turn. Any goroutine may call it.
//
// # Errors
//
// [Gone] and [Stale] mean that nothing was changed, others that the gateway refused it.
func Resume(exchange uint64, turn uint32, verdict Verdict, edits []byte) error {
	h := theHost()
	if h == nil {
		return Gone
	}
	return h.Resume(exchange, turn, verdict, edits).Err()
}

// WriteLog logs a message for the filter with the host's number, or for the library with 0.
func WriteLog(filter uint32, level Level, text string) error {
	h := theHost()
	if h == nil {
		return Gone
	}
	return h.Log(filter, level, text).Err()
}

// LogEnabled returns whether messages of a level are logged.
func LogEnabled(level Level) bool {
	h := theHost()
	return h != nil && level >= h.Level() && level < LevelOff
}

// Outbound is a request of a filter to a cluster of the gateway.
type Outbound struct {
	// Filter is the host's number of the filter.
	Filter uint32
	// Exchange is the exchange of the request; when that ends, the request is cancelled. 0: none.
	Exchange  uint64
	Cluster   string
	Method    string
	Target    string
	Authority string
	Fields    [][2]string
	Body      []byte
	// Timeout is the time limit; default 5 s.
	Timeout time.Duration
}
