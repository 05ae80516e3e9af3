package stream

import (
	"strings"

	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// kept is a copy of a section of an ended exchange, which is not changed.
type kept []field

func (k kept) GetRaw(name string) string {
	value, _ := k.Get(name)
	return value
}

// Get returns the first value.
func (k kept) Get(key string) (string, bool) {
	for _, f := range k {
		if strings.EqualFold(f.name, key) {
			return f.value, true
		}
	}
	return "", false
}

// Values returns all values.
func (k kept) Values(key string) (values []string) {
	for _, f := range k {
		if strings.EqualFold(f.name, key) {
			values = append(values, f.value)
		}
	}
	return values
}

// Set does nothing.
func (kept) Set(string, string) {}

// Add does nothing.
func (kept) Add(string, string) {}

// Del does nothing.
func (kept) Del(string) {}

// Range iterates over the fields.
func (k kept) Range(f func(key, value string) bool) {
	for _, field := range k {
		if !f(field.name, field.value) {
			return
		}
	}
}

// RangeWithCopy iterates over the fields.
func (k kept) RangeWithCopy(f func(key, value string) bool) { k.Range(f) }

// GetAllHeaders returns a copy of the fields.
func (k kept) GetAllHeaders() map[string][]string {
	all := make(map[string][]string, len(k))
	for _, f := range k {
		all[f.name] = append(all[f.name], f.value)
	}
	return all
}

// ByteSize returns the number of bytes of all names and values.
func (k kept) ByteSize() (bytes uint64) {
	for _, f := range k {
		bytes += uint64(len(f.name) + len(f.value))
	}
	return bytes
}

var _ api.HeaderMap = kept(nil)
