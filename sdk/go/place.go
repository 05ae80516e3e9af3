package eddy

import (
	"iter"
	"strings"
)

// Place is the position of a field's value in a body: Len bytes, from Offset on. Len is 0 if only the start is known,
// as for numbers.
type Place struct {
	Offset int
	Len    int
}

// Places returns an iterator over the positions in the body of the values of a message field, by its key under `fields`
// in the configuration of this filter. The message is neither decoded nor copied.
func (x *Exchange) Places(key string) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		text, _ := x.Metadata(placesSpace, key+placesSuffix)
		for {
			var p Place
			var ok bool
			if p, text, ok = nextPlace(text); !ok || !yield(p) {
				return
			}
		}
	}
}

// Field returns the bytes of a message field at its position of [Exchange.Places]: its last value, which is the one in
// force, as a view like those of [Body.Bytes]. It requires the whole body ([Exchange.Buffer]), unchanged by filters in
// between. It does not find numbers; their values are in the metadata.
func (b Body) Field(key string) (value []byte, ok bool) {
	if !b.IsWhole() {
		return nil, false
	}
	bytes := b.Bytes()
	for p := range b.x.Places(key) {
		if p.Len > 0 && p.Offset <= len(bytes) && p.Len <= len(bytes)-p.Offset {
			value, ok = bytes[p.Offset:p.Offset+p.Len:p.Offset+p.Len], true
		}
	}
	return value, ok
}

// nextPlace parses the next [offset,length] from the front of a list.
func nextPlace(text string) (p Place, rest string, ok bool) {
	begin := strings.IndexAny(text, "0123456789")
	if begin < 0 {
		return p, "", false
	}
	if p.Offset, text, ok = number(text[begin:]); !ok || len(text) == 0 || text[0] != ',' {
		return p, "", false
	}
	p.Len, rest, ok = number(text[1:])
	return p, rest, ok
}

// number parses the digits at the front of a text.
func number(text string) (n int, rest string, ok bool) {
	for ok = len(text) > 0 && isDigit(text[0]); len(text) > 0 && isDigit(text[0]); text = text[1:] {
		if n > numberMax {
			return 0, "", false
		}
		n = n*10 + int(text[0]-'0')
	}
	return n, text, ok
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

const (
	placesSpace  = "message_fields"
	placesSuffix = "_at"
	// numberMax is larger than any body, and ten times it does not overflow.
	numberMax = 1 << 56
)
