package raw

import "unsafe"

// ABI is the version of the filter ABI that this package supports.
const ABI = 1

// Text is a byte string in memory of the host, or of Go in a [Copy].
type Text struct {
	Data *byte
	Len  uintptr
}

// String returns the text as a view: without a copy, and valid only as long as the memory of the text.
func (t Text) String() string { return unsafe.String(t.Data, int(t.Len)) }

// Bytes returns the text as a read-only view.
func (t Text) Bytes() []byte { return unsafe.Slice(t.Data, int(t.Len)) }

// TextOf returns a text that refers to a string. The string must live as long as the text.
func TextOf(s string) Text { return Text{unsafe.StringData(s), uintptr(len(s))} }

// Span is a byte range of a head, empty if End <= Start.
type Span struct {
	Start uint32
	End   uint32
}

// Field is a field of a section.
type Field struct {
	Name     Span
	Value    Span
	ID       FieldID
	Flags    uint8
	Reserved uint16
}

// FieldNominated marks a field that the Connection header of the message makes hop-by-hop.
const FieldNominated = 1

// Head is a head or trailer section: its bytes and its fields in the order received.
type Head struct {
	Bytes     *byte
	Fields    *Field
	BytesLen  uint32
	FieldsLen uint32
}

// Phase is the phase of an exchange.
type Phase uint8

// Phases. A filter is called in those of its interest mask.
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

// String returns the name of the phase in lower case with underscores.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "none"
}

// Bit returns the bit of the phase in an interest mask.
func (p Phase) Bit() uint32 { return 1 << p }

// Verdict is the verdict of a filter in a phase.
type Verdict uint8

// Verdicts, see abi/eddy_filter.h.
const (
	Continue Verdict = 0
	Reply    Verdict = 1
	Pause    Verdict = 2
	Buffer   Verdict = 3
	Fault    Verdict = 4
	Reset    Verdict = 5
)

var verdictNames = [...]string{"continue", "reply", "pause", "buffer", "fault", "reset"}

// String returns the name of the verdict in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

// Op is the kind of an edit.
type Op uint16

// Kinds of edits, see abi/eddy_filter.h.
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

// String returns the name of the kind in lower case with underscores.
func (o Op) String() string {
	if o != 0 && int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown"
}

// Edit is the header of an edit record; name and value follow it, padded to a multiple of 8.
type Edit struct {
	Op       Op
	Step     uint16
	NameLen  uint32
	ValueLen uint32
	Number   uint32
}

// Step is a filter to call.
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

// StepBlocking requests not to call the filter on the thread of the call.
const StepBlocking = 1

// Pair is a metadata entry of the exchange; its value is JSON.
type Pair struct {
	Space Text
	Key   Text
	Value Text
}

// About has facts about the exchange. A text that is unknown, or not known yet, is empty.
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

// Pairs returns the metadata of the host, without the edits of this call.
func (a *About) Pairs() []Pair { return unsafe.Slice(a.Metadata, int(a.MetadataLen)) }

// Ended is an ended exchange, for a filter that has state for it.
type Ended struct {
	Filter   uint64
	State    uint64
	Reason   EndReason
	Reserved uint32
}

// EndReason is how an exchange ended.
type EndReason uint32

// End reasons.
const (
	EndComplete EndReason = 0
	EndCut      EndReason = 1
)

// Call is a crossing: it has the layout of `eddy_call`, and is normally in memory of the host.
//
// While a step runs, Stopped is its index; [Run] maintains that.
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

// Method is the number of a request method; MethodOther for unknown ones.
type Method uint8

// Known methods.
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

// Result is the result of a host function. All but OK are errors.
type Result int32

// Results.
const (
	OK       Result = 0
	Gone     Result = -1
	Stale    Result = -2
	TooLarge Result = -3
	Full     Result = -4
	Invalid  Result = -5
	Unknown  Result = -6
)

// Error describes the result.
func (r Result) Error() string {
	switch r {
	case OK:
		return "ok"
	case Gone:
		return "the exchange has ended"
	case Stale:
		return "the exchange is no longer paused for this"
	case TooLarge:
		return "too large"
	case Full:
		return "a queue or table of the gateway is full"
	case Invalid:
		return "an argument is invalid; the gateway's log names it"
	case Unknown:
		return "the cluster, filter or call does not exist"
	default:
		return "the gateway returned a result that this SDK does not know"
	}
}

// Err returns nil for OK, otherwise the result itself.
func (r Result) Err() error {
	if r == OK {
		return nil
	}
	return r
}

// Level is a log level.
type Level uint32

// Log levels.
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

// Kinds of metrics.
const (
	CounterKind   MetricKind = 0
	GaugeKind     MetricKind = 1
	HistogramKind MetricKind = 2
)

// MetricCells is the location of a metric: lane L starts at Cells[L * Stride].
type MetricCells struct {
	Cells    *uint64
	Stride   uint32
	Reserved uint32
}

// EventKind is the kind of an event.
type EventKind uint32

// Kinds of events.
const (
	EventResponse EventKind = 1
	EventFailed   EventKind = 2
)

// Event is an event for this library, reported on the thread of a worker.
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

// FilterInfo has the properties of a configured filter.
type FilterInfo struct {
	Size     uint32
	Interest uint32
	Filter   uint64
	Flags    uint32
	Reserved uint32
}

// FilterReadsBody is the flag of a filter that reads bodies but never changes them.
const FilterReadsBody = 1

// FilterExpectsTunnels is the flag of a filter whose body hooks are meant for the data of tunnels, too.
const FilterExpectsTunnels = 2
