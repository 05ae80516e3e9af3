//go:build linux && gc

#include "go_asm.h"
#include "textflag.h"

// func CallWith(fn Func, arg unsafe.Pointer, word uintptr) uintptr
//
// Selects the path here instead of in Go, where Call would be too large to be inlined: a call within Go costs half as
// much as the whole call of native code. Both paths use the arguments and the result of this function in place.
TEXT ·CallWith(SB), NOSPLIT|NOFRAME, $0-32
	CMPL ·way(SB), $const_Assembly
	JNE  otherwise
	JMP  ·nativeCall(SB)
otherwise:
	JMP  ·callOtherwise(SB)

// func nativeCall(fn, arg unsafe.Pointer, length uintptr) uintptr
//
// R12, R13 and BX hold the goroutine's stack, the goroutine and the base of its thread's variables: native code
// preserves them. The goroutine of the thread is switched in the thread's variables (where signal handlers look)
// before the stack, and back after it, as in the runtime.
TEXT ·nativeCall(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ fn+0(FP), AX
	MOVQ arg+8(FP), DI
	MOVQ length+16(FP), SI
	MOVQ SP, R12
	MOVQ TLS, BX                   // two steps: the short form cannot store in a shared library
	MOVQ 0(BX)(TLS*1), R13         // g
	MOVQ const_offsetM(R13), R9    // g.m
	MOVQ const_offsetG0(R9), R9    // g.m.g0
	CMPQ R9, R13
	JEQ  aligned
	MOVQ SP, const_offsetSP(R13)   // a callback into Go starts below this frame, and the runtime refuses it
	MOVQ R9, 0(BX)(TLS*1)
	MOVQ const_offsetSP(R9), SP    // everything below is free
aligned:
	ANDQ $~15, SP
	CALL AX
	MOVQ R12, SP
	MOVQ R13, 0(BX)(TLS*1)
	MOVQ AX, ret+24(FP)
	RET

// func currentG() (fromThread, fromRegister uintptr)
TEXT ·currentG(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ TLS, AX
	MOVQ 0(AX)(TLS*1), CX
	MOVQ CX, fromThread+0(FP)
	MOVQ R14, fromRegister+8(FP)
	RET

// func currentSP() uintptr
TEXT ·currentSP(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ SP, AX
	MOVQ AX, ret+0(FP)
	RET

// The native side of the probe, called as a C function: stores the stack pointer and the goroutine that it observes,
// and overwrites all registers that C does not preserve.
TEXT ·witness(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ SP, CX
	MOVQ CX, 0(DI)
	MOVQ TLS, AX
	MOVQ 0(AX)(TLS*1), CX
	MOVQ CX, 8(DI)
	MOVQ SI, 16(DI)
	MOVQ $0x7e577e57, AX
	XORQ CX, CX
	XORQ DX, DX
	XORQ SI, SI
	XORQ DI, DI
	XORQ R8, R8
	XORQ R9, R9
	XORQ R10, R10
	XORQ R11, R11
	RET

// func witnessAddress() unsafe.Pointer
TEXT ·witnessAddress(SB), NOSPLIT|NOFRAME, $0-8
	LEAQ ·witness(SB), AX
	MOVQ AX, ret+0(FP)
	RET
