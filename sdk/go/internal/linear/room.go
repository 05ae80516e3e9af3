//go:build wasip1

package linear

import (
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
)

var (
	// room is the buffer for data of the gateway. The garbage collector does not scan it: all pointers in it point into
	// it, except for edits that were moved to a larger buffer.
	room []uint64
	// outgrown keeps former edit buffers until the next call, because there may be views of them.
	outgrown [][]uint64
)

// roomMax is the maximum size that a gateway may request: the largest body and all edits, with a reserve.
const roomMax = 1 << 31

// The buffer is valid until a larger one is requested.
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

// growEdits gives a call a larger buffer for its edits, in memory of this module; the gateway reads its address from
// the call.
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
