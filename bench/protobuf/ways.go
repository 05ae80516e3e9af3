package main

import (
	"buf.build/go/hyperpb"
	"google.golang.org/protobuf/proto"

	gogo "github.com/eddy-gateway/eddy/bench/protobuf/gen/gogo"
	"github.com/eddy-gateway/eddy/bench/protobuf/gen/opaque"
	"github.com/eddy-gateway/eddy/bench/protobuf/gen/open"
	"github.com/eddy-gateway/eddy/bench/protobuf/gen/vt"
)

// way is one way of doing one thing.
type way struct {
	work string
	by   string
	// begin makes ready for one goroutine; what it answers with does the work once.
	begin func() func() error
}

// ways are all ways of working with a sample.
func ways(s sample) []way {
	all := google("google v2, open", s, func() proto.Message {
		if s.isPublished {
			return &open.Published{}
		}
		return &open.Catalog{}
	})
	all = append(all, google("google v2, opaque", s, func() proto.Message {
		if s.isPublished {
			return &opaque.Published{}
		}
		return &opaque.Catalog{}
	})...)
	all = append(all, vtprotobuf(s)...)
	all = append(all, hyper(s)...)
	return append(all, historical(s)...)
}

// google is the reference, by its API for messages of any type.
func google(by string, s sample, fresh func() proto.Message) []way {
	return []way{
		{"marshal", by, func() func() error {
			message := fresh()
			err := proto.Unmarshal(s.bytes, message)
			return func() error {
				_, failed := proto.Marshal(message)
				return first(err, failed)
			}
		}},
		{"marshal", by + ", buffer used again", func() func() error {
			message := fresh()
			err := proto.Unmarshal(s.bytes, message)
			var buffer []byte
			return func() error {
				var failed error
				buffer, failed = proto.MarshalOptions{}.MarshalAppend(buffer[:0], message)
				return first(err, failed)
			}
		}},
		{"unmarshal", by, func() func() error {
			return func() error { return proto.Unmarshal(s.bytes, fresh()) }
		}},
		{"unmarshal", by + ", message used again", func() func() error {
			message := fresh()
			return func() error { return proto.Unmarshal(s.bytes, message) }
		}},
	}
}

// vtMessage is what vtprotobuf generates.
type vtMessage interface {
	SizeVT() int
	MarshalVT() ([]byte, error)
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
	UnmarshalVTUnsafe([]byte) error
	ReturnToVTPool()
}

func vtprotobuf(s sample) []way {
	fresh := func() vtMessage {
		if s.isPublished {
			return &vt.Published{}
		}
		return &vt.Catalog{}
	}
	pooled := func() vtMessage {
		if s.isPublished {
			return vt.PublishedFromVTPool()
		}
		return vt.CatalogFromVTPool()
	}
	return []way{
		{"marshal", "vtprotobuf", func() func() error {
			message := fresh()
			err := message.UnmarshalVT(s.bytes)
			return func() error {
				_, failed := message.MarshalVT()
				return first(err, failed)
			}
		}},
		{"marshal", "vtprotobuf, buffer used again", func() func() error {
			message := fresh()
			err := message.UnmarshalVT(s.bytes)
			buffer := make([]byte, len(s.bytes))
			return func() error {
				_, failed := message.MarshalToSizedBufferVT(buffer[:message.SizeVT()])
				return first(err, failed)
			}
		}},
		{"unmarshal", "vtprotobuf", func() func() error {
			return func() error { return fresh().UnmarshalVT(s.bytes) }
		}},
		{"unmarshal", "vtprotobuf, pool", func() func() error {
			return func() error {
				message := pooled()
				defer message.ReturnToVTPool()
				return message.UnmarshalVT(s.bytes)
			}
		}},
		{"unmarshal", "vtprotobuf, pool, strings in the input", func() func() error {
			return func() error {
				message := pooled()
				defer message.ReturnToVTPool()
				return message.UnmarshalVTUnsafe(s.bytes)
			}
		}},
	}
}

// hyper reads messages whose type is known at run time only; it does not write.
func hyper(s sample) []way {
	descriptor := (&open.Catalog{}).ProtoReflect().Descriptor()
	if s.isPublished {
		descriptor = (&open.Published{}).ProtoReflect().Descriptor()
	}
	plain := hyperpb.CompileMessageDescriptor(descriptor)
	profile := plain.NewProfile()
	err := hyperpb.NewMessage(plain).Unmarshal(s.bytes, hyperpb.WithRecordProfile(profile, 1))
	tuned := plain.Recompile(profile)
	return []way{
		{"unmarshal", "hyperpb", func() func() error {
			return func() error { return hyperpb.NewMessage(plain).Unmarshal(s.bytes) }
		}},
		{"unmarshal", "hyperpb, memory used again", func() func() error {
			shared := new(hyperpb.Shared)
			return func() error {
				defer shared.Free()
				return shared.NewMessage(plain).Unmarshal(s.bytes)
			}
		}},
		{"unmarshal", "hyperpb, memory used again, tuned, strings in the input", func() func() error {
			shared := new(hyperpb.Shared)
			return func() error {
				defer shared.Free()
				return first(err, shared.NewMessage(tuned).Unmarshal(s.bytes, hyperpb.WithAllowAlias(true)))
			}
		}},
	}
}

// gogoMessage is what gogo/protobuf generates.
type gogoMessage interface {
	Size() int
	Reset()
	Marshal() ([]byte, error)
	MarshalTo([]byte) (int, error)
	Unmarshal([]byte) error
}

// historical is gogo/protobuf, which has had no release since 2021.
func historical(s sample) []way {
	fresh := func() gogoMessage {
		if s.isPublished {
			return &gogo.Published{}
		}
		return &gogo.Catalog{}
	}
	return []way{
		{"marshal", "gogo, faster (historical)", func() func() error {
			message := fresh()
			err := message.Unmarshal(s.bytes)
			return func() error {
				_, failed := message.Marshal()
				return first(err, failed)
			}
		}},
		{"marshal", "gogo, faster (historical), buffer used again", func() func() error {
			message := fresh()
			err := message.Unmarshal(s.bytes)
			buffer := make([]byte, len(s.bytes))
			return func() error {
				_, failed := message.MarshalTo(buffer)
				return first(err, failed)
			}
		}},
		{"unmarshal", "gogo, faster (historical)", func() func() error {
			return func() error { return fresh().Unmarshal(s.bytes) }
		}},
		{"unmarshal", "gogo, faster (historical), message used again", func() func() error {
			message := fresh()
			return func() error {
				message.Reset()
				return message.Unmarshal(s.bytes)
			}
		}},
	}
}

// first is the first failure, if any.
func first(one, other error) error {
	if one != nil {
		return one
	}
	return other
}
