package stream

import (
	"encoding/json"
	"strings"

	"github.com/eddy-gateway/eddy/sdk/go/raw"
	"github.com/envoyproxy/envoy/contrib/golang/common/go/api"
)

// info is the exchange as api.StreamInfo.
type info exchange

// StreamInfo returns facts about the exchange.
func (x *exchange) StreamInfo() api.StreamInfo { return (*info)(x) }

// facts returns the source of facts, the last entered direction first; nil without a current phase. The caller holds
// the mutex.
func (x *exchange) facts() (c *raw.Call, w *way) {
	for _, at := range [...]uint8{x.last, 1 - x.last} {
		if w := &x.ways[at]; w.call != nil {
			return w.call, w
		}
	}
	return x.log, nil
}

// read returns a copy of a text of the facts.
func (i *info) read(which func(*raw.Call, *raw.About) raw.Text) string {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	c, _ := (*exchange)(i).facts()
	if c == nil || c.About == nil {
		return ""
	}
	return strings.Clone(which(c, c.About).String())
}

func (i *info) GetRouteName() string {
	return i.read(func(_ *raw.Call, a *raw.About) raw.Text { return a.Rule })
}

func (i *info) FilterChainName() string {
	return i.read(func(_ *raw.Call, a *raw.About) raw.Text { return a.Listener })
}

func (i *info) Protocol() (string, bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if c, _ := (*exchange)(i).facts(); c != nil {
		return protocolOf(c), true
	}
	return "", false
}

func protocolOf(c *raw.Call) string {
	switch c.Version {
	case 10:
		return "HTTP/1.0"
	case 20:
		return "HTTP/2"
	case 30:
		return "HTTP/3"
	default:
		return "HTTP/1.1"
	}
}

func (i *info) ResponseCode() (uint32, bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	c, _ := (*exchange)(i).facts()
	if c == nil || c.Status == 0 {
		return 0, false
	}
	return uint32(c.CurrentStatus()), true
}

func (i *info) ResponseCodeDetails() (string, bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	c, _ := (*exchange)(i).facts()
	return detailsOf(c)
}

func detailsOf(c *raw.Call) (string, bool) {
	switch {
	case c == nil || c.Status == 0:
		return "", false
	case c.About != nil && c.About.Details.Len != 0:
		return strings.Clone(c.About.Details.String()), true
	case c.Flags&raw.CallLocal != 0:
		return "direct_response", true
	default:
		return "via_upstream", true
	}
}

func (i *info) AttemptCount() uint32 {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if c, _ := (*exchange)(i).facts(); c != nil && c.About != nil {
		return c.About.Attempts
	}
	return 0
}

func (i *info) DownstreamLocalAddress() string {
	return i.read(func(_ *raw.Call, a *raw.About) raw.Text { return a.Local })
}

func (i *info) DownstreamRemoteAddress() string {
	return i.read(func(_ *raw.Call, a *raw.About) raw.Text { return a.Peer })
}

func (i *info) UpstreamLocalAddress() (string, bool) { return "", false }

func (i *info) UpstreamRemoteAddress() (string, bool) {
	return some(i.read(func(_ *raw.Call, a *raw.About) raw.Text { return a.Endpoint }))
}

func (i *info) UpstreamClusterName() (string, bool) {
	return some(i.read(func(_ *raw.Call, a *raw.About) raw.Text { return a.Cluster }))
}

func (i *info) VirtualClusterName() (string, bool) { return "", false }

func (i *info) WorkerID() uint32 { return i.worker }

func (i *info) DrainConnectionUponCompletion() {
	i.ways[requestWay].stale("DrainConnectionUponCompletion")
}

func (i *info) DownstreamSslConnection() api.SslConnection {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if c, _ := (*exchange)(i).facts(); c != nil && c.Flags&raw.CallTLS != 0 {
		return noCertificate{}
	}
	return nil
}

// noCertificate is a TLS connection without known details.
type noCertificate struct{}

