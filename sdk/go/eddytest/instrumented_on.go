//go:build race || eddydebug

package eddytest

const instrumented = true
