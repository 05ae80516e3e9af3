//go:build !race && !eddydebug

package eddytest

const instrumented = false
