package raw

import (
	"sync/atomic"
	"time"
)

// Host is what the gateway offers to the library. The bridge implements it with the gateway's functions, eddytest in Go.
type Host interface {
	// Workers is the number of the gateway's workers.
	Workers() int
	// Level is the least level that is logged.
	Level() Level
	Resume(exchange uint64, turn uint32, verdict Verdict, edits []byte) Result
	EditsGrow(c *Call, more uint32) Result
	Log(filter uint32, level Level, text string) Result
	Metric(filter uint32, kind MetricKind, name string, bounds []uint64) (MetricCells, Result)
	Send(token uint64, out *Outbound) Result
	Cancel(filter uint32, token uint64) Result
}

var host atomic.Pointer[Host]

// Open tells the package of its host. The bridge calls it when the gateway opens the library; tests call it with a
// host of their own.
func Open(h Host) { host.Store(&h) }

func theHost() Host {
	if h := host.Load(); h != nil {
		return *h
	}
	return nil
}

// Workers is the number of the gateway's workers; 0 before the library is opened.
func Workers() int {
	if h := theHost(); h != nil {
		return h.Workers()
	}
	return 0
}

// Resume goes on with a paused exchange. The edits are as those of the call with this turn. Any goroutine may call it.
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

// WriteLog writes a record to the gateway's log, for a filter by the host's number or 0 for the library.
func WriteLog(filter uint32, level Level, text string) error {
	h := theHost()
	if h == nil {
		return Gone
	}
	return h.Log(filter, level, text).Err()
}

// LogEnabled tells whether records of a level are kept.
func LogEnabled(level Level) bool {
	h := theHost()
	return h != nil && level >= h.Level() && level < LevelOff
}

// Outbound is a request of a filter's own to one of the gateway's clusters.
type Outbound struct {
	// Filter is the host's number of the filter.
	Filter uint32
	// Exchange is the one it is for; when that is over, the request is cancelled. 0: none.
	Exchange  uint64
	Cluster   string
	Method    string
	Target    string
	Authority string
	Fields    [][2]string
	Body      []byte
	// Timeout is 5 s where it is 0.
	Timeout time.Duration
}
