//go:build fastcall_mutant3

package fastcall

// Wrong on purpose, to test that the probe detects it: g.sched.sp is read one word too late.
const (
	offsetM  = 0x30
	offsetG0 = 0x0
	offsetSP = 0x40
)
