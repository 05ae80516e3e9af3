package bridge

// #cgo noescape eddy_bridge_resume
// #cgo noescape eddy_bridge_edits_grow
// #cgo noescape eddy_bridge_log
// #cgo noescape eddy_bridge_metric
// #cgo noescape eddy_bridge_send
// #cgo noescape eddy_bridge_cancel
// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"time"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// gateway is the host, as used by package raw.
type gateway struct{}

func (gateway) Workers() int { return int(C.eddy_bridge_host.workers) }

func (gateway) Level() raw.Level { return raw.Level(C.eddy_bridge_host.level) }

func (gateway) Resume(exchange uint64, turn uint32, verdict raw.Verdict, edits []byte) raw.Result {
	data := (*C.uint8_t)(unsafe.SliceData(edits))
	return raw.Result(C.eddy_bridge_resume(
		C.uint64_t(exchange), C.uint32_t(turn), C.uint32_t(verdict), data, C.uint32_t(len(edits))))
}

func (gateway) EditsGrow(c *raw.Call, more uint32) raw.Result {
	return raw.Result(C.eddy_bridge_edits_grow(unsafe.Pointer(c), C.uint32_t(more)))
}

func (gateway) Log(filter uint32, level raw.Level, text string) raw.Result {
	data := (*C.uint8_t)(unsafe.StringData(text))
	return raw.Result(C.eddy_bridge_log(C.uint32_t(filter), C.uint32_t(level), data, C.size_t(len(text))))
}

func (gateway) Metric(filter uint32, kind raw.MetricKind, name string, bounds []uint64) (raw.MetricCells, raw.Result) {
	text, limits := (*C.uint8_t)(unsafe.StringData(name)), (*C.uint64_t)(unsafe.SliceData(bounds))
	// The host writes a pointer of its own, so the memory must not be Go's.
	out := C.calloc(1, C.size_t(unsafe.Sizeof(raw.MetricCells{})))
	defer C.free(out)
	result := C.eddy_bridge_metric(
		C.uint32_t(filter), C.uint32_t(kind), text, C.size_t(len(name)), limits, C.uint32_t(len(bounds)), out)
	return *(*raw.MetricCells)(out), raw.Result(result)
}

func (gateway) Send(token uint64, out *raw.Outbound) raw.Result {
	lens := make([]uint64, 0, 5+2*len(out.Fields))
	bytes := make([]byte, 0, 512+len(out.Body))
	take := func(s string) {
		bytes = append(bytes, s...)
		lens = append(lens, uint64(len(s)))
	}
	take(out.Cluster)
	take(out.Method)
	take(out.Target)
	take(out.Authority)
	bytes = append(bytes, out.Body...)
	lens = append(lens, uint64(len(out.Body)))
	for _, field := range out.Fields {
		take(field[0])
		take(field[1])
	}
	timeout := min(max((out.Timeout+time.Millisecond-1)/time.Millisecond, 0), 1<<32-1)
	data, lengths := (*C.uint8_t)(unsafe.SliceData(bytes)), (*C.uint64_t)(unsafe.SliceData(lens))
	return raw.Result(C.eddy_bridge_send(
		C.uint32_t(out.Filter), C.uint64_t(token), C.uint64_t(out.Exchange), C.uint32_t(timeout), data, lengths,
		C.uint32_t(len(out.Fields))))
}

func (gateway) Cancel(filter uint32, token uint64) raw.Result {
	return raw.Result(C.eddy_bridge_cancel(C.uint32_t(filter), C.uint64_t(token)))
}
