// Program logs is an access log service, with the messages as go-control-plane has them.
//
//	logs ADDRESS   serves until its standard input ends
//
// The first line on standard output is "listening ADDRESS". Then each call is a line, {"entries": N}, and so is each entry before it,
// as JSON. Lines on standard input say how calls end from then on: the number of a status.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	accesslog "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: logs ADDRESS")
	}
	listener, err := net.Listen("tcp", arguments[0])
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	service := &service{}
	accesslog.RegisterAccessLogServiceServer(server, service)
	// As servers told of themselves before there was a v1.
	told := reflection.NewServer(reflection.ServerOptions{Services: server})
	reflectionpb.RegisterServerReflectionServer(server, told)
	fmt.Println("listening", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		code, err := strconv.ParseUint(lines.Text(), 10, 32)
		if err != nil {
			return fmt.Errorf("%q is no status: %w", lines.Text(), err)
		}
		// Told first: what comes between ends as before, and is no surprise to who waits for the line.
		service.say(map[string]any{"told": code})
		service.end.Store(uint32(code))
	}
	server.Stop()
	return <-served
}

// service takes records and tells of them.
type service struct {
	accesslog.UnimplementedAccessLogServiceServer
	mutex sync.Mutex
	// end is the status that calls end with.
	end atomic.Uint32
}

// StreamAccessLogs implements accesslog.AccessLogServiceServer.
func (s *service) StreamAccessLogs(stream accesslog.AccessLogService_StreamAccessLogsServer) error {
	fields, _ := metadata.FromIncomingContext(stream.Context())
	entries := 0
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if code := codes.Code(s.end.Load()); code != codes.OK {
			s.say(map[string]any{"refused": code.String()})
			return status.Error(code, "as told")
		}
		// Fields that the messages don't have would be a fault of who writes them.
		if len(message.ProtoReflect().GetUnknown()) > 0 {
			return status.Error(codes.InvalidArgument, "unknown fields")
		}
		identifier, err := raw(message.GetIdentifier())
		if err != nil {
			return err
		}
		for _, entry := range message.GetHttpLogs().GetLogEntry() {
			text, err := raw(entry)
			if err != nil {
				return err
			}
			entries++
			s.say(map[string]any{"entry": text, "identifier": identifier, "bytes": proto.Size(entry)})
		}
	}
	s.say(map[string]any{"entries": entries, "authority": fields.Get(":authority")})
	return stream.SendAndClose(&accesslog.StreamAccessLogsResponse{})
}

// raw is a message as JSON.
func raw(message proto.Message) (json.RawMessage, error) {
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
}

// say writes a line for who started the program.
func (s *service) say(line map[string]any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// Nobody is told when nobody listens any more.
	_ = json.NewEncoder(os.Stdout).Encode(line)
}

var _ accesslog.AccessLogServiceServer = (*service)(nil)
