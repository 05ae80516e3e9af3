package main

import (
	"encoding/binary"
	"strings"
)

// order has ten fields, five of them texts.
type order struct {
	id, number, total, time       int64
	isNew                         bool
	name, kind, place, note, sign string
}

// What is passed in every way.
var (
	text32  = "a text of exactly 32 bytes, this"
	sample  = order{7, 12, 129_900, 1_701_234_560, true, "Ada Lovelace", "engine", "London, St James's Square", "fragile", "a1b2c3d4e5"}
	texts16 = texts()
	bytes64 = []byte(strings.Repeat("0123456789abcdef", 4096))
)

// texts are 16 texts of 24 bytes, each in memory of its own.
func texts() []string {
	all := make([]string, 16)
	for index := range all {
		all[index] = strings.Clone("a text of 24 bytes, no." + string(rune('a'+index)))
	}
	return all
}

// appendText appends a text with its length before it.
func appendText(flat []byte, text string) []byte {
	flat = binary.NativeEndian.AppendUint32(flat, uint32(len(text)))
	return append(flat, text...)
}

// appendTexts lays texts out one after the other.
func appendTexts(flat []byte, texts []string) []byte {
	for _, text := range texts {
		flat = appendText(flat, text)
	}
	return flat
}

// appendOrder lays a struct out flat.
func appendOrder(flat []byte, o *order) []byte {
	for _, number := range []int64{o.id, o.number, o.total, o.time} {
		flat = binary.NativeEndian.AppendUint64(flat, uint64(number))
	}
	isNew := byte(0)
	if o.isNew {
		isNew = 1
	}
	flat = append(flat, isNew)
	return appendTexts(flat, []string{o.name, o.kind, o.place, o.note, o.sign})
}
