package bridge

import (
	"slices"
	"strings"
	"unsafe"
)

// Str is a string in memory of the caller. It is valid until the call returns or, in an async method, until the method
// returns. Use [Str.Clone] for longer.
type Str struct{ text string }

// StrOf returns a view of a Go string, for structs passed to Rust.
func StrOf(text string) Str { return Str{text} }

// View returns the string without a copy, valid as long as s.
func (s Str) View() string { return s.text }

// Clone returns a copy of the string.
func (s Str) Clone() string { return strings.Clone(s.text) }

// String is [Str.Clone].
func (s Str) String() string { return s.Clone() }

// Len returns the number of bytes.
func (s Str) Len() int { return len(s.text) }

// Number is a type of numbers whose lists are passed as they are in memory.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// Slice is a list of numbers in memory of the caller, valid as long as a [Str].
type Slice[T Number] struct {
	first  *T
	length int
}

// SliceOf returns a view of a Go slice, for structs passed to Rust.
func SliceOf[T Number](list []T) Slice[T] { return Slice[T]{unsafe.SliceData(list), len(list)} }

// View returns the list without a copy. It is valid as long as s, and must not be modified.
func (s Slice[T]) View() []T { return unsafe.Slice(s.first, s.length) }

// Clone returns a copy of the list.
func (s Slice[T]) Clone() []T { return slices.Clone(s.View()) }

// Len returns the number of elements.
func (s Slice[T]) Len() int { return s.length }

// Option is a value that may be absent. The zero value is absent.
type Option[T any] struct {
	some  uint64 // one word, as in messages
	value T
}

// Some returns an option with a value.
func Some[T any](value T) Option[T] { return Option[T]{1, value} }

// None returns an option without a value.
func None[T any]() Option[T] { return Option[T]{} }

// Get returns the value and whether there is one.
func (o Option[T]) Get() (T, bool) { return o.value, o.some != 0 }

// Result is a value or an error as part of another value; a method that may fail has an error as its last result
// instead.
type Result[T, E any] struct {
	// Value is the value, unless it failed.
	Value T
	// Error is the error, if it failed.
	Error E
	// Failed distinguishes value and error.
	Failed bool
}
