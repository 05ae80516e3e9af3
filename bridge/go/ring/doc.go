// Package ring makes calls between two processes through shared memory.
//
// A [Link] joins two processes: each can call the other with a method's number and some bytes, any number of calls at once,
// answered in any order. What is sent lies in two rings of shared memory; a Unix socket beside it wakes a process that sleeps
// and tells at once when the other one dies. A goroutine that waits holds no thread.
//
// The other process is not trusted. Every number that it writes is read once and checked, every byte is copied before it is
// looked at, and what doesn't fit ends the link with a [Fault] that says why.
//
// The other side may be written in Rust, with the crate eddy-bridge-ring, which speaks the same.
package ring
