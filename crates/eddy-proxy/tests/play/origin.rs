//! An origin that responds with the word of each request.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use eddy_upstream::Rng;

use super::book::{Book, number_of, word_of};
use super::client::{field, message_ends};

pub(crate) fn start_origin(seed: u64, book: &Arc<Book>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let book = Arc::clone(book);
    std::thread::spawn(move || {
        for link in listener.incoming() {
            let (link, book) = (link.unwrap(), Arc::clone(&book));
            std::thread::spawn(move || serve(link, seed, &book));
        }
    });
    address
}

fn serve(mut link: TcpStream, seed: u64, book: &Book) {
    let mut held = Vec::new();
    loop {
        let (head, end) = loop {
            if let Some(ends) = message_ends(&held, false) {
                break ends;
            }
            let mut bytes = [0; 16 * 1024];
            match link.read(&mut bytes) {
                Ok(count @ 1..) => held.extend_from_slice(&bytes[..count]),
                _ => return,
            }
        };
        let Some(word) = field(&held[..head], "x-word").and_then(|word| number_of(word.as_bytes())) else {
            book.complain("the origin got a request without a word".to_owned());
            return;
        };
        book.look(word, "a request at the origin", &held[..end]);
        held.drain(..end);
        let mut rng = Rng::new(seed ^ word.rotate_left(31));
        let (answer, is_last) = answer(&mut rng, &word_of(word));
        if link.write_all(&answer).is_err() || is_last {
            return;
        }
    }
}

/// Returns a response, and whether the connection ends with it.
fn answer(rng: &mut Rng, word: &str) -> (Vec<u8>, bool) {
    let body = word.repeat(if rng.below(8) == 0 { 3000 } else { rng.index(200) });
    let start = format!("HTTP/1.1 200 OK\r\nX-Origin: {word}\r\n");
    let text = match rng.below(40) {
        0 => return (Vec::new(), true),
        1 => return (format!("{start}Content-Length: {}\r\n\r\n{body}", body.len() + 9).into_bytes(), true),
        2..=4 => return (format!("{start}Connection: close\r\n\r\n{body}").into_bytes(), true),
        5 => format!("HTTP/1.1 204 No Content\r\nX-Origin: {word}\r\n\r\n"),
        6..=20 => {
            let (first, second) = body.split_at(rng.index(body.len() + 1));
            let mut text = format!("{start}Transfer-Encoding: chunked\r\n\r\n");
            for piece in [first, second] {
                if !piece.is_empty() {
                    text += &format!("{:x}\r\n{piece}\r\n", piece.len());
                }
            }
            text + &format!("0\r\nX-Trailer: {word}\r\n\r\n")
        }
        _ => format!("{start}Content-Length: {}\r\n\r\n{body}", body.len()),
    };
    (text.into_bytes(), false)
}
