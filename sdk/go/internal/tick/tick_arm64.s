#include "go_asm.h"
#include "textflag.h"

// func Bump()
TEXT ·Bump(SB), NOSPLIT|NOFRAME, $0-0
	MOVD ·offsetP(SB), R1
	CBZ  R1, done
	MOVD const_offsetM(g), R0
	MOVD (R0)(R1), R0
	MOVW const_offsetSchedtick(R0), R2
	ADDW $1, R2
	MOVW R2, const_offsetSchedtick(R0)
done:
	RET

// func currentG() uintptr
TEXT ·currentG(SB), NOSPLIT|NOFRAME, $0-8
	MOVD g, ret+0(FP)
	RET
