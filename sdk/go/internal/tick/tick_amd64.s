#include "go_asm.h"
#include "textflag.h"

// func Bump()
TEXT ·Bump(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ ·offsetP(SB), CX
	TESTQ CX, CX
	JEQ  done
	MOVQ TLS, AX
	MOVQ 0(AX)(TLS*1), AX            // g
	MOVQ const_offsetM(AX), AX       // g.m
	MOVQ (AX)(CX*1), AX              // g.m.p
	INCL const_offsetSchedtick(AX)
done:
	RET

// func currentG() uintptr
TEXT ·currentG(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ TLS, AX
	MOVQ 0(AX)(TLS*1), AX
	MOVQ AX, ret+0(FP)
	RET
