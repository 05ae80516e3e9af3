//! The codec operations that are measured.

use std::hint::black_box;
use std::sync::Arc;

use buffa::MessageView as _;
use eddy_protobuf::{MessageWalk, ProgramBuilder, ProtobufLimits};

use crate::generated::{self, __buffa::view};
use crate::objects;
use crate::samples::{Sample, schema};

/// One operation by one implementation.
pub(crate) struct Way<'s> {
    pub(crate) work: &'static str,
    pub(crate) by: &'static str,
    /// Prepares the operation on one thread and returns a closure that performs it once.
    pub(crate) begin: Box<dyn Fn() -> Op<'s> + Sync + 's>,
}

pub(crate) type Op<'s> = Box<dyn FnMut() + 's>;

/// Returns all operations on a sample.
pub(crate) fn all(sample: &Sample) -> Vec<Way<'_>> {
    let mut ways = if sample.name == "published" {
        codecs::<objects::Published, generated::Published>(sample)
    } else {
        codecs::<objects::Catalog, generated::Catalog>(sample)
    };
    ways.push(way("unmarshal", "buffa, view", move || {
        Box::new(move || {
            if sample.name == "published" {
                black_box(view::PublishedView::decode_view(black_box(&sample.bytes)).expect("it is sound"));
            } else {
                black_box(view::CatalogView::decode_view(black_box(&sample.bytes)).expect("it is sound"));
            }
        })
    }));
    for (work, count) in [("one field", 1), ("all of its fields", sample.paths.len())] {
        ways.push(way(work, "eddy", move || {
            let schema = schema();
            let message = schema.find_message(sample.message).expect("the message is there");
            let mut builder = ProgramBuilder::new(&schema, message);
            let paths = sample.paths.iter().take(count);
            let slots: Vec<_> =
                paths.map(|path| builder.extract(path).expect("the field is there")).collect();
            let program = Arc::new(builder.build().expect("the program is sound"));
            let mut walk = MessageWalk::new(program, ProtobufLimits::default());
            Box::new(move || {
                let values = walk.extract(black_box(&sample.bytes)).expect("the message is sound");
                slots.iter().for_each(|slot| {
                    black_box(values.get(*slot));
                });
            })
        }));
    }
    ways
}

fn way<'s>(work: &'static str, by: &'static str, begin: impl Fn() -> Op<'s> + Sync + 's) -> Way<'s> {
    Way { work, by, begin: Box::new(begin) }
}

/// Returns the codecs that decode into objects.
fn codecs<P: prost::Message + Default + 'static, B: buffa::Message + Default + 'static>(
    sample: &Sample,
) -> Vec<Way<'_>> {
    let bytes = &sample.bytes;
    vec![
        way("marshal", "prost", move || {
            let message = P::decode(&bytes[..]).expect("it is sound");
            Box::new(move || {
                black_box(message.encode_to_vec());
            })
        }),
        way("marshal", "prost, buffer used again", move || {
            let message = P::decode(&bytes[..]).expect("it is sound");
            let mut out = Vec::new();
            Box::new(move || {
                out.clear();
                message.encode(&mut out).expect("there is room");
                black_box(&out);
            })
        }),
        way("marshal", "buffa", move || {
            let message = B::decode_from_slice(bytes).expect("it is sound");
            Box::new(move || {
                black_box(message.encode_to_vec());
            })
        }),
        way("marshal", "buffa, buffer used again", move || {
            let message = B::decode_from_slice(bytes).expect("it is sound");
            let mut cache = buffa::SizeCache::new();
            let mut out = Vec::new();
            Box::new(move || {
                out.clear();
                message.encode_with_cache(&mut cache, &mut out);
                black_box(&out);
            })
        }),
        way("unmarshal", "prost", move || {
            Box::new(move || {
                black_box(P::decode(black_box(&bytes[..])).expect("it is sound"));
            })
        }),
        way("unmarshal", "prost, message used again", move || {
            let mut message = P::default();
            Box::new(move || {
                message.clear();
                message.merge(black_box(&bytes[..])).expect("it is sound");
                black_box(&message);
            })
        }),
        way("unmarshal", "buffa", move || {
            Box::new(move || {
                black_box(B::decode_from_slice(black_box(bytes)).expect("it is sound"));
            })
        }),
        way("unmarshal", "buffa, message used again", move || {
            let mut message = B::default();
            Box::new(move || {
                message.clear();
                message.merge_from_slice(black_box(bytes)).expect("it is sound");
                black_box(&message);
            })
        }),
    ]
}
