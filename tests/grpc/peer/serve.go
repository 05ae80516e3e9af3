package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
)

// Fields by which a client says what the service is to do beside answering.
const (
	// failOnce has the first call with this value fail with UNAVAILABLE.
	failOnce = "x-fail-once"
	// tellDeadline has the trailers tell how many milliseconds the call may still take.
	tellDeadline = "x-tell-deadline"
	// deadlineLeft is the trailer that tells it.
	deadlineLeft = "x-deadline-left"
)

// serve serves until standard input ends. Its first line says the address, whose port the kernel may have chosen.
func serve(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(messageBytesMax), grpc.MaxSendMsgSize(messageBytesMax))
	testgrpc.RegisterTestServiceServer(server, &service{TestServiceServer: interop.NewTestServer(), failed: map[string]bool{}})
	state := health.NewServer()
	healthpb.RegisterHealthServer(server, state)
	reflection.Register(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Println("listening", listener.Addr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name, word, _ := strings.Cut(lines.Text(), " ")
		value, known := healthpb.HealthCheckResponse_ServingStatus_value[word]
		if !known {
			return fmt.Errorf("%q is no status", word)
		}
		state.SetServingStatus(name, healthpb.HealthCheckResponse_ServingStatus(value))
		fmt.Println("told")
	}
	server.Stop()
	return <-served
}

// service is gRPC's own test service, which does some things more.
type service struct {
	testgrpc.TestServiceServer
	mutex  sync.Mutex
	failed map[string]bool
}

// UnaryCall implements testgrpc.TestServiceServer.
func (s *service) UnaryCall(ctx context.Context, request *testgrpc.SimpleRequest) (*testgrpc.SimpleResponse, error) {
	fields, _ := metadata.FromIncomingContext(ctx)
	for _, name := range fields.Get(failOnce) {
		if s.isFirst(name) {
			return nil, status.Error(codes.Unavailable, "the first one fails")
		}
	}
	if deadline, has := ctx.Deadline(); has && len(fields.Get(tellDeadline)) > 0 {
		left := strconv.FormatInt(time.Until(deadline).Milliseconds(), 10)
		if err := grpc.SetTrailer(ctx, metadata.Pairs(deadlineLeft, left)); err != nil {
			return nil, err
		}
	}
	return s.TestServiceServer.UnaryCall(ctx, request)
}

func (s *service) isFirst(name string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	first := !s.failed[name]
	s.failed[name] = true
	return first
}
