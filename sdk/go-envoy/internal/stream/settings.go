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

// settings is a configuration as eddy hands it over, taken apart.
type settings struct {
	message *anypb.Any // what the filter's parser gets
	secrets secrets    // of the key "@secrets"
	// everyPhase is the key "@phases" with the value "all": enter filters for everything, whatever their type says.
	everyPhase bool
}

const typedStruct = "type.googleapis.com/xds.type.v3.TypedStruct"

// readSettings makes of a JSON text what Envoy makes of a plugin's configuration: an empty message for null, the
// message of a "@type" where there is one, else a TypedStruct. Keys that begin with @ are not the filter's.
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

// typed is for a configuration that names its message, as it would in Envoy.
func typed(members map[string]json.RawMessage, text []byte) (*anypb.Any, error) {
	var url string
	if err := json.Unmarshal(members["@type"], &url); err != nil {
		return nil, fmt.Errorf("\"@type\" must be a text: %w", err)
	}
	if url == typedStruct {
		// The filter need not have linked the message, and this module doesn't: its form is simple enough.
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

// wrapped puts a JSON object into a TypedStruct: field 1 is a type's name, field 2 a Struct.
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
