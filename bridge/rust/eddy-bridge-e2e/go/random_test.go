package main

import (
	"math"
	"math/rand/v2"

	bridge "github.com/eddy-gateway/eddy/bridge/go"
)

// random makes values of every type, the same for the same seed.
type random struct{ *rand.Rand }

func randomOf(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 0))} }

// number is often one at an end of a range.
func (r random) number() uint64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64
	case 2:
		return 1 << r.IntN(64)
	case 3:
		return 1<<r.IntN(64) - 1
	}
	return r.Uint64()
}

// length is how long a list is: short, and now and then longer than any room for it.
func (r random) length() int {
	switch n := r.IntN(200); {
	case n == 0:
		return r.IntN(3000)
	case n < 20:
		return r.IntN(64)
	case n < 60:
		return 0
	}
	return r.IntN(8)
}

// text has letters of one to four bytes.
func (r random) text() string {
	letters := []rune("az \x00éß€語🦀")
	text := make([]rune, r.length())
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

// double is any number but those that are no numbers, which equal nothing.
func (r random) double() float64 {
	number := math.Float64frombits(r.number())
	if math.IsNaN(number) {
		return math.Inf(-1)
	}
	return number
}

func (r random) leaf() Leaf {
	return Leaf{Name: r.text(), Count: uint32(r.number()), Tags: list(r.IntN(3), r.text)}
}

func (r random) bytes() []uint8 { return numbers[uint8](r) }

func (r random) every() Every {
	value := Every{
		Byte: uint8(r.number()), Short: uint16(r.number()), Word: uint32(r.number()), Long: r.number(),
		SignedByte: int8(r.number()), SignedShort: int16(r.number()), SignedWord: int32(r.number()),
		SignedLong: int64(r.number()),
		Single:     float32(r.double()), Double: r.double(), Flag: r.IntN(2) == 1,
		Text: r.text(), Bytes: r.bytes(), Numbers: numbers[int32](r), Doubles: list(r.length(), r.double),
		Flags: list(r.IntN(9), func() bool { return r.IntN(2) == 1 }),
		Leaf:  r.leaf(), Leaves: list(r.IntN(4), r.leaf),
		ByName: map[string]Leaf{}, ByNumber: map[int64][]uint8{},
		MaybeLeaf: perhaps(r, r.leaf), MaybeText: perhaps(r, r.text),
		Nested: list(r.IntN(4), func() bridge.Option[[]string] {
			return perhaps(r, func() []string { return list(r.IntN(4), r.text) })
		}),
	}
	for range r.IntN(4) {
		value.ByName[r.text()] = r.leaf()
		value.ByNumber[int64(r.number())] = r.bytes()
	}
	if value.Outcome.Failed = r.IntN(2) == 0; value.Outcome.Failed {
		value.Outcome.Error = r.text()
	} else {
		value.Outcome.Value = uint16(r.number())
	}
	return value
}

func numbers[T bridge.Number](r random) []T {
	return list(r.length(), func() T { return T(r.number()) })
}

func list[T any](length int, next func() T) []T {
	list := make([]T, length)
	for i := range list {
		list[i] = next()
	}
	return list
}

func perhaps[T any](r random, next func() T) bridge.Option[T] {
	if r.IntN(2) == 0 {
		return bridge.None[T]()
	}
	return bridge.Some(next())
}
