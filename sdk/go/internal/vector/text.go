// Package vector is the test filter of abi/vectors: it does what its configuration says, through package eddy.
package vector

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// Text is bytes as abi/vectors writes them: "text", {"hex": "00ff"} or {"repeat": "a", "times": 3}.
type Text string

// UnmarshalJSON reads any of the forms.
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

// Seen is the JSON by which the filter reports bytes: a string, or for what is long or no UTF-8 its length and the
// sum of its bytes.
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
