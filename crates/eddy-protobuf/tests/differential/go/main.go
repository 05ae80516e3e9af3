// Command reference answers cases of eddy-protobuf's tests with google.golang.org/protobuf: whether it can read them, and a
// hash of their JSON. The first argument names a FileDescriptorSet.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The messages of cases, by their index.
var messages = []protoreflect.FullName{
	"protobuf_test_messages.proto3.TestAllTypesProto3",
	"protobuf_test_messages.editions.proto3.TestAllTypesProto3",
}

func main() {
	set := &descriptorpb.FileDescriptorSet{}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = proto.Unmarshal(text, set)
	}
	if err != nil {
		log.Fatal(err)
	}
	// The library refuses files with message sets, which those of proto2 have.
	set.File = slices.DeleteFunc(set.File, func(file *descriptorpb.FileDescriptorProto) bool {
		return strings.Contains(file.GetName(), "test_messages") && !strings.Contains(file.GetName(), "proto3")
	})
	files, err := protodesc.NewFiles(set)
	if err != nil {
		log.Fatal(err)
	}
	types := dynamicpb.NewTypes(files)
	input, output := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var head [6]byte
		if _, err := io.ReadFull(input, head[:]); err != nil {
			return
		}
		text := make([]byte, binary.LittleEndian.Uint32(head[2:]))
		if _, err := io.ReadFull(input, text); err != nil {
			log.Fatal(err)
		}
		kind, err := types.FindMessageByName(messages[head[1]])
		if err != nil {
			log.Fatal(err)
		}
		verdict, hash := answer(types, kind, head[0] == 1, text)
		output.WriteByte(verdict)
		output.Write(binary.LittleEndian.AppendUint64(nil, hash))
		if input.Buffered() == 0 {
			output.Flush()
		}
	}
}

// answer tells whether text can be read (0 if not), whether that has JSON (1 if not), and the hash of it; 3 if the library
// panics, as it does of some malformed entries of maps.
func answer(types *dynamicpb.Types, kind protoreflect.MessageType, isJSON bool, text []byte) (verdict byte, hash uint64) {
	defer func() {
		if recover() != nil {
			verdict, hash = 3, 0
		}
	}()
	message := kind.New().Interface()
	var err error
	if isJSON {
		err = protojson.UnmarshalOptions{Resolver: types}.Unmarshal(text, message)
	} else {
		err = proto.UnmarshalOptions{Resolver: types}.Unmarshal(text, message)
	}
	if err != nil {
		return 0, 0
	}
	written, err := protojson.MarshalOptions{Resolver: types}.Marshal(message)
	if err != nil {
		return 1, 0
	}
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		log.Fatalf("%v: %s", err, written)
	}
	return 2, hashOf(value)
}

// hashOf is the same for members in any order and numbers in any form.
func hashOf(value any) uint64 {
	switch value := value.(type) {
	case bool:
		if value {
			return mix(3)
		}
		return mix(2)
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			log.Fatal(err)
		}
		if number == 0 {
			// Zero has no sign here.
			number = 0
		}
		return mix(4 ^ math.Float64bits(number+0.0))
	case string:
		return hashOfText(value)
	case []any:
		state := mix(5)
		for _, element := range value {
			state = mix(state ^ hashOf(element))
		}
		return state
	case map[string]any:
		state := mix(6)
		for key, member := range value {
			state += mix(hashOfText(key) ^ mix(hashOf(member)))
		}
		return state
	}
	return mix(1)
}

func hashOfText(text string) uint64 {
	state := mix(7)
	for i := 0; i < len(text); i++ {
		state = mix(state ^ uint64(text[i]))
	}
	return state
}

// mix is a step of SplitMix64.
func mix(value uint64) uint64 {
	value += 0x9e3779b97f4a7c15
	value = (value ^ value>>30) * 0xbf58476d1ce4e5b9
	value = (value ^ value>>27) * 0x94d049bb133111eb
	return value ^ value>>31
}
