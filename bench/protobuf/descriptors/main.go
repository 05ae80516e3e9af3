// Descriptors writes the service of `transcode`: that of examples/transcoding with the one method that is called, since
// Envoy refuses a service with methods whose response is a part of their message.
package main

import (
	"flag"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

const (
	file   = "library.proto"
	method = "CreateBook"
)

func main() {
	from := flag.String("from", "../../examples/transcoding/library.binpb", "descriptors of the example")
	to := flag.String("to", "../peers/library.binpb", "where the descriptors go")
	flag.Parse()
	if err := write(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "descriptors:", err)
		os.Exit(1)
	}
}

func write(from, to string) error {
	bytes, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(bytes, &set); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	found := false
	for _, one := range set.File {
		if one.GetName() != file {
			continue
		}
		for _, service := range one.Service {
			for _, candidate := range service.Method {
				if candidate.GetName() == method {
					service.Method, found = []*descriptorpb.MethodDescriptorProto{candidate}, true
					break
				}
			}
		}
	}
	if !found {
		return fmt.Errorf("%s: no method %s in %s", from, method, file)
	}
	bytes, err = proto.MarshalOptions{Deterministic: true}.Marshal(&set)
	if err != nil {
		return err
	}
	return os.WriteFile(to, bytes, 0o644)
}
