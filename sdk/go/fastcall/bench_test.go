//go:build cgo

package fastcall

import (
	"testing"
	"unsafe"

	"github.com/eddy-gateway/eddy/sdk/go/fastcall/internal/native"
)

//go:noinline
func goCall(unsafe.Pointer) uintptr { return 0 }

func BenchmarkCall(b *testing.B) {
	b.Cleanup(Enable)
	b.Run("go", func(b *testing.B) {
		for range b.N {
			goCall(nil)
		}
	})
	b.Run("assembly", func(b *testing.B) {
		if Enable(); Status().Way != Assembly {
			b.Skip(Status())
		}
		for range b.N {
			Call(Func(native.Empty), nil)
		}
	})
	b.Run("cgo", func(b *testing.B) {
		Disable()
		for range b.N {
			Call(Func(native.Empty), nil)
		}
	})
	b.Run("cgo-plain", func(b *testing.B) {
		for range b.N {
			native.CgoEmpty()
		}
	})
	b.Run("cgo-quiet", func(b *testing.B) {
		for range b.N {
			native.CgoQuiet()
		}
	})
}

func BenchmarkCallString(b *testing.B) {
	b.Cleanup(Enable)
	text := "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk"
	b.ReportAllocs()
	b.Run("assembly", func(b *testing.B) {
		if Enable(); Status().Way != Assembly {
			b.Skip(Status())
		}
		for range b.N {
			CallString(Func(native.Empty), text)
		}
	})
	b.Run("cgo", func(b *testing.B) {
		Disable()
		for range b.N {
			CallString(Func(native.Empty), text)
		}
	})
}
