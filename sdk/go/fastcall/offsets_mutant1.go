//go:build fastcall_mutant1

package fastcall

// Wrong on purpose, for the test that the probe notices: g.m is looked for one word too early.
const (
	offsetM  = 0x28
	offsetG0 = 0x0
	offsetSP = 0x38
)
