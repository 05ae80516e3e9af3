//go:build !cgo

package fastcall

import "testing"

func TestWithoutCgoACallPanicsWithAReason(t *testing.T) {
	if now := Status(); now.Way != Nothing || now.Reason != "built without cgo" {
		t.Errorf("the status is %v", now)
	}
	for _, call := range []func(){
		func() { Call(nil, nil) },
		func() { CallString(nil, "a") },
		func() { CallWith(nil, nil, 0) },
		func() { CallCgo(nil, nil) },
		func() { Disable(); Call(nil, nil) },
		func() { Enable(); Call(nil, nil) },
	} {
		func() {
			defer func() {
				if caught := recover(); caught != messageWithoutCgo {
					t.Errorf("panicked with %v", caught)
				}
			}()
			call()
		}()
	}
}
