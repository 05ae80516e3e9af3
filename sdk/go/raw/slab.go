package raw

// Slabs keeps the states of one filter's exchanges, each under a handle that is never valid again once it is freed.
//
// Each worker has its own slab, used only on its thread, so that there is no lock. What was freed is used again: a
// steady load allocates nothing. The zero value has no workers.
type Slabs[T any] struct {
	workers []slab[T]
}

type slab[T any] struct {
	slots []slot[T]
	free  []uint32
	// The slabs of two workers shall not share a cache line.
	_ [64]byte
}

type slot[T any] struct {
	value      *T
	generation uint32
}

// A handle is 24 bits of generation, 16 of the worker's number and 24 of the index.
const (
	indexBits      = 24
	workerBits     = 16
	generationMax  = 1<<24 - 1
	indexMax       = 1<<indexBits - 1
	generationBits = indexBits + workerBits
)

// NewSlabs makes slabs for so many workers.
func NewSlabs[T any](workers int) *Slabs[T] {
	return &Slabs[T]{workers: make([]slab[T], workers)}
}

// New gives a handle, not 0, and a value: a new one, or one that was freed, in the state it had then. The handle is 0
// where the worker is unknown or has 16 million exchanges.
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

// Get gives the value of a handle; nil where it was freed.
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

// Free ends a handle, and tells whether it was valid. Where `again` is false the value is not used again, because
// somebody may still hold it.
func (s *Slabs[T]) Free(handle uint64, again bool) bool {
	at := s.at(handle)
	if at == nil {
		return false
	}
	if !again {
		at.value = nil
	}
	if at.generation == generationMax {
		// The next generation would make old handles valid again: this slot is retired.
		at.value, at.generation = nil, 0
		return true
	}
	at.generation++
	own := &s.workers[uint16(handle>>indexBits)]
	own.free = append(own.free, uint32(handle&indexMax))
	return true
}
