//! Measured messages: the published one with nine fields, and one with nested messages, of 10 KiB and of 1 MiB.

use std::hint::black_box;
use std::sync::Arc;

use eddy_protobuf::Schema;
use prost::Message as _;

use super::objects::{Catalog, ProstItem, ProstSize, Published, Timestamp};

/// A message and the operations on it.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) message: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// Fields that are extracted; the first one also alone.
    pub(crate) paths: &'static [&'static str],
    pub(crate) dropped: &'static [&'static str],
    /// Drops the same fields by way of objects.
    pub(crate) redact: fn(&[u8], &mut Vec<u8>),
    pub(crate) decode: fn(&[u8]),
}

pub(crate) const DESCRIPTORS: &[u8] = include_bytes!("../../tests/schema/eddy.binpb");

pub(crate) fn schema() -> Arc<Schema> {
    Arc::new(Schema::from_descriptors(DESCRIPTORS).expect("the descriptors are sound"))
}

pub(crate) fn all() -> [Sample; 3] {
    [published(), nested("10 KiB", 10 << 10), nested("1 MiB", 1 << 20)]
}

fn published() -> Sample {
    let message = Published {
        recvtime: 170_123_456,
        uniqueid: "a1b2c3d4e5f6g7h8i9".to_owned(),
        token: "xxxx-1111-yyyy-2222-zzzz-3333".to_owned(),
        phone: "13900010002".to_owned(),
        content: "A text of some length, as it stands in messages that people send each other. ".repeat(4)
            [..270]
            .to_owned(),
        sign: "tonybaiXZYDFDS".to_owned(),
        r#type: "submit".to_owned(),
        extend: String::new(),
        version: "v1.0.0".to_owned(),
    };
    Sample {
        name: "published",
        message: "eddy.test.Published",
        bytes: message.encode_to_vec(),
        paths: &["token", "recvtime", "uniqueid", "phone", "content", "sign", "type", "extend", "version"],
        dropped: &["phone", "token"],
        redact: |bytes, out| {
            let mut message = Published::decode(bytes).expect("the message is sound");
            message.phone.clear();
            message.token.clear();
            message.encode(out).expect("there is room");
        },
        decode: |bytes| {
            black_box(Published::decode(bytes).expect("the message is sound"));
        },
    }
}

fn nested(name: &'static str, bytes: usize) -> Sample {
    let mut catalog = Catalog { name: "spring".to_owned(), items: Vec::new() };
    while catalog.encoded_len() < bytes {
        // Adds at least as many items as are surely missing, so that building a large message is fast.
        let missing = ((bytes - catalog.encoded_len()) / 400).max(1);
        let from = catalog.items.len();
        catalog.items.extend((from..from + missing).map(item));
    }
    Sample {
        name,
        message: "eddy.test.Catalog",
        bytes: catalog.encode_to_vec(),
        paths: &["name", "items.id", "items.stock", "items.price", "items.created.seconds"],
        dropped: &["items.title", "items.thumbnail"],
        redact: |bytes, out| {
            let mut catalog = Catalog::decode(bytes).expect("the message is sound");
            for item in &mut catalog.items {
                item.title.clear();
                item.thumbnail.clear();
            }
            catalog.encode(out).expect("there is room");
        },
        decode: |bytes| {
            black_box(Catalog::decode(bytes).expect("the message is sound"));
        },
    }
}

fn item(number: usize) -> ProstItem {
    let small = i32::try_from(number % 1_000).expect("below a thousand");
    ProstItem {
        id: format!("item-{number:08}"),
        title: "A garden chair of oak, oiled, with a cushion in one of seven colours".to_owned(),
        stock: i64::from(small) * 37,
        price: f64::from(small) + 0.25,
        status: small % 3,
        is_new: small % 2 == 0,
        tags: vec!["garden".to_owned(), "oak".to_owned(), "chairs and tables".to_owned()],
        sizes: vec![small, 300, 75, 120],
        size: Some(ProstSize { width: 45.5, height: 90.0 + f64::from(small) / 8.0 }),
        created: Some(Timestamp { seconds: 1_700_000_000 + i64::from(small), nanos: 500_000_000 }),
        labels: [("colour", "green"), ("origin", "somewhere in the north")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        thumbnail: vec![0xa5; 48],
    }
}
