// Package linear joins package raw to a gateway that runs the filters as a module of Wasm. It is for GOOS=wasip1 only;
// abi/linear-memory.md tells what both sides do.
//
// Go for Wasm has pointers of 64 bits, so that a call has the same layout in the module's memory as it has in a
// process: package raw reads it as it stands.
package linear
