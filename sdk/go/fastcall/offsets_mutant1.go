//go:build fastcall_mutant1

package fastcall

// Wrong on purpose, to test that the probe detects it: g.m is read one word too early.
const (
	offsetM  = 0x28
	offsetG0 = 0x0
	offsetSP = 0x38
)
