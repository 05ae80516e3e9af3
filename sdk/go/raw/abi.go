package raw

import "unsafe"

// ABI is the version of the contract that this package speaks.
const ABI = 1

// Text is bytes somewhere: memory of the host, or of Go in a [Copy].
type Text struct {
	Data *byte
	Len  uintptr
}

// String gives the text as a view: no byte is copied, and it is valid only as long as what the text points to.
func (t Text) String() string { return unsafe.String(t.Data, int(t.Len)) }

// Bytes gives the text as a view that must not be written to.
func (t Text) Bytes() []byte { return unsafe.Slice(t.Data, int(t.Len)) }

// TextOf points to a string. The string must live as long as the text does.
func TextOf(s string) Text { return Text{unsafe.StringData(s), uintptr(len(s))} }

// Span is a range of the bytes of a head, empty where End <= Start.
type Span struct {
	Start uint32
	End   uint32
}

// Field is one field of a section.
type Field struct {
	Name     Span
	Value    Span
	ID       FieldID
	Flags    uint8
	Reserved uint16
}

// FieldNominated marks a field that the message's Connection field ends at this hop.
const FieldNominated = 1

// Head is a head or trailer section: its bytes and its fields in the order sent.
type Head struct {
	Bytes     *byte
	Fields    *Field
	BytesLen  uint32
	FieldsLen uint32
}

// Phase is where an exchange stands.
type Phase uint8

// The phases. A filter is entered in those of its interest mask.
const (
	PhaseRequestHead      Phase = 0
	PhaseRequestBody      Phase = 1
	PhaseRequestTrailers  Phase = 2
	PhaseResponseHead     Phase = 3
	PhaseResponseBody     Phase = 4
	PhaseResponseTrailers Phase = 5
	PhaseLog              Phase = 6
	PhaseEnd              Phase = 7
	PhaseNone             Phase = 255
)

var phaseNames = [...]string{
	"request_head", "request_body", "request_trailers", "response_head", "response_body", "response_trailers", "log", "end",
}

// String gives the name of the phase in lower case with underscores.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "none"
}

// Bit is the bit of an interest mask that stands for the phase.
func (p Phase) Bit() uint32 { return 1 << p }

// Verdict is what a filter says of a phase.
type Verdict uint8

// The verdicts, as abi/eddy_filter.h explains them.
const (
	Continue Verdict = 0
	Reply    Verdict = 1
	Pause    Verdict = 2
	Buffer   Verdict = 3
	Fault    Verdict = 4
	Reset    Verdict = 5
)

var verdictNames = [...]string{"continue", "reply", "pause", "buffer", "fault", "reset"}

// String gives the name of the verdict in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

// Op is the kind of an edit.
type Op uint16

// The kinds of edits, as abi/eddy_filter.h explains them.
const (
	OpSet         Op = 1
	OpAdd         Op = 2
	OpRemove      Op = 3
	OpMethod      Op = 4
	OpTarget      Op = 5
	OpAuthority   Op = 6
	OpStatus      Op = 7
	OpBodySet     Op = 8
	OpBodyAppend  Op = 9
	OpBodyPrepend Op = 10
	OpBodyDrain   Op = 11
	OpReply       Op = 12
	OpReplyField  Op = 13
	OpMetadata    Op = 14
	OpClearRoute  Op = 15
	OpEndpoint    Op = 16
	OpFault       Op = 17
	OpReplyGRPC   Op = 18
)

var opNames = [...]string{
	"", "set", "add", "remove", "method", "target", "authority", "status", "body_set", "body_append", "body_prepend",
	"body_drain", "reply", "reply_field", "metadata", "clear_route", "endpoint", "fault", "reply_grpc",
}

// String gives the name of the kind in lower case with underscores.
func (o Op) String() string {
	if o != 0 && int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown"
}

// Edit is the fixed part of a record of the edit log; name and value follow it, padded to a multiple of 8.
type Edit struct {
	Op       Op
	Step     uint16
	NameLen  uint32
	ValueLen uint32
	Number   uint32
}

// Step is one filter to be entered.
type Step struct {
	Filter    uint64
	Config    uint64
	State     uint64
	ID        uint32
	Nanos     uint32
	Verdict   Verdict
	Flags     uint8
	Reserved  uint16
	Reserved2 uint32
}

// StepBlocking asks not to run the filter on the thread of the call.
const StepBlocking = 1

// Pair is one entry of the exchange's metadata; its value is JSON.
type Pair struct {
	Space Text
	Key   Text
	Value Text
}

