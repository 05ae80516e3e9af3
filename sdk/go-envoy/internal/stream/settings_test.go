package stream

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// unwrap decodes a TypedStruct like Envoy's library.
func unwrap(t *testing.T, message *anypb.Any) (url string, text string) {
	t.Helper()
	if message.TypeUrl != typedStruct {
		t.Fatalf("type %q", message.TypeUrl)
	}
	value := &structpb.Struct{}
	for rest := message.Value; len(rest) != 0; {
		number, _, n := protowire.ConsumeTag(rest)
		bytes, m := protowire.ConsumeBytes(rest[n:])
		rest = rest[n+m:]
		switch number {
		case 1:
			url = string(bytes)
		case 2:
			if err := proto.Unmarshal(bytes, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, _ := json.Marshal(value.AsMap())
	return url, string(out)
}

func TestSettings(t *testing.T) {
	tests := []struct{ json, url, value string }{
		{`{"b":1,"a":{"x":["y",true,null]}}`, "", `{"a":{"x":["y",true,null]},"b":1}`},
		{`{}`, "", `{}`},
		{`{"@secrets":{"k":"v"},"@phases":"all","@tunnels":"unseen","@stats_tags":[],"a":1}`, "", `{"a":1}`},
		{`{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","value":{"a":"b"}}`, "", `{"a":"b"}`},
		{`{"@type":"type.googleapis.com/xds.type.v3.TypedStruct","type_url":"x","value":{}}`, "x", `{}`},
	}
	for _, test := range tests {
		s, err := readSettings(test.json)
		if err != nil {
			t.Errorf("%s: %v", test.json, err)
			continue
		}
		if url, value := unwrap(t, s.message); url != test.url || value != test.value {
			t.Errorf("%s: %q %s", test.json, url, value)
		}
	}
	s, err := readSettings(`{"@secrets":{"k":"v"},"@phases":"all","@tunnels":"unseen"}`)
	if err != nil || s.secrets["k"] != "v" || !s.everyPhase || !s.ignoresTunnels {
		t.Errorf("%+v %v", s, err)
	}
	for _, none := range []string{"null", "", " null "} {
		if s, err := readSettings(none); err != nil || s.message == nil || s.message.TypeUrl != "" {
			t.Errorf("%q: %+v %v", none, s, err)
		}
	}
	s, err = readSettings(`{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"x"}`)
	text := &wrapperspb.StringValue{}
	if err != nil || s.message.UnmarshalTo(text) != nil || text.Value != "x" {
		t.Errorf("%+v %v", s, err)
	}
	for _, bad := range []string{`[]`, `"x"`, `{"@type":"type.googleapis.com/none.None"}`, `{"@secrets":[]}`, `{"@phases":"x"}`, `{`} {
		if _, err := readSettings(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
