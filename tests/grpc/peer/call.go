package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// messageBytesMax is the largest message of the tests, with room to spare.
const messageBytesMax = 32 << 20

// client is a connection to the service.
type client struct {
	connection *grpc.ClientConn
	test       testgrpc.TestServiceClient
}

// cases are what can be asked for by name. Those of gRPC's interoperability tests end the program where they fail.
var cases = map[string]func(context.Context, client) error{
	"empty_unary":                 interoperability(interop.DoEmptyUnaryCall),
	"large_unary":                 interoperability(interop.DoLargeUnaryCall),
	"client_streaming":            interoperability(interop.DoClientStreaming),
	"server_streaming":            interoperability(interop.DoServerStreaming),
	"ping_pong":                   interoperability(interop.DoPingPong),
	"empty_stream":                interoperability(interop.DoEmptyStream),
	"timeout_on_sleeping_server":  interoperability(interop.DoTimeoutOnSleepingServer),
	"cancel_after_begin":          interoperability(interop.DoCancelAfterBegin),
	"cancel_after_first_response": interoperability(interop.DoCancelAfterFirstResponse),
	"custom_metadata":             interoperability(interop.DoCustomMetadata),
	"status_code_and_message":     interoperability(interop.DoStatusCodeAndMessage),
	"special_status_message":      interoperability(interop.DoSpecialStatusMessage),
	"unimplemented_method": func(ctx context.Context, c client) error {
		interop.DoUnimplementedMethod(ctx, c.connection)
		return nil
	},
	"unimplemented_service": func(ctx context.Context, c client) error {
		interop.DoUnimplementedService(ctx, testgrpc.NewUnimplementedServiceClient(c.connection))
		return nil
	},
	"big_messages":   bigMessages,
	"many_at_once":   manyAtOnce,
	"retried":        retried,
	"not_retried":    notRetried,
	"deadline_told":  deadlineTold,
	"deadline_ended": deadlineEnded,
	"no_rule":        noRule,
	"half_close":     halfClose,
}

// call runs cases in their order.
func call(address string, names []string) error {
	connection, err := grpc.NewClient(
		"passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// What comes is what eddy and the service say, not what the library tries again by itself.
		grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax), grpc.MaxCallSendMsgSize(messageBytesMax)),
	)
	if err != nil {
		return err
	}
	c := client{connection: connection, test: testgrpc.NewTestServiceClient(connection)}
	for _, name := range names {
		run, known := cases[name]
		if !known {
			return fmt.Errorf("there is no case %q", name)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := run(ctx, c)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println("well", name)
	}
	return connection.Close()
}

func interoperability(run func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption)) func(context.Context, client) error {
	return func(ctx context.Context, c client) error {
		run(ctx, c.test)
		return nil
	}
}

// bigMessages sends and takes messages of many frames of HTTP/2.
func bigMessages(ctx context.Context, c client) error {
	for _, bytes := range []int{0, 16_384, 65_536, 1_000_000, 20_000_000} {
		request := &testgrpc.SimpleRequest{
			ResponseSize: int32(bytes),
			Payload:      interop.ClientNewPayload(testgrpc.PayloadType_COMPRESSABLE, bytes),
		}
		response, err := c.test.UnaryCall(ctx, request)
		if err != nil {
			return fmt.Errorf("%d bytes: %w", bytes, err)
		}
		if got := len(response.GetPayload().GetBody()); got != bytes {
			return fmt.Errorf("%d bytes, not %d", got, bytes)
		}
	}
	return nil
}