// About holds facts about the exchange. A text that is not known (yet) is empty.
type About struct {
	Peer          Text
	Local         Text
	Listener      Text
	Rule          Text
	Cluster       Text
	Endpoint      Text
	RequestID     Text
	Details       Text
	Metadata      *Pair
	MetadataLen   uint64
	StartedUnixUs uint64
	DurationUs    uint64
	Connection    uint64
	RequestBytes  uint64
	ResponseBytes uint64
	Attempts      uint32
	Reserved      uint32
}

// Pairs gives the metadata as the host has it, without what this call's edits change.
func (a *About) Pairs() []Pair { return unsafe.Slice(a.Metadata, int(a.MetadataLen)) }

// Ended is an exchange that is over, for a filter that keeps state of it.
type Ended struct {
	Filter   uint64
	State    uint64
	Reason   EndReason
	Reserved uint32
}

// EndReason tells how an exchange ended.
type EndReason uint32

// The reasons.
const (
	EndComplete EndReason = 0
	EndCut      EndReason = 1
)

// Call is one crossing: laid out as `eddy_call` is, and normally in memory of the host.
//
// While a step runs, Stopped is its index; [Run] keeps it so.
type Call struct {
	ABI        uint32
	Size       uint32
	Worker     uint16
	Status     uint16
	Phase      Phase
	Flags      uint8
	Version    uint8
	Method     Method
	Exchange   uint64
	Turn       uint32
	StepsLen   uint32
	Steps      *Step
	Request    Head
	Response   Head
	Trailers   Head
	MethodName Text
	Target     Text
	Authority  Text
	Scheme     Text
	Body       Text
	About      *About
	Edits      *byte
	EditsCap   uint32
	EditsLen   uint32
	Ended      *Ended
	EndedLen   uint32
	Stopped    uint32
	Current    *uint32
}

// Flags of a call.
const (
	CallEnd      = 1
	CallSampled  = 2
	CallLocal    = 4
	CallBuffered = 8
	CallTLS      = 16
)

// Method is a request's method as a number; MethodOther where it is none of the known ones.
type Method uint8

// The known methods.
const (
	MethodOther   Method = 0
	MethodGet     Method = 1
	MethodHead    Method = 2
	MethodPost    Method = 3
	MethodPut     Method = 4
	MethodDelete  Method = 5
	MethodConnect Method = 6
	MethodOptions Method = 7
	MethodTrace   Method = 8
	MethodPatch   Method = 9
)

// Result is what host functions answer. All but OK are errors.
type Result int32

// The answers.
const (
	OK       Result = 0
	Gone     Result = -1
	Stale    Result = -2
	TooLarge Result = -3
	Full     Result = -4
	Invalid  Result = -5
	Unknown  Result = -6
)

// Error tells what the answer means.
func (r Result) Error() string {
	switch r {
	case OK:
		return "ok"
	case Gone:
		return "the exchange is over"
	case Stale:
		return "the exchange does not wait for this any more"
	case TooLarge:
		return "too large"
	case Full:
		return "a queue or table of the gateway is full"
	case Invalid:
		return "an argument makes no sense to the gateway; its log says which"
	case Unknown:
		return "no such cluster, filter or call"
	default:
		return "the gateway gave an answer that this kit does not know"
	}
}

// Err is nil for OK, and the answer itself otherwise.
func (r Result) Err() error {
	if r == OK {
		return nil
	}
	return r
}

// Level is the weight of a log record.
type Level uint32

// The levels.
const (
	LevelTrace Level = 0
	LevelDebug Level = 1
	LevelInfo  Level = 2
	LevelWarn  Level = 3
	LevelError Level = 4
	LevelOff   Level = 5
)

// MetricKind is the kind of a metric.
type MetricKind uint32

// The kinds.
const (
	CounterKind   MetricKind = 0
	GaugeKind     MetricKind = 1
	HistogramKind MetricKind = 2
)

// MetricCells tells where a metric lies: lane L begins at Cells[L * Stride].
type MetricCells struct {
	Cells    *uint64
	Stride   uint32
	Reserved uint32
}

// EventKind is the kind of an event.
type EventKind uint32

// The kinds of events.
const (
	EventResponse EventKind = 1
	EventFailed   EventKind = 2
)

// Event is something that happened for this library, told on a worker's thread.
type Event struct {
	Size   uint32
	Kind   EventKind
	Token  uint64
	Filter uint32
	Worker uint16
	Status uint16
	Head   Head
	Body   Text
}

// FilterInfo is what a library says of a configured filter.
type FilterInfo struct {
	Size     uint32
	Interest uint32
	Filter   uint64
	Flags    uint32
	Reserved uint32
}

// FilterReadsBody is a flag of a filter that looks at bodies but never changes them.
const FilterReadsBody = 1
