//! Envoy's Lua API, method by method: the page `docs/reference/envoy-lua-api.md` lists the methods, and each one that
//! scripts can call has a case here.

use std::collections::BTreeSet;

use eddy_filter::{Phase, TlsInfo, Verdict};

use crate::support::{LuaTestPhase, ScriptHarness};

/// Certificate of a client, created with OpenSSL; its private key was discarded.
const CERTIFICATE: &[u8] = include_bytes!("client.der");
const PAGE: &str = include_str!("../../../../docs/reference/envoy-lua-api.md");

/// Row of the page.
#[derive(Debug)]
struct ApiRow<'a> {
    object: &'a str,
    method: &'a str,
    state: &'a str,
    difference: &'a str,
}

/// Returns the rows of all tables of the page.
fn rows() -> Vec<ApiRow<'static>> {
    let mut object = "";
    let mut rows = Vec::new();
    for line in PAGE.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            object = heading;
        }
        let Some(cells) = line.strip_prefix("| `") else { continue };
        let cells: Vec<&str> = cells.trim_end_matches('|').split('|').map(str::trim).collect();
        let [method, state, difference] = cells[..] else { panic!("a row has three cells: {line}") };
        rows.push(ApiRow { object, method: method.trim_end_matches('`'), state, difference });
    }
    rows
}

/// Case of a method: the body of a hook, in which `h` is the handle and `log` logs its argument, the log, and the edits.
struct ApiCase {
    object: &'static str,
    method: &'static str,
    hook: ApiHook,
    body: &'static str,
    log: &'static [&'static str],
    edits: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ApiHook {
    Request,
    Response,
    /// Request over TLS, with a client certificate.
    SecureRequest,
}

const fn request(
    object: &'static str,
    method: &'static str,
    body: &'static str,
    log: &'static [&'static str],
) -> ApiCase {
    ApiCase { object, method, hook: ApiHook::Request, body, log, edits: &[] }
}

const fn response(
    object: &'static str,
    method: &'static str,
    body: &'static str,
    log: &'static [&'static str],
) -> ApiCase {
    ApiCase { object, method, hook: ApiHook::Response, body, log, edits: &[] }
}

const fn secure(
    object: &'static str,
    method: &'static str,
    body: &'static str,
    log: &'static [&'static str],
) -> ApiCase {
    ApiCase { object, method, hook: ApiHook::SecureRequest, body, log, edits: &[] }
}

const fn edits(
    object: &'static str,
    method: &'static str,
    body: &'static str,
    edits: &'static [&'static str],
) -> ApiCase {
    ApiCase { object, method, hook: ApiHook::Request, body, log: &[], edits }
}

/// Runs a case: a message of `hello` in two pieces and a trailer, and a response to each call.
fn run(case: &ApiCase) -> (Vec<String>, Vec<String>) {
    let name = if case.hook == ApiHook::Response { "envoy_on_response" } else { "envoy_on_request" };
    let play = ScriptHarness::new(&format!(
        "function {name}(h) local function log(value) h:logInfo(tostring(value)) end {} end",
        case.body
    ));
    let [head, body, trailers] = match case.hook {
        ApiHook::Request | ApiHook::SecureRequest => {
            [Phase::RequestHead, Phase::RequestBody, Phase::RequestTrailers]
        }
        ApiHook::Response => [Phase::ResponseHead, Phase::ResponseBody, Phase::ResponseTrailers],
    };
    let mut exchange = play.exchange();
    if case.hook == ApiHook::SecureRequest {
        exchange.tls = Some(TlsInfo {
            version: b"TLSv1.3",
            suite: b"TLS13_AES_128_GCM_SHA256",
            server_name: b"a.test",
            certificate: CERTIFICATE,
        });
    }
    exchange.metadata.set(b"auth", b"user", b"\"alice\"").unwrap();
    let came = exchange.enter(head, LuaTestPhase::default());
    let mut edits = came.edits;
    let is_buffered = came.verdict == Verdict::Buffer;
    if came.verdict == Verdict::Pause {
        let (_, token) = play.last_sent();
        for (verdict, more) in play.answer(token, 200, "X-User: alice\r\n", "yes") {
            assert_eq!(verdict, Verdict::Continue, "{more:?}");
            edits.extend(more);
        }
    }
    let pieces: &[&str] = if is_buffered { &["hello"] } else { &["hel", "lo"] };
    for piece in pieces {
        let at = LuaTestPhase { body: piece, is_buffered, ..LuaTestPhase::default() };
        edits.extend(exchange.enter(body, at).edits);
    }
    let at = LuaTestPhase { trailers: "X-Sum: 5\r\n", is_end: true, ..LuaTestPhase::default() };
    edits.extend(exchange.enter(trailers, at).edits);
    (play.said(), edits)
}

