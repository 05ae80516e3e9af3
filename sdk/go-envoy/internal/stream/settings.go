package stream

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"google.golang.org/protobuf/encoding/protowire"
)

// settings is a decoded configuration from eddy.
type settings struct {
	message *anypb.Any // for the filter's parser
	secrets secrets    // from the key "@secrets"
	tags    []tag      // from the key "@stats_tags"
	// everyPhase is set by the key "@phases" with the value "all": call filters in all phases, regardless of their
	// type.
	everyPhase bool
	// ignoresTunnels is set by the key "@tunnels" with the value "unseen": the filter need not see the data of tunnels.
	ignoresTunnels bool
}

const typedStruct = "type.googleapis.com/xds.type.v3.TypedStruct"

// readSettings converts a JSON text to the plugin configuration that Envoy would pass: an empty message for null, the
// message of a "@type" if there is one, otherwise a TypedStruct. Keys that begin with @ are not passed to the filter.
func readSettings(text string) (settings, error) {
	var s settings
	if text == "" {
		text = "null"
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return s, fmt.Errorf("the configuration of a filter for Envoy must be an object: %w", err)
	}
	if raw, ok := members["@secrets"]; ok {
		if err := json.Unmarshal(raw, &s.secrets); err != nil {
			return s, fmt.Errorf("\"@secrets\" must be an object of texts: %w", err)
		}
		delete(members, "@secrets")
	}
	if raw, ok := members["@stats_tags"]; ok {
		tags, err := readTags(raw)
		if err != nil {
			return s, err
		}
		s.tags = tags
		delete(members, "@stats_tags")
	}
	if raw, ok := members["@tunnels"]; ok {
		if string(bytes.TrimSpace(raw)) != `"unseen"` {
			return s, fmt.Errorf("\"@tunnels\" can only be \"unseen\", not %s", raw)
		}
		s.ignoresTunnels = true
		delete(members, "@tunnels")
	}
	if raw, ok := members["@phases"]; ok {
		if string(bytes.TrimSpace(raw)) != `"all"` {
			return s, fmt.Errorf("\"@phases\" can only be \"all\", not %s", raw)
		}
		s.everyPhase = true
		delete(members, "@phases")
	}
	s.message = &anypb.Any{}
	if len(members) == 0 && bytes.TrimSpace([]byte(text))[0] == 'n' {
		return s, nil
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return s, err
	}
	if _, ok := members["@type"]; ok {
		if s.message, err = typed(members, rest); err != nil {
			return s, err
		}
		return s, nil
	}
	s.message, err = wrapped(rest, "")
	return s, err
}

// typed handles a configuration with a message type, as in Envoy.
func typed(members map[string]json.RawMessage, text []byte) (*anypb.Any, error) {
	var url string
	if err := json.Unmarshal(members["@type"], &url); err != nil {
		return nil, fmt.Errorf("\"@type\" must be a text: %w", err)
	}
	if url == typedStruct {
		// The filter may not have linked the message type, and this module does not: the format is simple enough.
		var inner string
		if raw, ok := members["type_url"]; ok {
			if err := json.Unmarshal(raw, &inner); err != nil {
				return nil, fmt.Errorf("\"type_url\" must be a text: %w", err)
			}
		}
		value := members["value"]
		if value == nil {
			value = json.RawMessage("{}")
		}
		return wrapped(value, inner)
	}
	message := &anypb.Any{}
	if err := protojson.Unmarshal(text, message); err != nil {
		return nil, fmt.Errorf("the configuration is no %q, or no filter of the library has linked that: %w", url, err)
	}
	return message, nil
}

// wrapped encodes a JSON object as a TypedStruct: field 1 is the name of a type, field 2 a Struct.
func wrapped(text []byte, url string) (*anypb.Any, error) {
	var value structpb.Struct
	if err := value.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	inner, err := proto.MarshalOptions{Deterministic: true}.Marshal(&value)
	if err != nil {
		return nil, err
	}
	var outer []byte
	if url != "" {
		outer = protowire.AppendTag(outer, 1, protowire.BytesType)
		outer = protowire.AppendString(outer, url)
	}
	outer = protowire.AppendTag(outer, 2, protowire.BytesType)
	outer = protowire.AppendBytes(outer, inner)
	return &anypb.Any{TypeUrl: typedStruct, Value: outer}, nil
}
