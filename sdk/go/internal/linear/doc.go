// Package linear connects package raw to a gateway that runs the filters as a Wasm module. It is only for GOOS=wasip1;
// abi/linear-memory.md describes both sides.
//
// Go for Wasm has 64-bit pointers, so a call has the same layout in the module's memory as in a process, and package
// raw reads it unchanged.
package linear