#[test]
fn every_method_that_scripts_can_call_has_a_case() {
    let rows = rows();
    assert!(rows.len() > 100, "{} rows", rows.len());
    let mut listed = BTreeSet::new();
    for row in &rows {
        let ApiRow { object, method, state, difference } = row;
        assert!(["supported", "differs", "absent"].contains(state), "{row:?}");
        assert!(*state == "supported" || !difference.is_empty(), "say how or why: {row:?}");
        assert!(listed.insert((*object, *method)), "listed twice: {row:?}");
        let cases = CASES.iter().filter(|case| (case.object, case.method) == (*object, *method)).count();
        assert_eq!(cases, usize::from(*state != "absent"), "cases of {row:?}");
    }
    for case in CASES {
        assert!(
            listed.contains(&(case.object, case.method)),
            "{} {} is not listed",
            case.object,
            case.method
        );
    }
}

#[test]
fn every_case_behaves_as_listed() {
    for case in CASES {
        let (log, edits) = run(case);
        let what = format!("{} {}", case.object, case.method);
        assert_eq!((log, edits), (texts(case.log), texts(case.edits)), "{what}");
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

const CASES: &[ApiCase] = &[
    request("All objects", "logTrace", "h:headers():logTrace('t')", &["t"]),
    request("All objects", "logDebug", "h:streamInfo():logDebug('d')", &["d"]),
    request("All objects", "logInfo", "h:stats():counter('a'):logInfo('i')", &["i"]),
    request("All objects", "logWarn", "h:metadata():logWarn('w')", &["w"]),
    request("All objects", "logErr", "h:connection():logErr('e')", &["e"]),
    request("All objects", "logCritical", "h:route():logCritical('c')", &["c"]),
    request("Stream handle", "headers", "log(h:headers():get('host'))", &["a.test"]),
    response(
        "Stream handle",
        "downstreamRequestHeaders",
        "log(h:downstreamRequestHeaders():get('x-one'))",
        &["1"],
    ),
    request("Stream handle", "body", "log(h:body():length())", &["5"]),
    request(
        "Stream handle",
        "bodyChunks",
        "for chunk in h:bodyChunks() do log(chunk:length()) end",
        &["3", "2"],
    ),
    request(
        "Stream handle",
        "trailers",
        "for _ in h:bodyChunks() do end log(h:trailers():get('x-sum'))",
        &["5"],
    ),
    request(
        "Stream handle",
        "httpCall",
        "local headers, body = h:httpCall('auth', {[':method'] = 'GET', [':path'] = '/', [':authority'] = 'a'}, nil, 100)
         log(headers[':status'] .. headers['x-user'] .. body)",
        &["200aliceyes"],
    ),
    edits(
        "Stream handle",
        "respond",
        "h:respond({[':status'] = '403', ['x-why'] = {'a', 'b'}}, 'no') log('not reached')",
        &["reply 403 lua_response [no]", "reply x-why=a", "reply x-why=b"],
    ),
    request("Stream handle", "metadata", "log(h:metadata():get('own'))", &["1"]),
    request("Stream handle", "streamInfo", "log(h:streamInfo():protocol())", &["HTTP/1.1"]),
    request("Stream handle", "connection", "log(h:connection() ~= nil)", &["true"]),
    request(
        "Stream handle",
        "connectionStreamInfo",
        "log(h:connectionStreamInfo():dynamicMetadata():get('none'))",
        &["nil"],
    ),
    edits(
        "Stream handle",
        "setUpstreamOverrideHost",
        "h:setUpstreamOverrideHost('192.0.2.1:80', true)",
        &["endpoint 192.0.2.1:80 true"],
    ),
    edits("Stream handle", "clearRouteCache", "h:clearRouteCache()", &["clear route"]),
    request(
        "Stream handle",
        "filterContext",
        "log(h:filterContext().own + h:filterContext():get('own')) log(h:filterContext():get('none'))
         for key, value in pairs(h:filterContext()) do log(key .. value) end",
        &["2", "nil", "own1"],
    ),
    request("Stream handle", "virtualHost", "log(h:virtualHost() ~= nil)", &["true"]),
    request("Stream handle", "route", "log(h:route() ~= nil)", &["true"]),
    request("Stream handle", "stats", "log(h:stats() ~= nil)", &["true"]),
    request("Stream handle", "importPublicKey", "log(h:importPublicKey('no key', 6):get())", &["nil"]),
    request(
        "Stream handle",
        "verifySignature",
        "local function bytes(hex) return (hex:gsub('..', function(two) return string.char(tonumber(two, 16)) end)) end
         local der = bytes('3059301306072a8648ce3d020106082a8648ce3d030107034200046c74dfe914a7182f8084a4e51bf2cda9c6edbb38c5'
           .. '395576084aa8dced31bba232db1a143c14001364430c9077c1b073e86d7d2c993d9441a402c7ce33daa6db')
         log(select('#', h:verifySignature('SHA256', h:importPublicKey(der, #der):get(), 's', 1, 'data', 4)))
         log(select(2, h:verifySignature('SHA256', h:importPublicKey(der, #der):get(), 's', 1, 'data', 4)))",
        &["2", "Failed to verify digest."],
    ),
    request("Stream handle", "base64Escape", "log(h:base64Escape('input string'))", &["aW5wdXQgc3RyaW5n"]),
    request("Stream handle", "base64Decode", "log(h:base64Decode('aW5wdXQ=')) log(h:base64Decode('*'))", &["input", "nil"]),
    request(
        "Stream handle",
        "timestamp",
        "local now = h:timestamp() log(now > 1.6e12 and now % 1) log(h:timestamp(EnvoyTimestampResolution.MILLISECOND) >= now)",
        &["0", "true"],
    ),
    request(
        "Stream handle",
        "timestampString",
        "log(#h:timestampString()) log(#h:timestampString(EnvoyTimestampResolution.MICROSECOND))",
        &["13", "16"],
    ),
    edits("Headers and trailers", "add", "h:headers():add('x-new', 'v')", &["add x-new=v"]),
    request("Headers and trailers", "get", "log(h:headers():get('X-Two')) log(h:headers():get('none'))", &["2,22", "nil"]),
    request(
        "Headers and trailers",
        "getAtIndex",
        "local get = h:headers() log(get:getAtIndex('x-two', 1)) log(get:getAtIndex('x-two', 2)) log(get:getAtIndex('x-two', -1))",
        &["22", "nil", "nil"],
    ),
    request(
        "Headers and trailers",
        "getNumValues",
        "log(h:headers():getNumValues('x-two')) log(h:headers():getNumValues('none'))",
        &["2", "0"],
    ),
    request(
        "Headers and trailers",
        "pairs",
        "for name, value in pairs(h:headers()) do if name == 'x-one' then log(value) break end end",
        &["1"],
    ),
    edits("Headers and trailers", "remove", "h:headers():remove('x-one')", &["remove x-one"]),
    edits(
        "Headers and trailers",
        "replace",
        "h:headers():replace('x-one', 'v') h:headers():replace(':path', '/p') h:headers():replace(':scheme', 'https')",
        &["set x-one=v", "target /p"],
    ),
    response(
        "Headers and trailers",
        "setHttp1ReasonPhrase",
        "h:headers():setHttp1ReasonPhrase('Fine') log(h:headers():get(':status'))",
        &["200"],
    ),
    request("Buffer", "length", "log(h:body():length())", &["5"]),
    request("Buffer", "getBytes", "log(h:body():getBytes(1, 3))", &["ell"]),
    ApiCase {
        object: "Buffer",
        method: "setBytes",
        hook: ApiHook::Response,
        body: "local body = h:body() log(body:setBytes('new body')) log(body:getBytes(0, body:length()))",
        log: &["8", "new body"],
        edits: &["body new body"],
    },
    request("Metadata", "get", "log(h:metadata():get('own')) log(h:metadata():get('none'))", &["1", "nil"]),
    request("Metadata", "pairs", "for key, value in pairs(h:metadata()) do log(key .. value) end", &["own1"]),
    request("Virtual host", "metadata", "log(h:virtualHost():metadata():get('own'))", &["1"]),
    request("Route", "metadata", "log(h:route():metadata():get('own'))", &["1"]),
    request("Stream info", "protocol", "log(h:streamInfo():protocol())", &["HTTP/1.1"]),
    request("Stream info", "routeName", "log(h:streamInfo():routeName())", &["site/1"]),
    request("Stream info", "virtualClusterName", "log(h:streamInfo():virtualClusterName())", &[""]),
    request(
        "Stream info",
        "downstreamDirectLocalAddress",
        "log(h:streamInfo():downstreamDirectLocalAddress())",
        &["192.0.2.2:80"],
    ),
    request(
        "Stream info",
        "downstreamLocalAddress",
        "log(h:streamInfo():downstreamLocalAddress())",
        &["192.0.2.2:80"],
    ),
    request(
        "Stream info",
        "downstreamDirectRemoteAddress",
        "log(h:streamInfo():downstreamDirectRemoteAddress())",
        &["192.0.2.1:5000"],
    ),
    request(
        "Stream info",
        "downstreamRemoteAddress",
        "log(h:streamInfo():downstreamRemoteAddress())",
        &["192.0.2.1:5000"],
    ),
    request(
        "Stream info",
        "dynamicMetadata",
        "log(h:streamInfo():dynamicMetadata():get('auth').user)",
        &["alice"],
    ),
    request(
        "Stream info",
        "dynamicTypedMetadata",
        "log(h:streamInfo():dynamicTypedMetadata('auth').user) log(h:streamInfo():dynamicTypedMetadata('none'))",
        &["alice", "nil"],
    ),
    request("Stream info", "filterState", "log(h:streamInfo():filterState():get('none'))", &["nil"]),
    edits(
        "Stream info",
        "drainConnectionUponCompletion",
        "h:streamInfo():drainConnectionUponCompletion()",
        &["set connection=close"],
    ),
    request(
        "Connection stream info",
        "dynamicMetadata",
        "log(h:connectionStreamInfo():dynamicMetadata():get('auth').user)",
        &["alice"],
    ),
    request(
        "Connection stream info",
        "dynamicTypedMetadata",
        "log(h:connectionStreamInfo():dynamicTypedMetadata('auth').user)",
        &["alice"],
    ),
    request(
        "Dynamic metadata",
        "get",
        "log(h:streamInfo():dynamicMetadata():get('auth')['user']) log(h:streamInfo():dynamicMetadata():get('none'))",
        &["alice", "nil"],
    ),
    edits(
        "Dynamic metadata",
        "set",
        "local m = h:streamInfo():dynamicMetadata() m:set('mine', 'k', {a = {1, true}}) m:set('mine', 'n', nil)",
        &["note mine.k={\"a\":[1,true]}", "note mine.n="],
    ),
    request(
        "Dynamic metadata",
        "pairs",
        "for name, value in pairs(h:streamInfo():dynamicMetadata()) do log(name .. value.user) end",
        &["authalice"],
    ),
    ApiCase {
        object: "Filter state",
        method: "get",
        hook: ApiHook::Request,
        body: "local state = h:streamInfo():filterState() state:set('user', 'envoy.string', 'alice')
               log(state:get('user')) log(state:get('user', 'name')) log(state:get('none'))",
        log: &["alice", "nil", "nil"],
        edits: &["note filter_state.user=\"alice\""],
    },
    edits(
        "Filter state",
        "set",
        "h:streamInfo():filterState():set('n', 'envoy.string', '5')",
        &["note filter_state.n=\"5\""],
    ),
    request("Stats", "counter", "h:stats():counter('a.b'):inc() log(h:stats():counter('a.b'):value())", &["1"]),
    request("Stats", "gauge", "h:stats():gauge('g'):set(4) log(h:stats():gauge('g'):value())", &["4"]),
    request(
        "Stats",
        "histogram",
        "h:stats():histogram('t', 'ms') log(pcall(h.stats(h).histogram, h:stats(), 't', 'hours'))",
        &["false"],
    ),
    request("Counter", "inc", "local c = h:stats():counter('c') c:inc() c:inc() log(c:value())", &["2"]),
    request(
        "Counter",
        "add",
        "local c = h:stats():counter('c') c:add(5) log(c:value()) log(pcall(c.add, c, -1))",
        &["5", "false"],
    ),
    request("Counter", "value", "log(h:stats():counter('c'):value())", &["0"]),
    request("Gauge", "inc", "local g = h:stats():gauge('g') g:inc() log(g:value())", &["1"]),
    request("Gauge", "dec", "local g = h:stats():gauge('g') g:dec() log(g:value())", &["-1"]),
    request("Gauge", "add", "local g = h:stats():gauge('g') g:add(3) log(g:value())", &["3"]),
    request("Gauge", "sub", "local g = h:stats():gauge('g') g:set(3) g:sub(5) log(g:value())", &["-2"]),
    request("Gauge", "set", "local g = h:stats():gauge('g') g:set(3) log(g:value()) log(pcall(g.set, g, -1))", &["3", "false"]),
    request("Gauge", "value", "log(h:stats():gauge('g'):value())", &["0"]),
    request(
        "Histogram",
        "recordValue",
        "local t = h:stats():histogram('t') t:recordValue(3) log(pcall(t.recordValue, t, -1))",
        &["false"],
    ),
    request("Public key", "get", "log(h:importPublicKey('', 0):get())", &["nil"]),
    secure(
        "Stream info",
        "downstreamSslConnection",
        "log(h:streamInfo():downstreamSslConnection():tlsVersion())",
        &["TLSv1.3"],
    ),
    secure("Stream info", "requestedServerName", "log(h:streamInfo():requestedServerName())", &["a.test"]),
    secure("Connection", "ssl", "log(h:connection():ssl() ~= nil)", &["true"]),
    secure("TLS connection", "peerCertificatePresented", "local s = h:connection():ssl() log(s:peerCertificatePresented())", &["true"]),
    secure("TLS connection", "peerCertificateValidated", "local s = h:connection():ssl() log(s:peerCertificateValidated())", &["true"]),
    secure("TLS connection", "uriSanLocalCertificate", "local s = h:connection():ssl() log(#s:uriSanLocalCertificate())", &["0"]),
    secure("TLS connection", "sha256PeerCertificateDigest", "local s = h:connection():ssl() log(s:sha256PeerCertificateDigest())", &["26bf3f3fca85aadafaeb86c59b07589372d1346b8fe32d7403759102641a5803"]),
    secure("TLS connection", "serialNumberPeerCertificate", "local s = h:connection():ssl() log(s:serialNumberPeerCertificate())", &["b4d12b"]),
    secure("TLS connection", "issuerPeerCertificate", "local s = h:connection():ssl() log(s:issuerPeerCertificate())", &["CN=client\\, one,O=Example Labs,O=Example"]),
    secure("TLS connection", "subjectPeerCertificate", "local s = h:connection():ssl() log(s:subjectPeerCertificate())", &["CN=client\\, one,O=Example Labs,O=Example"]),
    secure("TLS connection", "parsedSubjectPeerCertificate", "local s = h:connection():ssl() log(s:parsedSubjectPeerCertificate() ~= nil)", &["true"]),
    secure("TLS connection", "uriSanPeerCertificate", "local s = h:connection():ssl() log(table.concat(s:uriSanPeerCertificate(), ' '))", &["spiffe://example.test/client"]),
    secure("TLS connection", "subjectLocalCertificate", "local s = h:connection():ssl() log(s:subjectLocalCertificate())", &[""]),
    secure("TLS connection", "urlEncodedPemEncodedPeerCertificate", "local s = h:connection():ssl() log(s:urlEncodedPemEncodedPeerCertificate():sub(1, 42))", &["-----BEGIN%20CERTIFICATE-----%0AMIIB8jCCAZ"]),
    secure("TLS connection", "urlEncodedPemEncodedPeerCertificateChain", "local s = h:connection():ssl() log(s:urlEncodedPemEncodedPeerCertificateChain() == s:urlEncodedPemEncodedPeerCertificate())", &["true"]),
    secure("TLS connection", "dnsSansPeerCertificate", "local s = h:connection():ssl() log(table.concat(s:dnsSansPeerCertificate(), ' '))", &["client.example.test other.example.test"]),
    secure("TLS connection", "dnsSansLocalCertificate", "local s = h:connection():ssl() log(#s:dnsSansLocalCertificate())", &["0"]),
    secure("TLS connection", "oidsPeerCertificate", "local s = h:connection():ssl() log(table.concat(s:oidsPeerCertificate(), ' '))", &["2.5.29.17 2.5.29.19 2.5.29.14"]),
    secure("TLS connection", "oidsLocalCertificate", "local s = h:connection():ssl() log(#s:oidsLocalCertificate())", &["0"]),
    secure("TLS connection", "validFromPeerCertificate", "local s = h:connection():ssl() log(s:validFromPeerCertificate())", &["1767225600"]),
    secure("TLS connection", "expirationPeerCertificate", "local s = h:connection():ssl() log(s:expirationPeerCertificate())", &["2082758400"]),
    secure("TLS connection", "sessionId", "local s = h:connection():ssl() log(s:sessionId())", &[""]),
    secure("TLS connection", "ciphersuiteId", "local s = h:connection():ssl() log(s:ciphersuiteId())", &["0x1301"]),
    secure("TLS connection", "ciphersuiteString", "local s = h:connection():ssl() log(s:ciphersuiteString())", &["TLS_AES_128_GCM_SHA256"]),
    secure("TLS connection", "tlsVersion", "local s = h:connection():ssl() log(s:tlsVersion())", &["TLSv1.3"]),
    secure(
        "Parsed name",
        "commonName",
        "log(h:connection():ssl():parsedSubjectPeerCertificate():commonName())",
        &["client, one"],
    ),
    secure(
        "Parsed name",
        "organizationName",
        "log(table.concat(h:connection():ssl():parsedSubjectPeerCertificate():organizationName(), ' and '))",
        &["Example and Example Labs"],
    ),
];
