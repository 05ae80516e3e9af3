//go:build fastcall_mutant3

package fastcall

// Wrong on purpose, for the test that the probe notices: g.sched.sp is looked for one word too late.
const (
	offsetM  = 0x30
	offsetG0 = 0x0
	offsetSP = 0x40
)
