package bridge

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

extern void eddy_bridge_go_complete(void *);

static inline void *complete_address(void) { return (void *)eddy_bridge_go_complete; }
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// This file has all functions that Rust calls by their C names.

// abi is the version of the interface between Rust and Go.
const abi = 2

// meeting is the handshake with Rust after it has loaded the library.
type meeting struct {
	abi      uint64
	bind     uint64
	complete uint64
}

//export eddy_bridge_go_meet
func eddy_bridge_go_meet(m unsafe.Pointer) {
	met := (*meeting)(m)
	if met.abi == abi {
		host.Store(&Rust{bind: pointerAt(met.bind)})
		rustComplete.Store(met.complete)
	}
	met.abi = abi
}

//export eddy_bridge_go_bind
func eddy_bridge_go_bind(b unsafe.Pointer) { bindGo((*bind)(b)) }

//export eddy_bridge_go_enter
func eddy_bridge_go_enter(block unsafe.Pointer) { enterGo(block) }

//export eddy_bridge_go_start
func eddy_bridge_go_start(block unsafe.Pointer) { startGo(block) }

//export eddy_bridge_go_cancel
func eddy_bridge_go_cancel(ticket C.uint64_t) { cancelGo(uint64(ticket)) }

//export eddy_bridge_go_complete
func eddy_bridge_go_complete(block unsafe.Pointer) { completeGo(block) }

func completeAddress() uint64 { return uint64(uintptr(C.complete_address())) }

// allocate allocates C memory, which the receiver frees.
func allocate(bytes int) unsafe.Pointer { return C.malloc(C.size_t(bytes)) }

func free(memory unsafe.Pointer) { C.free(memory) }

// Open loads a Rust library built as a `cdylib` with `eddy_bridge::export!`. It is never unloaded.
func Open(path string) (Rust, error) {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	library := C.dlopen(text, C.RTLD_NOW|C.RTLD_NODELETE)
	if library == nil {
		return Rust{}, fmt.Errorf("%s can't be loaded: %s", path, C.GoString(C.dlerror()))
	}
	name := C.CString("eddy_bridge_rust_bind")
	defer C.free(unsafe.Pointer(name))
	found := C.dlsym(library, name)
	if found == nil {
		return Rust{}, fmt.Errorf("%s offers nothing: expected a Rust library with eddy_bridge::export!", path)
	}
	return Rust{bind: found}, nil
}

// pointerAt converts a C address to a pointer.
func pointerAt(address uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
