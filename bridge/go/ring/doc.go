// Package ring makes calls between two processes through shared memory.
//
// A [Link] connects two processes: each can call the other with a method number and a payload, any number of calls
// concurrently, answered in any order. Messages are sent through two rings in shared memory; a Unix socket wakes a
// sleeping process and reports at once when the other process ends. A waiting goroutine holds no thread.
//
// The other process is not trusted. Every number that it writes is read once and validated, and all bytes are copied
// before use. Invalid data ends the link with a [Fault] that has the reason.
//
// The other side may be written in Rust, with the crate eddy-bridge-ring, which implements the same protocol.
package ring
