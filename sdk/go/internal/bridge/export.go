// Package bridge connects package raw to the gateway. It is the only package of this module that needs cgo.
//
// Every exported function starts with a barrier, because a panic that leaves it would end the process.
package bridge

// #cgo CFLAGS: -I${SRCDIR}/../../raw -O2
// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/internal/tick"
	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

//export eddyGoOpen
func eddyGoOpen(library *C.eddy_library) (refused C.int32_t) {
	defer barrier("the library could not be opened", func() { refused = 1 })
	raw.Open(gateway{})
	options := raw.Configured()
	runtime.GOMAXPROCS(options.Processors)
	if options.MemoryLimit == 0 {
		// Memory limit of the gateway, which knows its resources.
		options.MemoryLimit = int64(min(C.eddy_bridge_memory_soft(), 1<<62))
	}
	if options.MemoryLimit != 0 {
		debug.SetMemoryLimit(options.MemoryLimit)
	}
	if options.GCPercent != 0 {
		debug.SetGCPercent(options.GCPercent)
	}
	if reason := tick.Probe(); reason != "" {
		raw.WriteLog(0, raw.LevelInfo, "the monitor of Go's runtime takes processors from workers, and calls cost more: "+reason)
	}
	if library.filters != nil {
		// The library is already open, with the same host.
		return 0
	}
	names := raw.Names()
	// The host keeps these as long as the process lives, so they are never freed.
	texts := (*C.eddy_text)(C.calloc(C.size_t(len(names)+1), C.size_t(unsafe.Sizeof(C.eddy_text{}))))
	for i, name := range names {
		unsafe.Slice(texts, len(names))[i] = forever(name)
	}
	raw.WatchRuntime()
	library.sdk, library.toolchain = forever(raw.SDK), forever(runtime.Version())
	library.filters, library.filters_len = texts, C.uint64_t(len(names))
	return 0
}

//export eddyGoFilterNew
func eddyGoFilterNew(
	name unsafe.Pointer, nameLen C.size_t, config unsafe.Pointer, configLen C.size_t, id C.uint32_t,
	info *C.eddy_filter_info, failure *C.eddy_text,
) (result C.int32_t) {
	defer barrier("a filter could not be created", func() { result = fail(failure, "the SDK panicked") })
	handle, made, err := raw.NewFilter(
		C.GoStringN((*C.char)(name), C.int(nameLen)), unsafe.Slice((*byte)(config), int(configLen)), uint32(id))
	if err != nil {
		return fail(failure, err.Error())
	}
	info.interest, info.flags, info.filter = C.uint32_t(made.Interest), C.uint32_t(made.Flags), C.uint64_t(handle)
	return C.EDDY_OK
}

//export eddyGoConfigNew
func eddyGoConfigNew(
	filter C.uint64_t, config unsafe.Pointer, configLen C.size_t, out *C.uint64_t, failure *C.eddy_text,
) (result C.int32_t) {
	defer barrier("a rule's configuration could not be created", func() { result = fail(failure, "the SDK panicked") })
	handle, err := raw.NewConfig(uint64(filter), unsafe.Slice((*byte)(config), int(configLen)))
	if err != nil {
		return fail(failure, err.Error())
	}
	*out = C.uint64_t(handle)
	return C.EDDY_OK
}

//export eddyGoConfigFree
func eddyGoConfigFree(_, config C.uint64_t) {
	defer barrier("a rule's configuration could not be freed", nil)
	raw.FreeConfig(uint64(config))
}

//export eddyGoFilterFree
func eddyGoFilterFree(filter C.uint64_t) {
	defer barrier("a filter could not be freed", nil)
	raw.FreeFilter(uint64(filter))
}

// The barrier of this function is the first statement of [raw.Run], where the failed filter is known.
//
//export eddyGoRun
func eddyGoRun(call unsafe.Pointer) {
	tick.Bump()
	raw.Run((*raw.Call)(call))
}

//export eddyGoEvent
func eddyGoEvent(event unsafe.Pointer) {
	defer barrier("an event could not be handled", nil)
	raw.HandleEvent((*raw.Event)(event))
}

//export eddyGoStop
func eddyGoStop() {
	defer barrier("the library could not be stopped", nil)
	raw.Stop()
}

// barrier recovers a panic outside of requests.
func barrier(what string, then func()) {
	if r := recover(); r != nil {
		raw.WriteLog(0, raw.LevelError, what+": "+raw.PanicText(r))
		if then != nil {
			then()
		}
	}
}

// fail writes a message to the buffer of the host.
func fail(failure *C.eddy_text, message string) C.int32_t {
	if message == "" {
		message = "unknown error"
	}
	room := unsafe.Slice((*byte)(unsafe.Pointer(failure.data)), int(failure.len))
	failure.len = C.size_t(copy(room, message))
	return C.EDDY_INVALID
}

// forever copies a text to memory outside of the garbage collector.
func forever(s string) C.eddy_text {
	return C.eddy_text{data: (*C.uint8_t)(unsafe.Pointer(C.CString(s))), len: C.size_t(len(s))}
}
