package raw

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

func TestAppendedRecordsAreReadBack(t *testing.T) {
	var log []byte
	var want []Record
	for i, name := range []string{"", "a", "abcdefg", "abcdefgh", strings.Repeat("n", 1000)} {
		for _, value := range []string{"", "v", "1234567", "12345678", strings.Repeat("v", 70_000)} {
			var err error
			if log, err = AppendEdit(log, OpSet, uint16(i), name, value, uint32(len(value))); err != nil {
				t.Fatal(err)
			}
			want = append(want, Record{OpSet, uint16(i), uint32(len(value)), name, value})
			if len(log)%8 != 0 {
				t.Fatalf("the log has %d bytes", len(log))
			}
		}
	}
	if got := slices.Collect(EditLog(log).All()); !slices.Equal(got, want) || EditLog(log).Check() != nil {
		t.Error("what was read is not what was written")
	}
	for _, cut := range []int{1, 8, 15, 17, len(log) - 8} {
		if EditLog(log[:cut]).Check() == nil {
			t.Errorf("a log cut at %d passes", cut)
		}
	}
}

func TestEditsHaveALimit(t *testing.T) {
	if _, err := AppendEdit(nil, OpSet, 0, "a", strings.Repeat("v", EditsMax), 0); err != TooLarge {
		t.Error(err)
	}
	log, err := AppendEdit(nil, OpSet, 0, "a", strings.Repeat("v", EditsMax/2), 0)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := AppendEdit(log, OpSet, 0, "a", strings.Repeat("v", EditsMax/2), 0); err != TooLarge || len(again) != len(log) {
		t.Error(err)
	}
}

func TestPaddingIsZero(t *testing.T) {
	dirty := bytes.Repeat([]byte{0xff}, 64)
	log, err := AppendEdit(dirty[:0], OpAdd, 1, "abc", "d", 2)
	if err != nil || !bytes.Equal(log[20:24], make([]byte, 4)) {
		t.Errorf("%x", log)
	}
}

// FuzzEditLog reads arbitrary bytes as a log: no read may be outside of it.
func FuzzEditLog(f *testing.F) {
	log, _ := AppendEdit(nil, OpSet, 0, "name", "value", 7)
	log, _ = AppendEdit(log, OpBodyDrain, 1, "", "", 7)
	f.Add(log)
	f.Add(log[:17])
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		bytes := 0
		for r := range EditLog(text).All() {
			bytes += int(editSize) + len(r.Name) + len(r.Value)
		}
		if bytes > len(text) {
			t.Errorf("%d bytes were read of %d", bytes, len(text))
		}
		if EditLog(text).Check() == nil && len(text) != 0 && bytes == 0 {
			t.Error("a log that is not empty passes without a record")
		}
		c := headCall([]Field{}, "", text)
		c.Lookup(RequestFields, "name")
		c.AppendBody(nil)
		for range c.Fields(RequestFields) {
			continue
		}
	})
}

// headCall returns a call in the request head.
func headCall(fields []Field, text string, log []byte) *Call {
	return &Call{
		ABI: ABI, Phase: PhaseRequestHead, About: &About{},
		Request: Head{
			Bytes: unsafe.StringData(text), BytesLen: uint32(len(text)), Fields: unsafe.SliceData(fields), FieldsLen: uint32(len(fields)),
		},
		Edits: unsafe.SliceData(log), EditsLen: uint32(len(log)), EditsCap: uint32(len(log)),
	}
}

// FuzzReads compares the fields read after edits with a list to which the edits were applied. A program is a byte
// sequence, two bytes per operation.
func FuzzReads(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3, 3, 4}, uint8(3))
	f.Add([]byte{3, 0, 4, 0, 5, 0, 6, 17, 2, 17}, uint8(0))
	names := []string{"cookie", "Cookie", "x-a", "X-A", "x-b", "server", ""}
	f.Fuzz(func(t *testing.T, program []byte, initial uint8) {
		type pair struct{ name, value string }
		var model []pair
		var text strings.Builder
		var fields []Field
		for i := range initial % 8 {
			p := pair{names[i%6], string('a' + rune(i))}
			model = append(model, p)
			at := uint32(text.Len())
			text.WriteString(p.name + p.value)
			end := at + uint32(len(p.name))
			fields = append(fields, Field{Name: Span{at, end}, Value: Span{end, end + 1}, ID: FieldByName(p.name)})
		}
		var log []byte
		for i := 0; i+1 < len(program) && i < 64; i += 2 {
			op, name, value := Op(program[i]%3)+OpSet, names[program[i]/3%7], string('A'+rune(program[i+1]%26))
			if op == OpRemove {
				value = ""
			}
			log, _ = AppendEdit(log, op, 0, name, value, 0)
			is := func(p pair) bool { return EqualFold(p.name, name) }
			if op != OpAdd {
				model = slices.DeleteFunc(model, is)
			}
			if op != OpRemove {
				model = append(model, pair{name, value})
			}
		}
		c := headCall(fields, text.String(), log)
		var seen []pair
		for name, value := range c.Fields(RequestFields) {
			seen = append(seen, pair{name, value})
		}
		if !slices.Equal(seen, model) {
			t.Errorf("seen %v, want %v", seen, model)
		}
		for _, name := range names {
			var want []string
			for _, p := range model {
				if EqualFold(p.name, name) {
					want = append(want, p.value)
				}
			}
			if got := slices.Collect(c.Values(RequestFields, name)); !slices.Equal(got, want) {
				t.Errorf("values of %q: %v, want %v", name, got, want)
			}
			first, ok := c.Lookup(RequestFields, name)
			if ok != (len(want) != 0) || ok && first != want[0] {
				t.Errorf("first of %q: %q, want %v", name, first, want)
			}
		}
	})
}

func TestEveryKnownNameIsFound(t *testing.T) {
	for id := FieldID(1); id.Known(); id++ {
		for _, name := range []string{id.Name(), strings.ToUpper(id.Name())} {
			if got := FieldByName(name); got != id {
				t.Errorf("%q is %d, not %d", name, got, id)
			}
		}
		if FieldByName(id.Name()+"x").Name() == id.Name() || FieldByName(id.Name()[1:]) == id {
			t.Errorf("a name near %q is taken for it", id.Name())
		}
	}
	if FieldByName("") != FieldOther || FieldAlias.Known() || FieldXForwarded.Known() || FieldOther.Known() {
		t.Error("what is no name is known")
	}
}
