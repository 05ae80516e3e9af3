package raw

import "testing"

func TestAFreedHandleIsNeverValidAgain(t *testing.T) {
	s := NewSlabs[int](2)
	seen := map[uint64]bool{}
	for i := range 1000 {
		handle, value := s.New(uint16(i % 2))
		if handle == 0 || seen[handle] || s.Get(handle) != value {
			t.Fatalf("the handle %x", handle)
		}
		seen[handle] = true
		if !s.Free(handle, true) || s.Free(handle, true) || s.Get(handle) != nil {
			t.Fatal("freed twice, or not at all")
		}
	}
	for handle := range seen {
		if s.Get(handle) != nil {
			t.Fatalf("%x is valid again", handle)
		}
	}
	for _, handle := range []uint64{0, 1, ^uint64(0), 1 << 24, 5 << 24} {
		if s.Get(handle) != nil || s.Free(handle, true) {
			t.Errorf("%x is valid", handle)
		}
	}
	if handle, value := s.New(2); handle != 0 || value != nil {
		t.Error("a worker that there is not has states")
	}
}

func TestASlotIsRetiredWhenItsGenerationsAreUsedUp(t *testing.T) {
	s := NewSlabs[int](1)
	first, _ := s.New(0)
	s.workers[0].slots[0].generation = generationMax
	last := uint64(generationMax)<<generationBits | first&indexMax
	if s.Get(last) == nil || !s.Free(last, true) || s.Get(last) != nil || s.Get(0) != nil {
		t.Error("the last generation")
	}
	if again, _ := s.New(0); again&indexMax == first&indexMax {
		t.Error("the slot is used again")
	}
}

func TestAHeldValueIsNotReused(t *testing.T) {
	s := NewSlabs[int](1)
	handle, held := s.New(0)
	s.Free(handle, false)
	if _, value := s.New(0); value == held {
		t.Error("somebody else has it")
	}
}
