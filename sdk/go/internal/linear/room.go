//go:build wasip1

package linear

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

var (
	// room is where the gateway writes what it tells. The garbage collector does not look into it: all that lies there
	// points into it, but for edits that grew.
	room []uint64
	// outgrown keeps what edits were written to, until the next call: views of it may be out.
	outgrown [][]uint64
)

// roomMax is the most that a gateway may ask for: the largest body and all edits, and then some.
const roomMax = 1 << 31

// The room is valid until more is asked for.
//
//go:wasmexport eddy_room
func makeRoom(n uint32) unsafe.Pointer {
	if n == 0 || n > roomMax {
		return nil
	}
	if words := int(n+7) / 8; words > len(room) {
		room = make([]uint64, words)
	}
	return unsafe.Pointer(&room[0])
}

// growEdits gives a call more room for its edits, in memory of this module: the gateway looks where the call says.
func growEdits(c *raw.Call, more uint32) raw.Result {
	want := uint64(c.EditsLen) + uint64(more)
	if want > raw.EditsMax {
		return raw.TooLarge
	}
	grown := make([]uint64, (min(max(2*uint64(c.EditsCap), want), raw.EditsMax)+7)/8)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&grown[0])), len(grown)*8)
	copy(bytes, c.Log())
	outgrown = append(outgrown, grown)
	c.Edits, c.EditsCap = &bytes[0], uint32(len(bytes))
	return raw.OK
}
