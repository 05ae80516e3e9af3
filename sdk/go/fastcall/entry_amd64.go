//go:build linux && gc

package fastcall

// alignmentAtEntry is the stack pointer modulo 16 at the first instruction of a C function: the return address is
// pushed.
const alignmentAtEntry = 8
