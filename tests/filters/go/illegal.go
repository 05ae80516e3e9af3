package main

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go"
)

// illegal makes the change that a request asks for, however wrong, with the calls that the kit has for it.
//
// x-edit: PHASE OP NUMBER TIMES NAME VALUE: the numbers of the contract; name and value in hexadecimal after an x, or as
// many bytes as a number says.
type illegal struct{}

func (illegal) RequestHead(x *eddy.Exchange) eddy.Verdict { return change(x, "0", x.Request().Fields) }

func (illegal) ResponseHead(x *eddy.Exchange) eddy.Verdict {
	return change(x, "3", x.Response().Fields)
}

func change(x *eddy.Exchange, here string, fields eddy.Fields) eddy.Verdict {
	text, _ := x.Request().Lookup("x-edit")
	words := strings.Split(strings.Clone(text), " ")
	if len(words) != 6 || words[0] != here {
		return eddy.Continue
	}
	number, _ := strconv.ParseUint(words[2], 10, 32)
	times, _ := strconv.Atoi(words[3])
	name, value := decode(words[4]), decode(words[5])
	for range times {
		switch words[1] {
		case "1":
			fields.SetByName(name, value)
		case "2":
			fields.AddByName(name, value)
		case "3":
			fields.RemoveByName(name)
		case "4":
			x.Request().SetMethod(value)
		case "5":
			x.Request().SetTarget(value)
		case "6":
			x.Request().SetAuthority(value)
		case "7":
			x.Response().SetStatus(int(number))
		case "8":
			x.Body().SetString(value)
		case "9":
			x.Body().Append([]byte(value))
		case "10":
			x.Body().Prepend([]byte(value))
		case "11":
			x.Body().Drain(int(number))
		case "12":
			return x.Reply(int(number), value)
		default:
			panic("the kit has no call for " + words[1])
		}
	}
	return eddy.Continue
}

func decode(word string) string {
	if digits, ok := strings.CutPrefix(word, "x"); ok {
		text, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return string(bytes.Repeat([]byte("v"), n))
}
