//! The chunked transfer coding (RFC 9112 §7.1).

mod decoder;
mod fault;
mod size_line;
mod write;

pub use decoder::{ChunkDecoder, ChunkLimits, ChunkStep};
pub use fault::ChunkFault;
pub use write::{CHUNK_END, LAST_CHUNK, is_trailer_allowed, write_chunk_header, write_trailers};

#[cfg(test)]
mod tests;
