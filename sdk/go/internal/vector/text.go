// Package vector is the test filter of abi/vectors: it executes its configuration with package eddy.
package vector

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// Text is bytes as written in abi/vectors: "text", {"hex": "00ff"} or {"repeat": "a", "times": 3}.
type Text string

// UnmarshalJSON reads any of the formats.
func (t *Text) UnmarshalJSON(text []byte) error {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		*t = Text(plain)
		return nil
	}
	var form struct {
		Hex    *string
		Repeat *string
		Times  int
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	switch {
	case form.Hex != nil:
		bytes, err := hex.DecodeString(*form.Hex)
		*t = Text(bytes)
		return err
	case form.Repeat != nil:
		*t = Text(strings.Repeat(*form.Repeat, form.Times))
		return nil
	default:
		return errors.New("a text is a string, or has hex or repeat")
	}
}

// Seen returns JSON that describes bytes: a string, or the length and the sum of the bytes if they are long or not
// UTF-8.
func Seen(s string) any {
	if len(s) <= 1024 && utf8.ValidString(s) {
		return strings.Clone(s)
	}
	sum := 0
	for i := range len(s) {
		sum += int(s[i])
	}
	return map[string]int{"bytes": len(s), "sum": sum}
}
