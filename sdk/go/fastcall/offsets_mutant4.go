//go:build fastcall_mutant4

package fastcall

// Wrong on purpose, to test that the probe detects it: g.sched.sp is read from the upper end of the stack.
const (
	offsetM  = 0x30
	offsetG0 = 0x0
	offsetSP = 0x8
)
