//! Chunked bodies: the result is independent of how they are split, and the same after re-encoding.

use eddy_http::{ChunkDecoder, ChunkFault, ChunkLimits, ChunkStep, write_chunk_header, write_trailers};

const LIMITS: ChunkLimits =
    ChunkLimits { extension_bytes_max: 32, trailer_bytes_max: 64, trailer_fields_max: 3 };

/// Decoded body: data, consumed bytes and completeness.
#[derive(Debug, PartialEq, Eq)]
struct DecodedBody {
    data: Vec<u8>,
    taken: usize,
    is_done: bool,
}

/// Checks the decoder; the first byte determines the piece size.
pub(crate) fn chunked(data: &[u8]) {
    let Some((&step, input)) = data.split_first() else { return };
    for limits in [LIMITS, ChunkLimits::default()] {
        let mut decoder = ChunkDecoder::new(limits);
        let whole = decode(&mut decoder, input, input.len());
        assert_eq!(decode(&mut ChunkDecoder::new(limits), input, 1), whole);
        assert_eq!(decode(&mut ChunkDecoder::new(limits), input, usize::from(step).max(1)), whole);
        if let Ok(body) = whole
            && body.is_done
        {
            check_again(&body, &decoder);
        }
    }
}

/// Decodes `input` in pieces of `step` bytes.
fn decode(decoder: &mut ChunkDecoder, input: &[u8], step: usize) -> Result<DecodedBody, ChunkFault> {
    let mut body = DecodedBody { data: Vec::new(), taken: 0, is_done: false };
    for piece in input.chunks(step.max(1)) {
        let mut rest = piece;
        while !rest.is_empty() {
            match decoder.decode(rest)? {
                ChunkStep::Data { skip, len } => {
                    assert!(len > 0 && skip + len <= rest.len());
                    body.data.extend_from_slice(&rest[skip..skip + len]);
                    body.taken += skip + len;
                    rest = &rest[skip + len..];
                }
                ChunkStep::More { consumed } => {
                    assert_eq!(consumed, rest.len());
                    body.taken += consumed;
                    rest = b"";
                }
                ChunkStep::Done { consumed } => {
                    assert!(decoder.is_done());
                    body.taken += consumed;
                    body.is_done = true;
                    return Ok(body);
                }
            }
        }
        assert!(!decoder.is_done());
    }
    Ok(body)
}

/// Writes the decoded data as a few chunks, and decodes it again.
fn check_again(body: &DecodedBody, decoder: &ChunkDecoder) {
    let mut written = Vec::new();
    for chunk in body.data.chunks(5) {
        write_chunk_header(&mut written, chunk.len());
        written.extend_from_slice(chunk);
        written.extend_from_slice(eddy_http::CHUNK_END);
    }
    write_trailers(&mut written, decoder.trailers());
    let mut again = ChunkDecoder::new(ChunkLimits::default());
    let read = decode(&mut again, &written, written.len()).unwrap();
    assert_eq!((read.data, read.is_done, read.taken), (body.data.clone(), true, written.len()));
    let allowed = decoder
        .trailers()
        .iter()
        .filter(eddy_http::is_trailer_allowed)
        .map(|field| (field.name, field.value));
    assert!(allowed.eq(again.trailers().iter().map(|field| (field.name, field.value))));
}
