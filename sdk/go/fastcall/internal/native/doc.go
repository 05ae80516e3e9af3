// Package native has C functions for the tests and benchmarks of fastcall, which cannot contain C themselves.
package native
