// Package fastcall calls functions of C, Rust or any other native code at the price of a few instructions.
//
// A call by cgo costs 20 to 40 ns, because Go tells its scheduler that the thread is away before it lets native code
// run. [Call] leaves that out: a dozen instructions of assembly move the thread to its system stack, call the function
// and move back, some 2 ns in all. Whether the assembly is right for the Go runtime of the program is not assumed but
// checked when the program starts (see [Status]); where a check fails, and on systems that the assembly does not
// know, the same functions call by cgo. A program behaves alike either way, and is only slower.
//
//	// uintptr_t checksum(const uint8_t *data, size_t len);
//	var checksum = fastcall.Func(unsafe.Pointer(C.checksum))
//
//	sum := fastcall.CallString(checksum, name)
//
// The address of a native function comes from cgo (as above), from dlsym, or from a host that hands a table of
// functions to the library. (By cgo it needs a symbol: a function that is `static`, or written in the preamble of a file
// with exports, has none.) fastcall itself needs nothing but the standard library.
//
// # What a function may not do
//
// The scheduler does not know that the thread is in native code: it can neither stop the goroutine nor lend its place
// to another. A function called by [Call], [CallBytes] or [CallString] therefore
//
//   - takes less than a microsecond or so, always. While it runs no garbage collection can begin: one that takes 300 ms
//     makes every other goroutine of the program wait for 300 ms as soon as a collection is due.
//   - does not block: no input or output, no sleep, no lock that another thread may hold for long. A lock that a thread
//     can hold while it calls into Go is a deadlock.
//   - does not call back into Go. That ends the program, on both ways: with "fatal error: exitsyscall: syscall frame is
//     no longer valid" on the fast one, with "function marked with #cgo nocallback called back into Go" by cgo.
//   - does not unwind out of itself: a C++ exception, a Rust panic or longjmp must end inside. (Rust's extern "C"
//     functions abort by themselves.)
//   - uses no more than 16 KiB of stack. There is more almost everywhere, but 16 KiB is what was checked.
//   - keeps no pointer to memory of Go after it has returned.
//   - does not count on errno, nor on a signal handler of its own for faults: a segmentation fault in it ends the
//     program with a report of Go that names the address.
//
// Allocating is allowed, but malloc is where a "short" function now and then takes a millisecond; keep it out.
//
// What breaks these rules goes through [CallCgo], which takes any function, or through cgo itself. To find out whether a
// function keeps to them, run the program with EDDY_FASTCALL=check and look at [Report].
//
// # Pointers
//
// The argument of [Call] may point to memory of Go, and what it points to may point on to further memory of Go: no
// goroutine is stopped and no stack is moved while the function runs. It never escapes, so a struct on the stack costs no
// allocation. By cgo this holds as well (stacks of goroutines in a system call stay where they are), but such nested
// pointers are outside of what cgo's rules promise; [CallBytes] and [CallString] stay inside of them.
//
// # Environment
//
// EDDY_FASTCALL=0 (or "off", "cgo") makes every call go by cgo, like [Disable]. EDDY_FASTCALL=check measures each call.
//
// # Limits
//
// The assembly knows Linux on amd64 and arm64, and was checked with Go 1.24 to 1.27. Profiles show time in native
// functions as runtime._ExternalCode instead of below their callers, and execution traces show no system call.
// On musl, Go libraries that are loaded with dlopen don't work at all, with or without this package.
// Programs built without cgo can import the package, but calling panics: there is no native code to call in them.
package fastcall
