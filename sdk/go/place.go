package eddy

import (
	"iter"
	"strings"
)

// Place is where the value of a field stands in a body: Len bytes, from Offset on. Len is 0 where only the beginning is known, as
// of a number.
type Place struct {
	Offset int
	Len    int
}

// Places walks over where the values of a field of a message stand in the body, by the key that it has under `fields` in the
// configuration of this filter. The message is not decoded for it, and nothing of it is copied.
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

// Field gives the bytes of a field of a message, where [Exchange.Places] says that they stand: its last value, which is the one that
// counts, as a view like those of [Body.Bytes]. Only a whole body has it ([Exchange.Buffer]), as long as no filter between has
// changed it. A number is not found: its value stands in the metadata.
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

// nextPlace takes the next [offset,length] from the front of a list of them.
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

// number takes the digits from the front of a text.
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
	// numberMax is far beyond any body, and ten times it is still a number.
	numberMax = 1 << 56
)
