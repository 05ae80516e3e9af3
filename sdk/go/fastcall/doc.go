// Package fastcall calls functions of C, Rust or other native code at the cost of a few instructions.
//
// A cgo call costs 20 to 40 ns, because Go informs its scheduler before native code runs. [Call] skips that: a dozen
// instructions of assembly switch the thread to its system stack, call the function and switch back, some 2 ns in all.
// The program start checks that the assembly is correct for the program's Go runtime (see [Status]); if a check fails,
// and on systems that the assembly does not support, the same functions use cgo. The program behaves the same in both
// cases, but is slower with cgo.
//
//	// uintptr_t checksum(const uint8_t *data, size_t len);
//	var checksum = fastcall.Func(unsafe.Pointer(C.checksum))
//
//	sum := fastcall.CallString(checksum, name)
//
// The address of a native function comes from cgo (as above), from dlsym, or from a host that passes a table of
// functions to the library. (With cgo it needs a symbol: a function that is `static`, or in the preamble of a file with
// exports, has none.) fastcall itself needs only the standard library.
//
// # Rules for functions
//
// The scheduler does not know that the thread is in native code: it can neither stop the goroutine nor give its
// processor to another one. Therefore a function called by [Call], [CallBytes] or [CallString]
//
//   - always takes less than about a microsecond. While it runs, no garbage collection can start: a function that takes
//     300 ms makes all other goroutines wait for 300 ms as soon as a collection is due.
//   - does not block: no input or output, no sleep, no lock that another thread may hold for long. A lock that a thread
//     can hold while it calls into Go is a deadlock.
//   - does not call back into Go. That ends the program in both cases: with "fatal error: exitsyscall: syscall frame is
//     no longer valid" on the fast path, with "function marked with #cgo nocallback called back into Go" through cgo.
//   - does not unwind out of itself: a C++ exception, a Rust panic or longjmp must end inside. (Rust's extern "C"
//     functions abort by themselves.)
//   - uses at most 16 KiB of stack. There is more almost everywhere, but 16 KiB is what was checked.
//   - keeps no pointer to memory of Go after it has returned.
//   - does not rely on errno, nor on its own signal handler for faults: a segmentation fault in it ends the program
//     with a report of Go that has the address.
//
// Allocating is allowed, but malloc sometimes takes a millisecond and should be avoided.
//
// Call other functions with [CallCgo], which accepts any function, or with cgo itself. To check whether a function
// follows the rules, run the program with EDDY_FASTCALL=check and read [Report].
//
// # Pointers
//
// The argument of [Call] may point to memory of Go, which may point to further memory of Go: no goroutine is stopped
// and no stack is moved while the function runs. It never escapes, so a struct on the stack needs no allocation. With
// cgo this holds as well (stacks of goroutines in a system call are not moved), but cgo's rules do not guarantee it for
// nested pointers; [CallBytes] and [CallString] follow cgo's rules.
//
// # Environment
//
// EDDY_FASTCALL=0 (or "off", "cgo") makes every call use cgo, like [Disable]. EDDY_FASTCALL=check measures each call.
//
// # Limitations
//
// The assembly supports Linux on amd64 and arm64, and was checked with Go 1.24 to 1.27. Profiles show time in native
// functions as runtime._ExternalCode instead of below their callers, and execution traces show no system call. On musl,
// Go libraries loaded with dlopen don't work at all, with or without this package. Programs built without cgo can
// import the package, but calls panic, because they contain no native code.
package fastcall
