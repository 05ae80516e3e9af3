package raw

// Slabs has the states of one filter's exchanges, each with a handle that becomes invalid for ever when it is freed.
//
// Each worker has its own slab, used only on its thread, so there is no lock. Freed values are reused: a steady load
// does not allocate. The zero value has no workers.
type Slabs[T any] struct {
	workers []slab[T]
}

type slab[T any] struct {
	slots []slot[T]
	free  []uint32
	// The slabs of two workers must not share a cache line.
	_ [64]byte
}

type slot[T any] struct {
	value      *T
	generation uint32
}

// A handle has 24 bits of generation, 16 bits of worker number and 24 bits of index.
const (
	indexBits      = 24
	workerBits     = 16
	generationMax  = 1<<24 - 1
	indexMax       = 1<<indexBits - 1
	generationBits = indexBits + workerBits
)

// NewSlabs returns slabs for that many workers.
func NewSlabs[T any](workers int) *Slabs[T] {
	return &Slabs[T]{workers: make([]slab[T], workers)}
}

// New returns a nonzero handle and a value: a new one, or a freed one in its last state. The handle is 0 if the worker
// is unknown or has 16 million exchanges.
func (s *Slabs[T]) New(worker uint16) (handle uint64, value *T) {
	if int(worker) >= len(s.workers) {
		return 0, nil
	}
	own := &s.workers[worker]
	var index uint32
	if n := len(own.free); n != 0 {
		index = own.free[n-1]
		own.free = own.free[:n-1]
	} else {
		index = uint32(len(own.slots))
		if index > indexMax {
			return 0, nil
		}
		own.slots = append(own.slots, slot[T]{generation: 1})
	}
	at := &own.slots[index]
	if at.value == nil {
		at.value = new(T)
	}
	return uint64(at.generation)<<generationBits | uint64(worker)<<indexBits | uint64(index), at.value
}

// Get returns the value of a handle; nil if it was freed.
func (s *Slabs[T]) Get(handle uint64) *T {
	if at := s.at(handle); at != nil {
		return at.value
	}
	return nil
}

func (s *Slabs[T]) at(handle uint64) *slot[T] {
	worker := uint16(handle >> indexBits)
	if int(worker) >= len(s.workers) {
		return nil
	}
	slots := s.workers[worker].slots
	index := uint32(handle & indexMax)
	if int(index) >= len(slots) || slots[index].generation != uint32(handle>>generationBits) {
		return nil
	}
	return &slots[index]
}

// Free releases a handle, and returns whether it was valid. If `again` is false, the value is not reused, because it
// may still be in use.
func (s *Slabs[T]) Free(handle uint64, again bool) bool {
	at := s.at(handle)
	if at == nil {
		return false
	}
	if !again {
		at.value = nil
	}
	if at.generation == generationMax {
		// The next generation would make old handles valid again, so this slot is retired.
		at.value, at.generation = nil, 0
		return true
	}
	at.generation++
	own := &s.workers[uint16(handle>>indexBits)]
	own.free = append(own.free, uint32(handle&indexMax))
	return true
}
