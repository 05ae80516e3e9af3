package bridge

import (
	"slices"
	"strings"
	"unsafe"
)

// Str is a string in memory of the caller: it is valid until the call returns, or, in an async method, until that
// returns. What lives on is a [Str.Clone].
type Str struct{ text string }

// StrOf makes a view of a string of Go, for structs that are passed to Rust.
func StrOf(text string) Str { return Str{text} }

// View gives the string without a copy. It is valid as long as s is.
func (s Str) View() string { return s.text }

// Clone gives a copy, which is valid for ever.
func (s Str) Clone() string { return strings.Clone(s.text) }

// String is [Str.Clone].
func (s Str) String() string { return s.Clone() }

// Len tells how many bytes it has.
func (s Str) Len() int { return len(s.text) }

// Number is a type of numbers, of which lists are passed as they are in memory.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// Slice is a list of numbers in memory of the caller: it is valid as long as a [Str] is.
type Slice[T Number] struct {
	first  *T
	length int
}

// SliceOf makes a view of a slice of Go, for structs that are passed to Rust.
func SliceOf[T Number](list []T) Slice[T] { return Slice[T]{unsafe.SliceData(list), len(list)} }

// View gives the list without a copy. It is valid as long as s is, and must not be changed.
func (s Slice[T]) View() []T { return unsafe.Slice(s.first, s.length) }

// Clone gives a copy, which is valid for ever.
func (s Slice[T]) Clone() []T { return slices.Clone(s.View()) }

// Len tells how many numbers it has.
func (s Slice[T]) Len() int { return s.length }

// Option is a value that may be absent. The zero value is absent.
type Option[T any] struct {
	some  uint64 // a word, as in messages
	value T
}

// Some makes an option with a value.
func Some[T any](value T) Option[T] { return Option[T]{1, value} }

// None makes one without.
func None[T any]() Option[T] { return Option[T]{} }

// Get gives the value, and whether there is one.
func (o Option[T]) Get() (T, bool) { return o.value, o.some != 0 }

// Result is a value or an error, where it is part of something; a method that may fail has an error as its last result.
type Result[T, E any] struct {
	// Value is the value, unless it failed.
	Value T
	// Error is why it failed, if it did.
	Error E
	// Failed tells which of both it is.
	Failed bool
}
