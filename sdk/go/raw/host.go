package raw

import (
	"sync/atomic"
	"time"
	"unsafe"
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

// SendData sends data of a filter that has paused in a body hook with this turn, in front of the piece that it holds. The
// exchange stays paused. SendData waits until the data of the call before it has left the gateway, so a goroutine is as
// fast as the client or the endpoint. The host's time limit of the pause begins anew.
//
// # Errors
//
// [Gone] means that the exchange has ended, [Stale] that it does not wait for this turn.
func SendData(exchange uint64, turn uint32, data []byte) error {
	for len(data) != 0 {
		piece := data[:min(len(data), sendBytes)]
		data = data[len(piece):]
		edits, err := AppendEdit(nil, OpBodyAppend, 0, "", unsafe.String(&piece[0], len(piece)), 0)
		if err == nil {
			err = ResumeAfterData(exchange, turn, Pause, edits)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ResumeAfterData is Resume for an exchange that data was sent to: it waits until that data has left.
func ResumeAfterData(exchange uint64, turn uint32, verdict Verdict, edits []byte) error {
	for wait := sendWait; ; wait = min(2*wait, sendWaitMax) {
		if err := Resume(exchange, turn, verdict, edits); err != Full {
			return err
		}
		// The host accepts nothing from this filter until then, and ends the exchange if the client takes nothing.
		time.Sleep(wait)
	}
}

const (
	// sendBytes is the maximum size of data that the host gets at once.
	sendBytes   = 64 << 10
	sendWait    = 50 * time.Microsecond
	sendWaitMax = 10 * time.Millisecond
)

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
