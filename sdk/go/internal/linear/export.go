//go:build wasip1

package linear

import (
	"runtime"
	"runtime/debug"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

// library is the part of the module that the gateway reads: the beginning of `eddy_library`.
var library struct {
	abi        uint32
	size       uint32
	sdk        raw.Text
	toolchain  raw.Text
	filters    *raw.Text
	filtersLen uint64
}

// The gateway looks for this name first, and never calls it.
//
//go:wasmexport eddy_abi_1
func abi() {}

//go:wasmexport eddy_open
func open(workers, level uint32) unsafe.Pointer {
	defer barrier("the module could not be opened", nil)
	raw.Open(gateway{workers: int(workers), level: raw.Level(level)})
	options := raw.Configured()
	if options.MemoryLimit != 0 {
		debug.SetMemoryLimit(options.MemoryLimit)
	}
	if options.GCPercent != 0 {
		debug.SetGCPercent(options.GCPercent)
	}
	names := raw.Names()
	texts := make([]raw.Text, len(names))
	for i, name := range names {
		texts[i] = raw.TextOf(name)
	}
	library.abi, library.size = raw.ABI, uint32(unsafe.Sizeof(library))
	library.sdk, library.toolchain = raw.TextOf(raw.SDK), raw.TextOf(runtime.Version()+" wasip1")
	library.filters, library.filtersLen = unsafe.SliceData(texts), uint64(len(texts))
	idle = runtime.NumGoroutine()
	return unsafe.Pointer(&library)
}

// made is the result of creating a filter or configuration; if that was refused, `text` is the reason.
var made struct {
	info raw.FilterInfo
	text raw.Text
}

//go:wasmexport eddy_filter_new
func filterNew(name unsafe.Pointer, nameLen uint32, config unsafe.Pointer, configLen, id uint32) unsafe.Pointer {
	defer barrier("a filter could not be created", func() { refuse("the SDK panicked") })
	handle, info, err := raw.NewFilter(string(bytesAt(name, nameLen)), bytesAt(config, configLen), id)
	if err != nil {
		refuse(err.Error())
	} else {
		made.text = raw.Text{}
		made.info = raw.FilterInfo{Interest: info.Interest, Flags: info.Flags, Filter: handle}
	}
	others()
	return unsafe.Pointer(&made)
}

//go:wasmexport eddy_config_new
func configNew(filter uint64, config unsafe.Pointer, configLen uint32) unsafe.Pointer {
	defer barrier("a rule's configuration could not be created", func() { refuse("the SDK panicked") })
	handle, err := raw.NewConfig(filter, bytesAt(config, configLen))
	if err != nil {
		refuse(err.Error())
	} else {
		made.text, made.info = raw.Text{}, raw.FilterInfo{Filter: handle}
	}
	others()
	return unsafe.Pointer(&made)
}

//go:wasmexport eddy_config_free
func configFree(_, config uint64) {
	defer barrier("a rule's configuration could not be freed", nil)
	raw.FreeConfig(config)
}

//go:wasmexport eddy_filter_free
func filterFree(filter uint64) {
	defer barrier("a filter could not be freed", nil)
	raw.FreeFilter(filter)
}

// The barrier of this function is the first statement of [raw.Run], where the failed filter is known.
//
//go:wasmexport eddy_run
func run(call unsafe.Pointer) {
	outgrown = outgrown[:0]
	raw.Run((*raw.Call)(call))
	others()
}

//go:wasmexport eddy_event
func event(event unsafe.Pointer) {
	defer barrier("an event could not be handled", nil)
	raw.HandleEvent((*raw.Event)(event))
	others()
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

// refuse records why something was not created.
func refuse(why string) {
	if why == "" {
		why = "unknown error"
	}
	made.info, made.text = raw.FilterInfo{}, raw.TextOf(why)
}

// bytesAt returns data that the gateway wrote to the buffer.
func bytesAt(at unsafe.Pointer, n uint32) []byte { return unsafe.Slice((*byte)(at), int(n)) }
