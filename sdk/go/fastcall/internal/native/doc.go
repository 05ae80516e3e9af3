// Package native has C functions for the tests and benchmarks of fastcall, which can't contain C themselves.
package native