func (noCertificate) PeerCertificatePresented() bool                   { return false }
func (noCertificate) PeerCertificateValidated() bool                   { return false }
func (noCertificate) Sha256PeerCertificateDigest() string              { return "" }
func (noCertificate) SerialNumberPeerCertificate() string              { return "" }
func (noCertificate) SubjectPeerCertificate() string                   { return "" }
func (noCertificate) IssuerPeerCertificate() string                    { return "" }
func (noCertificate) SubjectLocalCertificate() string                  { return "" }
func (noCertificate) UriSanPeerCertificate() []string                  { return nil }
func (noCertificate) UriSanLocalCertificate() []string                 { return nil }
func (noCertificate) DnsSansPeerCertificate() []string                 { return nil }
func (noCertificate) DnsSansLocalCertificate() []string                { return nil }
func (noCertificate) ValidFromPeerCertificate() (uint64, bool)         { return 0, false }
func (noCertificate) ExpirationPeerCertificate() (uint64, bool)        { return 0, false }
func (noCertificate) TlsVersion() string                               { return "" }
func (noCertificate) CiphersuiteString() string                        { return "" }
func (noCertificate) CiphersuiteId() (uint16, bool)                    { return 0, false }
func (noCertificate) SessionId() (string, bool)                        { return "", false }
func (noCertificate) UrlEncodedPemEncodedPeerCertificate() string      { return "" }
func (noCertificate) UrlEncodedPemEncodedPeerCertificateChain() string { return "" }

// metadata is the exchange as the metadata that its filters share.
type metadata exchange

func (i *info) DynamicMetadata() api.DynamicMetadata { return (*metadata)(i) }

func (m *metadata) Get(space string) map[string]interface{} {
	all := map[string]interface{}{}
	for key, text := range (*exchange)(m).notes(space) {
		var value any
		if json.Unmarshal([]byte(text), &value) == nil {
			all[key] = value
		}
	}
	return all
}

// notes returns a copy of a namespace, after the edits of the current phase.
func (x *exchange) notes(space string) map[string]string {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	c, _ := x.facts()
	if c == nil {
		return nil
	}
	notes := map[string]string{}
	if c.About != nil {
		for _, p := range c.About.Pairs() {
			if p.Space.String() == space {
				notes[strings.Clone(p.Key.String())] = strings.Clone(p.Value.String())
			}
		}
	}
	if c.EditsLen == 0 {
		return notes
	}
	for r := range c.Log().All() {
		if r.Op != raw.OpMetadata {
			continue
		}
		of, key, _ := strings.Cut(r.Name, "\x00")
		switch {
		case of != space:
		case r.Value == "":
			delete(notes, key)
		default:
			notes[strings.Clone(key)] = strings.Clone(r.Value)
		}
	}
	return notes
}

func (m *metadata) Set(space, key string, value interface{}) {
	text, err := json.Marshal(value)
	if err != nil {
		api.LogErrorf("dynamic metadata %q %q can't be set, JSON can't say it: %v", space, key, err)
		return
	}
	(*exchange)(m).note(space, key, string(text))
}

func (x *exchange) note(space, key, text string) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	_, w := x.facts()
	if w == nil || w.state == idle {
		x.ways[x.last].stale("a change of metadata")
		return
	}
	if err := w.edit(raw.OpMetadata, space+"\x00"+key, text, 0); err != nil {
		w.rest().failure = "the filter's metadata: " + err.Error()
	}
}

// stateSpace is the metadata namespace of the filter state, which all filters of the exchange share.
const stateSpace = "envoy.filter_state"

// filterState is the exchange as the filter state that its filters share.
type filterState exchange

func (i *info) FilterState() api.FilterState { return (*filterState)(i) }

// entry is a text of the filter state. A plain one may be set again.
type entry struct {
	ReadOnly string `json:"read_only"`
}

func (s *filterState) SetString(key, value string, kind api.StateType, _ api.LifeSpan, _ api.StreamSharing) {
	x := (*exchange)(s)
	if old, ok := x.notes(stateSpace)[key]; ok && strings.HasPrefix(old, "{") {
		api.LogErrorf("filter state %q is read-only", key)
		return
	}
	var text []byte
	var err error
	if kind == api.StateTypeReadOnly {
		text, err = json.Marshal(entry{value})
	} else {
		text, err = json.Marshal(value)
	}
	if err == nil {
		x.note(stateSpace, key, string(text))
	}
}

func (s *filterState) GetString(key string) string {
	value, _ := (*exchange)(s).stateText(key)
	return value
}

func (x *exchange) stateText(key string) (string, bool) {
	text, ok := x.notes(stateSpace)[key]
	if !ok {
		return "", false
	}
	var value string
	var fixed entry
	if json.Unmarshal([]byte(text), &value) == nil {
		return value, true
	}
	if json.Unmarshal([]byte(text), &fixed) == nil {
		return fixed.ReadOnly, true
	}
	return "", false
}

var (
	_ api.StreamInfo      = (*info)(nil)
	_ api.DynamicMetadata = (*metadata)(nil)
	_ api.FilterState     = (*filterState)(nil)
)
