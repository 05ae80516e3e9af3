//go:build linux && gc

#include "go_asm.h"
#include "textflag.h"

// func CallWith(fn Func, arg unsafe.Pointer, word uintptr) uintptr
//
// Selects the path here instead of in Go, where Call would be too large to be inlined: a call within Go costs half as
// much as the whole call of native code. Both paths use the arguments and the result of this function in place.
TEXT ·CallWith(SB), NOSPLIT|NOFRAME, $0-32
	MOVWU ·way(SB), R9
	CMPW  $const_Assembly, R9
	BNE   otherwise
	JMP   ·nativeCall(SB)
otherwise:
	JMP   ·callOtherwise(SB)

// func nativeCall(fn, arg unsafe.Pointer, length uintptr) uintptr
//
// R19 to R21 hold the goroutine's stack, the return address and the goroutine: native code preserves them. Signal
// handlers take the goroutine from the thread's variables, which are not changed: writing them needs a symbol that the
// linker reserves for the runtime. The handlers see an address that is not Go's and ignore the goroutine.
TEXT ·nativeCall(SB), NOSPLIT|NOFRAME, $0-32
	MOVD fn+0(FP), R9
	MOVD arg+8(FP), R0
	MOVD length+16(FP), R1
	MOVD RSP, R19
	MOVD R30, R20
	MOVD g, R21
	MOVD const_offsetM(g), R10     // g.m
	MOVD const_offsetG0(R10), R10  // g.m.g0
	MOVD R19, R11
	CMP  R10, g
	BEQ  aligned
	MOVD R19, const_offsetSP(g)    // a callback into Go starts below this frame, and the runtime refuses it
	MOVD const_offsetSP(R10), R11  // everything below is free
	MOVD R10, g
aligned:
	AND  $~15, R11
	MOVD R11, RSP
	BL   (R9)
	MOVD R19, RSP
	MOVD R21, g
	MOVD R20, R30
	MOVD R0, ret+24(FP)
	RET

// func currentG() (fromThread, fromRegister uintptr)
//
// Only the register is available here; the other checks of the probe verify that it is a goroutine.
TEXT ·currentG(SB), NOSPLIT|NOFRAME, $0-16
	MOVD g, fromThread+0(FP)
	MOVD g, fromRegister+8(FP)
	RET

// func currentSP() uintptr
TEXT ·currentSP(SB), NOSPLIT|NOFRAME, $0-8
	MOVD RSP, R0
	MOVD R0, ret+0(FP)
	RET

// The native side of the probe, called as a C function: stores the stack pointer and the goroutine that it observes,
// and overwrites registers that C does not preserve.
TEXT ·witness(SB), NOSPLIT|NOFRAME, $0-0
	MOVD RSP, R9
	MOVD R9, 0(R0)
	MOVD g, 8(R0)
	MOVD R1, 16(R0)
	MOVD $0x7e577e57, R0
	MOVD ZR, R1
	MOVD ZR, R2
	MOVD ZR, R3
	MOVD ZR, R9
	MOVD ZR, R10
	MOVD ZR, R11
	MOVD ZR, R12
	RET

// func witnessAddress() unsafe.Pointer
TEXT ·witnessAddress(SB), NOSPLIT|NOFRAME, $0-8
	MOVD $·witness(SB), R0
	MOVD R0, ret+0(FP)
	RET
