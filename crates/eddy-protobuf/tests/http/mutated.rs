//! 20,000 mutated requests and as many responses.

use eddy_protobuf::Frames;

#[path = "../fuzz/http.rs"]
mod fuzz;

use fuzz::Fate;

/// Deterministic pseudo-random numbers (xorshift).
struct XorshiftRng(u64);

impl XorshiftRng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

const REQUESTS: [&str; 9] = [
    "GET /v1/shelves/1/books?page_size=7&filter.tags=x&filter.kinds=KIND_NOVEL&since=2026-01-31T12:00:00Z&rating=1.5",
    "GET /v1/books/a%20b?readMask=title,tags",
    "POST /v1/shelves/1/books?bookId=7\n{\"title\":\"T\",\"copies\":\"9\",\"kind\":1,\"tags\":[\"a\",\"b\"],\"labels\":{\"k\":\"v\"},\"cover\":\"AAEC\"}",
    "PATCH /v1/shelves/1/books/2?updateMask=title\n{\"extra\":{\"a\":[1,null,{\"b\":true}]},\"rating\":0.5,\"leather\":\"\\u00e9\"}",
    "PUT /v1/shelves/1/books/2/tags\n[\"a\",\"b\\n\",\"c\"]",
    "POST /v1/shelves/1/books/2:move\n{\"name\":\"x\",\"otherShelf\":\"y\"}",
    "POST /v1/books:import\n[{\"title\":\"a\"},{\"pages\":[{\"number\":1},{\"text\":\"t\"}]},{}]",
    "POST /v1/rooms/a/b%2Fc\n{\"text\":\"x\"}\n{\"text\":\"y\"}",
    "DELETE /v1/shelves/1/books/2",
];

const MARKS: &[u8] = b"{}[]\",:%&=?/.\\*0-_ \nnulltrue\xff\x00";

/// Changes up to two positions.
fn mutate(random: &mut XorshiftRng, text: &mut Vec<u8>) {
    for _ in 0..random.below(3) {
        if text.is_empty() {
            return;
        }
        let at = random.below(text.len());
        match random.below(5) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, MARKS[random.below(MARKS.len())]),
            2 => text[at] = MARKS[random.below(MARKS.len())],
            3 => {
                let to = at + random.below(text.len() - at + 1);
                let part = text[at..to].to_vec();
                text.splice(at..at, part);
            }
            _ => text.truncate(at),
        }
    }
}

/// Counts the inputs that matched a method, and those of them that were converted.
fn fates(fates: impl Iterator<Item = Fate>) -> (usize, usize) {
    fates.fold((0, 0), |(known, taken), fate| {
        (known + usize::from(fate != Fate::Unknown), taken + usize::from(fate == Fate::Taken))
    })
}

#[test]
fn mutated_requests_are_refused_or_round_trip() {
    let mut random = XorshiftRng(0x9e37_79b9_7f4a_7c15);
    let (known, taken) = fates((0..20_000).map(|_| {
        let mut text = REQUESTS[random.below(REQUESTS.len())].as_bytes().to_vec();
        mutate(&mut random, &mut text);
        fuzz::request(&text)
    }));
    // There must be some of each, or nothing was tested.
    assert!(known > 12_000 && taken > 6_000 && taken < known - 1_000, "{known} {taken}");
}

#[test]
fn mutated_responses_are_refused_or_are_json() {
    let mut random = XorshiftRng(0x2545_f491_4f6c_dd1d);
    // A book with a title, tags, a page and a time.
    let book = b"\x12\x01T\x2a\x01a\x2a\x01b\x32\x05\x08\x01\x12\x01t\x42\x04\x08\x01\x10\x02";
    let frame = [&Frames::head(u32::try_from(book.len()).unwrap(), false)[..], book].concat();
    let (_, taken) = fates((0..20_000).map(|_| {
        let choice = random.below(9);
        let count = if choice % 3 == 1 { 1 + random.below(3) } else { 1 };
        let mut text = [&[u8::try_from(choice).unwrap()][..], &frame.repeat(count)].concat();
        mutate(&mut random, &mut text);
        fuzz::response(&text)
    }));
    assert!(taken > 5_000 && taken < 19_000, "{taken}");
}
