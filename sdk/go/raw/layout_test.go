package raw

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// mirrors pairs C structures with Go structures. Each Go field has the name of the C member without underscores.
var mirrors = []struct {
	c     string
	ours  any
	names map[string]string
}{
	{"eddy_text", Text{}, nil},
	{"eddy_span", Span{}, nil},
	{"eddy_field", Field{}, nil},
	{"eddy_head", Head{}, nil},
	{"eddy_edit", Edit{}, nil},
	{"eddy_step", Step{}, nil},
	{"eddy_pair", Pair{}, nil},
	{"eddy_about", About{}, nil},
	{"eddy_ended", Ended{}, nil},
	{"eddy_call", Call{}, nil},
	{"eddy_metric", MetricCells{}, nil},
	{"eddy_event", Event{}, nil},
	{"eddy_filter_info", FilterInfo{}, nil},
}

func TestStructuresMatchTheHeader(t *testing.T) {
	var program, want strings.Builder
	program.WriteString("#include <stdio.h>\n#include \"eddy_filter.h\"\nint main(void) {\n")
	for _, m := range mirrors {
		ours := reflect.TypeOf(m.ours)
		members := membersOf(t, m.c)
		if len(members) != ours.NumField() {
			t.Errorf("%s has %d members, ours %d", m.c, len(members), ours.NumField())
			continue
		}
		fmt.Fprintf(&program, "printf(\"%s %%zu\\n\", sizeof(%s));\n", m.c, m.c)
		fmt.Fprintf(&want, "%s %d\n", m.c, ours.Size())
		for i, member := range members {
			field := ours.Field(i)
			if !strings.EqualFold(strings.ReplaceAll(member, "_", ""), field.Name) {
				t.Errorf("member %d of %s is called %s, ours %s", i, m.c, member, field.Name)
			}
			fmt.Fprintf(&program, "printf(\"%s.%s %%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n",
				m.c, member, m.c, member, m.c, member)
			fmt.Fprintf(&want, "%s.%s %d %d\n", m.c, member, field.Offset, field.Type.Size())
		}
	}
	for _, c := range constants() {
		fmt.Fprintf(&program, "printf(\"%s %%lld\\n\", (long long)%s);\n", c.name, c.name)
		fmt.Fprintf(&want, "%s %d\n", c.name, c.value)
	}
	program.WriteString("return 0;\n}\n")
	if got := runC(t, program.String()); got != want.String() {
		for i, line := range strings.Split(got, "\n") {
			if ours := strings.Split(want.String(), "\n"); i >= len(ours) || ours[i] != line {
				t.Errorf("the header says %q, this package otherwise", line)
			}
		}
	}
}

type constant struct {
	name  string
	value int64
}

func constants() []constant {
	all := []constant{
		{"EDDY_ABI", ABI}, {"EDDY_FIELD_NOMINATED", FieldNominated},
		{"EDDY_CALL_END", CallEnd}, {"EDDY_CALL_SAMPLED", CallSampled}, {"EDDY_CALL_LOCAL", CallLocal},
		{"EDDY_CALL_BUFFERED", CallBuffered}, {"EDDY_CALL_TLS", CallTLS}, {"EDDY_STEP_BLOCKING", StepBlocking},
		{"EDDY_END_COMPLETE", int64(EndComplete)}, {"EDDY_END_CUT", int64(EndCut)},
		{"EDDY_OK", int64(OK)}, {"EDDY_GONE", int64(Gone)}, {"EDDY_STALE", int64(Stale)}, {"EDDY_TOO_LARGE", int64(TooLarge)},
		{"EDDY_FULL", int64(Full)}, {"EDDY_INVALID", int64(Invalid)}, {"EDDY_UNKNOWN", int64(Unknown)},
		{"EDDY_TRACE", int64(LevelTrace)}, {"EDDY_DEBUG", int64(LevelDebug)}, {"EDDY_INFO", int64(LevelInfo)},
		{"EDDY_WARN", int64(LevelWarn)}, {"EDDY_ERROR", int64(LevelError)}, {"EDDY_OFF", int64(LevelOff)},
		{"EDDY_COUNTER", int64(CounterKind)}, {"EDDY_GAUGE", int64(GaugeKind)}, {"EDDY_HISTOGRAM", int64(HistogramKind)},
		{"EDDY_EVENT_RESPONSE", int64(EventResponse)}, {"EDDY_EVENT_FAILED", int64(EventFailed)},
		{"EDDY_FILTER_READS_BODY", FilterReadsBody},
		{"EDDY_FILTER_EXPECTS_TUNNELS", FilterExpectsTunnels},
		{"EDDY_FIELD_OTHER", int64(FieldOther)}, {"EDDY_FIELD_X_FORWARDED", int64(FieldXForwarded)},
		{"EDDY_FIELD_ALIAS", int64(FieldAlias)}, {"EDDY_METHOD_OTHER", int64(MethodOther)},
	}
	for i, name := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"} {
		all = append(all, constant{"EDDY_METHOD_" + name, int64(MethodGet) + int64(i)})
	}
	for p := PhaseRequestHead; p <= PhaseEnd; p++ {
		all = append(all, constant{"EDDY_" + strings.ToUpper(p.String()), int64(p)})
	}
	for v := Continue; v <= Reset; v++ {
		all = append(all, constant{"EDDY_" + strings.ToUpper(v.String()), int64(v)})
	}
	for op := OpSet; op <= OpReplyGRPC; op++ {
		all = append(all, constant{"EDDY_EDIT_" + strings.ToUpper(op.String()), int64(op)})
	}
	for id := FieldID(1); id.Known(); id++ {
		all = append(all, constant{"EDDY_FIELD_" + strings.ToUpper(strings.ReplaceAll(id.Name(), "-", "_")), int64(id)})
	}
	return all
}

// membersOf returns the names of a structure's members in the header.
func membersOf(t *testing.T, name string) []string {
	t.Helper()
	header, err := os.ReadFile("eddy_filter.h")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(header), "typedef struct "+name+" {")
	if !ok {
		t.Fatalf("the header has no structure %s", name)
	}
	body, _, _ := strings.Cut(rest, "\n}")
	body = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(body, "")
	var members []string
	for _, statement := range strings.Split(body, ";") {
		if words := regexp.MustCompile(`\w+`).FindAllString(statement, -1); len(words) != 0 {
			members = append(members, words[len(words)-1])
		}
	}
	return members
}

func runC(t *testing.T, program string) string {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("SKIPPED: there is no gcc to ask for the layout of the header")
	}
	folder := t.TempDir()
	source, binary := filepath.Join(folder, "layout.c"), filepath.Join(folder, "layout")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-I.", "-o", binary, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestTheHeaderMatchesTheABI(t *testing.T) {
	contract, err := os.ReadFile("../../../abi/eddy_filter.h")
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: this module lies outside of eddy's tree")
	}
	ours, err := os.ReadFile("eddy_filter.h")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contract, ours) {
		t.Error("raw/eddy_filter.h is not abi/eddy_filter.h; copy it")
	}
}
