//! Rust library that is called and measured by a Go program.

mod figures;

pub use self::figures::{Allocated, Native, Order, Reader, serve_native};

/// Reads the first byte and the length of each argument.
struct NativeReader;

impl Native for NativeReader {
    fn empty_short(&self) {}

    fn text_short(&self, text: &str) -> u64 {
        read(text.as_bytes())
    }

    fn order_short(&self, order: &Order<'_>) -> u64 {
        read_order(order)
    }

    fn batch_short(&self, texts: &[&str]) -> u64 {
        read_batch(texts)
    }

    fn bytes_short(&self, bytes: &[u8]) -> u64 {
        read(bytes)
    }

    fn empty(&self) {}

    fn text(&self, text: &str) -> u64 {
        read(text.as_bytes())
    }

    fn order(&self, order: &Order<'_>) -> u64 {
        read_order(order)
    }

    fn batch(&self, texts: &[&str]) -> u64 {
        read_batch(texts)
    }

    fn bytes(&self, bytes: &[u8]) -> u64 {
        read(bytes)
    }

    async fn empty_later(&self) {}

    async fn text_later(&self, text: &str) -> u64 {
        read(text.as_bytes())
    }

    async fn order_later(&self, order: &Order<'_>) -> u64 {
        read_order(order)
    }

    async fn batch_later(&self, texts: &[&str]) -> u64 {
        read_batch(texts)
    }

    async fn bytes_later(&self, bytes: &[u8]) -> u64 {
        read(bytes)
    }
}

fn read(bytes: &[u8]) -> u64 {
    bytes.first().map_or(0, |first| u64::from(*first) + bytes.len() as u64)
}

fn read_order(order: &Order<'_>) -> u64 {
    let numbers = order.id + order.number + order.total + order.time + i64::from(order.is_new);
    numbers.cast_unsigned() + read_batch(&[order.name, order.kind, order.place, order.note, order.sign])
}

fn read_batch(texts: &[&str]) -> u64 {
    texts.iter().map(|text| read(text.as_bytes())).sum()
}

eddy_bridge::export! { eddy_bridge::offer(serve_native(NativeReader)) }
