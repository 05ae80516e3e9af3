//go:build wasip1

package linear

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// gateway is the host, as used by package raw.
type gateway struct {
	workers int
	level   raw.Level
}

// Host calls.
const (
	askResume        = 1
	askLog           = 2
	askMetric        = 3
	askMetricAdd     = 4
	askMetricObserve = 5
	askSend          = 6
	askCancel        = 7
)

// question is a host call, `eddy_question` of abi/linear-memory.md. The gateway writes the result to result.
type question struct {
	what   uint32
	result raw.Result
	filter uint32
	number uint32
	handle uint64
	value  uint64
	text   raw.Text
	more   raw.Text
}

// name is the gateway's function for host calls. All hosts of Proxy-Wasm can call functions by name, so they can load a
// module with this import.
const name = "eddy_abi_1"

//go:wasmimport env proxy_call_foreign_function
func callForeignFunction(
	name unsafe.Pointer, nameLen uint32, argument unsafe.Pointer, argumentLen uint32, answer, answerLen unsafe.Pointer,
) uint32

// ask makes a host call. The caller keeps the data alive that the question points to.
func ask(q *question) raw.Result {
	q.result = raw.Invalid
	var answer, answerLen uint32
	callForeignFunction(
		unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)), unsafe.Pointer(q), uint32(unsafe.Sizeof(*q)),
		unsafe.Pointer(&answer), unsafe.Pointer(&answerLen))
	return q.result
}

func (g gateway) Workers() int { return g.workers }

func (g gateway) Level() raw.Level { return g.level }

func (gateway) Resume(exchange uint64, turn uint32, verdict raw.Verdict, edits []byte) raw.Result {
	q := question{what: askResume, number: turn, handle: exchange, value: uint64(verdict), text: textOf(edits)}
	result := ask(&q)
	runtime.KeepAlive(edits)
	return result
}

func (gateway) EditsGrow(c *raw.Call, more uint32) raw.Result { return growEdits(c, more) }

func (gateway) Log(filter uint32, level raw.Level, text string) raw.Result {
	q := question{what: askLog, filter: filter, number: uint32(level), text: raw.TextOf(text)}
	result := ask(&q)
	runtime.KeepAlive(text)
	return result
}

// Metric returns the gateway's number of a metric instead of cells.
func (gateway) Metric(filter uint32, kind raw.MetricKind, name string, bounds []uint64) (raw.MetricCells, raw.Result) {
	q := question{
		what: askMetric, filter: filter, number: uint32(kind), text: raw.TextOf(name),
		more: raw.Text{Data: (*byte)(unsafe.Pointer(unsafe.SliceData(bounds))), Len: uintptr(len(bounds)) * 8},
	}
	result := ask(&q)
	runtime.KeepAlive(name)
	runtime.KeepAlive(bounds)
	return raw.MetricCells{Stride: uint32(q.handle)}, result
}

func (gateway) MetricAdd(metric uint32, n uint64) {
	q := question{what: askMetricAdd, handle: uint64(metric), value: n}
	ask(&q)
}

func (gateway) MetricObserve(metric uint32, value uint64) {
	q := question{what: askMetricObserve, handle: uint64(metric), value: value}
	ask(&q)
}

// outbound has the layout of `eddy_outbound`.
type outbound struct {
	size      uint32
	filter    uint32
	token     uint64
	exchange  uint64
	cluster   raw.Text
	method    raw.Text
	target    raw.Text
	authority raw.Text
	fields    *raw.Text
	fieldsLen uint32
	timeoutMs uint32
	body      raw.Text
}

func (gateway) Send(token uint64, out *raw.Outbound) raw.Result {
	texts := make([]raw.Text, 0, 2*len(out.Fields))
	for _, field := range out.Fields {
		texts = append(texts, raw.TextOf(field[0]), raw.TextOf(field[1]))
	}
	timeout := min(max((out.Timeout+time.Millisecond-1)/time.Millisecond, 0), 1<<32-1)
	o := &outbound{
		filter: out.Filter, token: token, exchange: out.Exchange, cluster: raw.TextOf(out.Cluster),
		method: raw.TextOf(out.Method), target: raw.TextOf(out.Target), authority: raw.TextOf(out.Authority),
		fields: unsafe.SliceData(texts), fieldsLen: uint32(len(out.Fields)), timeoutMs: uint32(timeout), body: textOf(out.Body),
	}
	o.size = uint32(unsafe.Sizeof(*o))
	q := question{what: askSend, filter: out.Filter, text: raw.Text{Data: (*byte)(unsafe.Pointer(o)), Len: uintptr(o.size)}}
	result := ask(&q)
	runtime.KeepAlive(o)
	runtime.KeepAlive(out)
	return result
}

func (gateway) Cancel(filter uint32, token uint64) raw.Result {
	q := question{what: askCancel, filter: filter, handle: token}
	return ask(&q)
}

func textOf(b []byte) raw.Text { return raw.Text{Data: unsafe.SliceData(b), Len: uintptr(len(b))} }
