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

// Table is an array.
type Table [4096]byte

// SumTableCopied shows a pitfall. For a parameter of type void *, cgo checks whether the memory contains Go pointers.
// If the argument is the address of an array element, cgo copies the array into a separate variable for the check: 4
// KiB on the heap in each call.
func SumTableCopied(table Table) uint64 {
	return uint64(C.passing_first(unsafe.Pointer(&table[0])))
}

// SumTable avoids the copy: it takes the address in a separate statement.
func SumTable(table *Table) uint64 {
	start := unsafe.Pointer(&table[0])
	return uint64(C.passing_first(start))
}

// SumTableTyped avoids the check entirely: a uint8_t * cannot lead to pointers, so cgo does not search. Declare C
// functions like this, not with void *.
func SumTableTyped(table *Table) uint64 {
	return uint64(C.passing_sum_array((*C.uint8_t)(&table[0])))
}
