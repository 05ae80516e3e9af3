package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/eddy-gateway/eddy/bench/calls/row"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// What protobuf itself comes with has messages of every kind that is needed: nothing for the empty call, a text, a list of texts, bytes,
// and a struct of ten fields.
const (
	methodEmpty = iota
	methodText
	methodStruct
	methodBatch
	methodBytes
)

func newRequest(method byte) proto.Message {
	switch method {
	case methodText:
		return &wrapperspb.StringValue{}
	case methodStruct:
		return &descriptorpb.FieldDescriptorProto{}
	case methodBatch:
		return &fieldmaskpb.FieldMask{}
	case methodBytes:
		return &wrapperspb.BytesValue{}
	}
	return &emptypb.Empty{}
}

// serveSocket answers each request with the length of what it had.
func serveSocket(path string) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() { _ = answerAll(conn) }()
	}
}

func answerAll(conn net.Conn) error {
	s := &socket{conn: conn}
	for {
		method, bytes, err := s.receive()
		if err != nil {
			return err
		}
		request := newRequest(method)
		if err := proto.Unmarshal(bytes, request); err != nil {
			return err
		}
		if err := s.send(method, wrapperspb.UInt64(uint64(len(bytes)))); err != nil {
			return err
		}
	}
}

// socket is a connection with messages: length, method, protobuf.
type socket struct {
	mutex sync.Mutex // of who waits for an answer
	conn  net.Conn
	out   []byte
	in    []byte
}

func (s *socket) send(method byte, message proto.Message) error {
	s.out = append(s.out[:0], 0, 0, 0, 0, method)
	var err error
	if s.out, err = (proto.MarshalOptions{}).MarshalAppend(s.out, message); err != nil {
		return err
	}
	binary.NativeEndian.PutUint32(s.out, uint32(len(s.out)-4))
	_, err = s.conn.Write(s.out)
	return err
}

func (s *socket) receive() (byte, []byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(s.conn, length[:]); err != nil {
		return 0, nil, err
	}
	s.in = append(s.in[:0], make([]byte, binary.NativeEndian.Uint32(length[:]))...)
	if _, err := io.ReadFull(s.conn, s.in); err != nil {
		return 0, nil, err
	}
	return s.in[0], s.in[1:], nil
}

// call asks and waits.
func (s *socket) call(method byte, request proto.Message) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.send(method, request); err != nil {
		panic(err)
	}
	_, bytes, err := s.receive()
	if err != nil {
		panic(err)
	}
	if err := proto.Unmarshal(bytes, &wrapperspb.UInt64Value{}); err != nil {
		panic(err)
	}
}

func socketRows(o *processes) ([]row.Row, error) {
	first, err := net.Dial("unix", o.path("socket"))
	if err != nil {
		return nil, err
	}
	s := &socket{conn: first}
	// The second thread has a connection of its own.
	both := make(chan *socket, 2)
	for range 2 {
		conn, err := net.Dial("unix", o.path("socket"))
		if err != nil {
			return nil, err
		}
		both <- &socket{conn: conn}
	}
	requests := map[string]func(){
		"empty":  func() { s.call(methodEmpty, &emptypb.Empty{}) },
		"text":   func() { s.call(methodText, wrapperspb.String(text32)) },
		"struct": func() { s.call(methodStruct, orderMessage(&sample)) },
		"batch":  func() { s.call(methodBatch, &fieldmaskpb.FieldMask{Paths: texts16}) },
		"bytes":  func() { s.call(methodBytes, wrapperspb.Bytes(bytes64)) },
	}
	rows := make([]row.Row, 0, len(requests)+1)
	for name, call := range requests {
		rows = append(rows, row.Row{ID: name + "-socket", Loop: repeated(call)})
	}
	two := onTwo(repeated(func() {
		own := <-both
		own.call(methodEmpty, &emptypb.Empty{})
		both <- own
	}))
	return append(rows, row.Row{ID: "empty-socket-two", Loop: two}), nil
}

func repeated(call func()) func(n int) {
	return func(n int) {
		for range n {
			call()
		}
	}
}

// orderMessage is an order as a message that has as many fields of the same types.
func orderMessage(o *order) proto.Message {
	return &descriptorpb.FieldDescriptorProto{
		Number:         proto.Int32(int32(o.id)),
		OneofIndex:     proto.Int32(int32(o.number)),
		Label:          descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(),
		Type:           descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum(),
		Proto3Optional: proto.Bool(o.isNew),
		Name:           proto.String(o.name),
		TypeName:       proto.String(o.kind),
		Extendee:       proto.String(o.place),
		DefaultValue:   proto.String(o.note),
		JsonName:       proto.String(o.sign),
	}
}