// manyAtOnce has many calls of two kinds share connections.
func manyAtOnce(ctx context.Context, c client) error {
	var group sync.WaitGroup
	failures := make(chan error, 400)
	for range 200 {
		group.Go(func() {
			_, err := c.test.UnaryCall(ctx, &testgrpc.SimpleRequest{ResponseSize: 1000})
			failures <- err
		})
		group.Go(func() { failures <- pingPong(ctx, c, 20) })
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// pingPong waits for the answer to each message before it sends the next.
func pingPong(ctx context.Context, c client, rounds int) error {
	stream, err := c.test.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	for round := range rounds {
		request := &testgrpc.StreamingOutputCallRequest{
			ResponseParameters: []*testgrpc.ResponseParameters{{Size: int32(round * 100)}},
		}
		if err := stream.Send(request); err != nil {
			return err
		}
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		if got := len(response.GetPayload().GetBody()); got != round*100 {
			return fmt.Errorf("round %d brought %d bytes", round, got)
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the stream ended with %v", err)
	}
	return nil
}

// halfClose takes a long answer after all of the request was sent.
func halfClose(ctx context.Context, c client) error {
	stream, err := c.test.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	const count = 50
	parameters := make([]*testgrpc.ResponseParameters, count)
	for at := range parameters {
		parameters[at] = &testgrpc.ResponseParameters{Size: 10_000, IntervalUs: 1000}
	}
	if err := stream.Send(&testgrpc.StreamingOutputCallRequest{ResponseParameters: parameters}); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for at := range count {
		if _, err := stream.Recv(); err != nil {
			return fmt.Errorf("message %d: %w", at, err)
		}
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the stream ended with %v", err)
	}
	return nil
}

// retried has eddy try a call again that the service ends with UNAVAILABLE.
func retried(ctx context.Context, c client) error {
	for at := range 20 {
		ctx := metadata.AppendToOutgoingContext(ctx, failOnce, fmt.Sprintf("retried-%d-%d", time.Now().UnixNano(), at))
		request := &testgrpc.SimpleRequest{
			ResponseSize: 10,
			Payload:      interop.ClientNewPayload(testgrpc.PayloadType_COMPRESSABLE, at*10_000),
		}
		if _, err := c.test.UnaryCall(ctx, request); err != nil {
			return fmt.Errorf("with %d bytes: %w", at*10_000, err)
		}
	}
	return nil
}

// notRetried gets the failure of the service as it is.
func notRetried(ctx context.Context, c client) error {
	ctx = metadata.AppendToOutgoingContext(ctx, failOnce, fmt.Sprintf("not-retried-%d", time.Now().UnixNano()))
	_, err := c.test.UnaryCall(ctx, &testgrpc.SimpleRequest{})
	return expect(err, codes.Unavailable, "the first one fails")
}

// deadlineTold has the service tell what it knows of the deadline.
func deadlineTold(ctx context.Context, c client) error {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, tellDeadline, "1"), 20*time.Second)
	defer cancel()
	var trailer metadata.MD
	if _, err := c.test.UnaryCall(ctx, &testgrpc.SimpleRequest{}, grpc.Trailer(&trailer)); err != nil {
		return err
	}
	told := trailer.Get(deadlineLeft)
	if len(told) != 1 {
		return fmt.Errorf("the trailers are %v", trailer)
	}
	left, err := strconv.Atoi(told[0])
	if err != nil || left < 10_000 || left > 20_000 {
		return fmt.Errorf("%q milliseconds are left of 20 seconds", told[0])
	}
	return nil
}

// deadlineEnded has eddy's own time for a rule end a call.
func deadlineEnded(ctx context.Context, c client) error {
	ctx = metadata.AppendToOutgoingContext(ctx, "x-short", "1")
	stream, err := c.test.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return expect(err, codes.DeadlineExceeded, "Gateway Timeout")
}

// noRule asks for what no rule has.
func noRule(ctx context.Context, c client) error {
	err := c.connection.Invoke(ctx, "/no.such.Service/Method", &testgrpc.SimpleRequest{}, &testgrpc.SimpleResponse{})
	return expect(err, codes.Unimplemented, "Not Found")
}

func expect(err error, code codes.Code, message string) error {
	got := status.Convert(err)
	if got.Code() != code || got.Message() != message {
		return fmt.Errorf("it ended with %v, not %v %q", err, code, message)
	}
	return nil
}
