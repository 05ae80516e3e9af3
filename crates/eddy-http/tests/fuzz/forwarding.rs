//! Forwarded requests: written heads pass the egress check, and untrusted peers have no influence on forwarding fields.

use eddy_http::{
    Egress, FieldEdits, FieldId, ForwardedClient, ForwardedPolicy, HeadLimits, RequestHead, RequestId,
    RequestWrite, write_request_head,
};

const CERTIFICATE: &str = "Hash=00;Subject=\"CN=a\"";
const ID_NAME: &str = "x-my-id";
const ID: &str = "0123456789";
const ADDRESSES: [&str; 3] = ["192.0.2.1", "2001:db8::1", ""];

/// Checks the request writer; the first byte determines the settings.
pub(crate) fn forwarding(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut head = RequestHead::new();
    if head.parse(bytes, &HeadLimits::default()).is_err() {
        return;
    }
    let has = |bit: u8| choice & bit != 0;
    let mut edits = FieldEdits::new();
    if has(1) {
        edits.remove("x-removed").unwrap();
        edits.set("x-user", "set").unwrap();
        edits.add("x-added", "added").unwrap();
    }
    let policy = ForwardedPolicy { x_forwarded: has(2), forwarded: has(4), port: has(8).then_some(8443) };
    let address = ADDRESSES[usize::from(choice >> 6) % ADDRESSES.len()].as_bytes();
    let certificate = if has(2) { CERTIFICATE } else { "" };
    let client = ForwardedClient { address, scheme: "https", certificate, is_trusted: has(16), policy };
    let mut scratch = Vec::new();
    let target = head.origin_target(bytes, &mut scratch);
    let write = RequestWrite {
        bytes,
        head: &head,
        target,
        host: head.authority.of(bytes),
        body: head.body,
        edits: &edits,
        client,
        via: has(32).then_some("eddy"),
        request_id: has(32).then_some(RequestId { name: ID_NAME, value: ID, replace: has(1) }),
        upgrade: None,
        forwards_expectation: false,
    };
    let mut out = Vec::new();
    write_request_head(&mut out, &write);
    Egress::new().check_request(&out, head.method_name(bytes), target, head.body).unwrap();
    let mut sent = RequestHead::new();
    let limits = HeadLimits { head_bytes_max: 1 << 20, fields_max: 1024, target_bytes_max: 1 << 20 };
    if sent.parse(&out, &limits).is_err() {
        // An empty host may be sent (an HTTP/1.0 client sent none) but not received.
        assert!(head.authority.is_empty());
        return;
    }
    assert_eq!(sent.authority.of(&out), head.authority.of(bytes));
    check_fields(&write, &sent, &out);
    check_client(&write, &sent, &out);
    check_certificate(&write, &sent, &out);
}

/// The certificate field of an untrusted client is never forwarded.
fn check_certificate(write: &RequestWrite<'_>, sent: &RequestHead, out: &[u8]) {
    let told: Vec<&[u8]> = sent.fields(out).all_named(b"x-forwarded-client-cert").collect();
    if !write.client.is_trusted {
        let own = write.client.certificate.as_bytes();
        let expected: &[&[u8]] = if own.is_empty() { &[] } else { &[own] };
        assert_eq!(told, expected);
    }
}

/// No hop-by-hop field is left, and no unknown field is lost or invented.
fn check_fields(write: &RequestWrite<'_>, sent: &RequestHead, out: &[u8]) {
    let (before, after) = (write.head.fields(write.bytes), sent.fields(out));
    for id in
        [FieldId::KeepAlive, FieldId::ProxyConnection, FieldId::Upgrade, FieldId::Expect, FieldId::Alias]
    {
        assert_eq!(after.first(id), None);
    }
    assert!(after.all(FieldId::Connection).all(|value| value == b"TE"));
    assert_eq!(after.all(FieldId::Host).count(), 1);
    let has_edits = !write.edits.is_empty();
    let edited: &[&[u8]] = &[b"x-removed", b"x-user", b"x-added"];
    for (place, field) in before.places().iter().zip(before.iter()) {
        if field.id != FieldId::Other || is_same(field.name, ID_NAME.as_bytes()) {
            continue;
        }
        let is_edited = has_edits && edited.iter().any(|name| is_same(field.name, name));
        if before.first(FieldId::Upgrade).is_some() && is_of_handshake(field.name) {
            assert_eq!(after.all_named(field.name).count(), 0, "a handshake that is not carried out leaves");
            continue;
        }
        if place.is_nominated {
            assert!(after.all_named(field.name).count() == 0 || is_edited);
        } else if !is_edited {
            assert!(
                after.all_named(field.name).any(|value| value == field.value),
                "{:?} is lost",
                field.name
            );
        }
    }
    for name in [b"authorization".as_slice(), b"cookie"] {
        assert!(before.all_named(name).eq(after.all_named(name)), "credentials go on as they came");
    }
    if has_edits {
        assert_eq!(after.first_named(b"x-removed"), None);
        assert_eq!(values_of(sent, out, b"x-user"), [b"set"]);
    }
    if write.request_id.is_some_and(|id| id.replace) {
        assert_eq!(values_of(sent, out, ID_NAME.as_bytes()), [ID.as_bytes()]);
    }
}

/// A program that treats all separators as the same sees exactly eddy's values, unless the peer is trusted.
fn check_client(write: &RequestWrite<'_>, sent: &RequestHead, out: &[u8]) {
    let client = &write.client;
    if client.is_trusted {
        return;
    }
    let expected = |name: &str, is_written: bool, value: &[u8]| {
        let found = values_of(sent, out, name.as_bytes());
        if is_written { assert_eq!(found, [value], "{name}") } else { assert!(found.is_empty(), "{name}") }
    };
    let policy = client.policy;
    let authority = write.head.authority.of(write.bytes);
    expected("x-forwarded-for", policy.x_forwarded && !client.address.is_empty(), client.address);
    expected("x-forwarded-proto", policy.x_forwarded, b"https");
    expected("x-forwarded-host", policy.x_forwarded && !authority.is_empty(), authority);
    expected("x-forwarded-port", policy.x_forwarded && policy.port.is_some(), b"8443");
    expected("x-real-ip", false, b"");
    assert_eq!(values_of(sent, out, b"forwarded").len(), usize::from(policy.forwarded));
}

/// Returns the values of all fields with this name when all separators are treated as the same.
fn values_of<'a>(head: &'a RequestHead, bytes: &'a [u8], name: &[u8]) -> Vec<&'a [u8]> {
    head.fields(bytes).iter().filter(|field| is_same(field.name, name)).map(|field| field.value).collect()
}

fn is_of_handshake(name: &[u8]) -> bool {
    [b"sec-websocket-".as_slice(), b"websocket-"]
        .into_iter()
        .any(|start| name.get(..start.len()).is_some_and(|head| is_same(head, start)))
}

fn is_same(a: &[u8], b: &[u8]) -> bool {
    let fold = |byte: &u8| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'-' };
    a.len() == b.len() && a.iter().map(fold).eq(b.iter().map(fold))
}
