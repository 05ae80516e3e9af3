package passing

/*
#include "passing.h"

#cgo noescape passing_first
#cgo nocallback passing_first
#cgo noescape passing_sum_array
#cgo nocallback passing_sum_array
*/
import "C"

import "unsafe"

// Table is an array of some size.
type Table [4096]byte

// SumTableCopied shows a trap. For a parameter of type void *, cgo checks whether the memory has pointers of Go in it. Where
// the argument is written as the address of an element of an array, it takes the array into a variable of its own for
// that check: 4 KiB are copied to the heap in each call.
func SumTableCopied(table Table) uint64 {
	return uint64(C.passing_first(unsafe.Pointer(&table[0])))
}

// SumTable gets around it by taking the address in a line of its own.
func SumTable(table *Table) uint64 {
	start := unsafe.Pointer(&table[0])
	return uint64(C.passing_first(start))
}

// SumTableTyped gets around the check as a whole: behind a uint8_t * can't be a pointer, so nothing is looked for. Declare C functions so, not
// with void *.
func SumTableTyped(table *Table) uint64 {
	return uint64(C.passing_sum_array((*C.uint8_t)(&table[0])))
}
