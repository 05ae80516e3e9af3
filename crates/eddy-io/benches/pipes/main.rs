//! Benchmark of the pipe pool and of relaying a gigabyte: by copying, by splicing, and by other programs.
//!
//! `cargo bench -p eddy-io --bench pipes`; `-- --gib 4` relays more, `-- --rounds 9` measures more often. The rows of
//! Go and HAProxy need these programs and report when they are missing.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark shows what it finds and stops where it can't"
)]

mod others;

use std::future::poll_fn;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use eddy_io::{Buffer, Fill, PipePool, SharedPipes, Splice, Spliced, Stream};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::time::{ClockId, clock_gettime};

const GET_PUTS: u32 = 2_000_000;
const CREATES: u32 = 20_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let (gib, rounds) = (option("--gib", 1), usize::try_from(option("--rounds", 7)).unwrap_or(7));
    println!("| a pipe, got and given back | 1 thread, ns | 2 threads, ns of one of both |\n|---|--:|--:|");
    row("made and closed", rounds, || per_call(CREATES, |_| drop(pipe_with(PipeFlags::CLOEXEC))));
    row("made, 256 KiB, and closed", rounds, || {
        per_call(CREATES, |_| {
            let pipe = pipe_with(PipeFlags::CLOEXEC).expect("pipes can be made");
            let _ = fcntl_setpipe_size(&pipe.1, eddy_io::PIPE_BYTES);
        })
    });
    let shared = Arc::new(SharedPipes::new());
    row("of the pool", rounds, || {
        let pool = PipePool::new(Arc::clone(&shared));
        per_call(GET_PUTS, |_| drop(black_box(pool.take())))
    });
    row("of the pool, 32 at once", rounds, || {
        let pool = PipePool::new(Arc::clone(&shared));
        let mut held = Vec::with_capacity(32);
        per_call(GET_PUTS, |count| {
            held.push(pool.take());
            if count % 32 == 31 {
                held.clear();
            }
        })
    });
    let go = others::build_go();
    match go.as_ref().map(|go| others::pool_of_go(go, GET_PUTS, rounds)) {
        Ok((alone, two)) => {
            println!("| of a pool in Go, reclaimed by its collector | {alone:.1} | {two:.1} |")
        }
        Err(absent) => println!("| of a pool in Go: absent, {absent} | – | – |"),
    }
    println!("\n| a relay of {gib} GiB over loopback | CPU s a GB | GB/s |\n|---|--:|--:|");
    for (name, way) in [
        ("copied, 16 KiB", RelayMode::Copy(16 * 1024)),
        ("copied, 64 KiB", RelayMode::Copy(64 * 1024)),
        ("copied, 256 KiB", RelayMode::Copy(256 * 1024)),
        ("spliced, pipes of 256 KiB", RelayMode::Splice),
    ] {
        row_of_relay(name, (0..rounds).map(|_| relay(way, gib << 30)).collect());
    }
    let name = "by Go's io.Copy, spliced by its runtime";
    match go.and_then(|go| others::RelayProcess::of_go(&go)) {
        Ok(mut other) => row_of_relay(name, (0..rounds).map(|_| other.measure(gib << 30)).collect()),
        Err(absent) => println!("| {name}: absent, {absent} | – | – |"),
    }
    match others::RelayProcess::of_haproxy() {
        Ok(mut other) => {
            row_of_relay("by HAProxy, spliced", (0..rounds).map(|_| other.measure(gib << 30)).collect());
        }
        Err(absent) => println!("| by HAProxy: absent, {absent} | – | – |"),
    }
}

/// Prints the round with the median CPU cost.
fn row_of_relay(name: &str, mut all: Vec<(f64, f64)>) {
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (cpu, rate) = all.get(all.len() / 2).copied().unwrap_or_default();
    println!("| {name} | {cpu:.3} | {rate:.1} |");
}

/// Prints the median of `measure` in one thread, and in two threads at once.
fn row(name: &str, rounds: usize, measure: impl Fn() -> f64 + Sync) {
    let alone = median((0..rounds).map(|_| measure()).collect());
    let two = (0..rounds).map(|_| {
        std::thread::scope(|scope| {
            let one = scope.spawn(&measure);
            let (a, b) = (measure(), one.join().expect("no measurement panics"));
            // Both threads run at the same time, so a pair takes half of the time that each thread measures.
            (a + b) / 4.0
        })
    });
    println!("| {name} | {alone:.1} | {:.1} |", median(two.collect()));
}

fn per_call(count: u32, mut call: impl FnMut(u32)) -> f64 {
    let begun = Instant::now();
    (0..count).for_each(&mut call);
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

#[derive(Clone, Copy)]
enum RelayMode {
    Copy(usize),
    Splice,
}

/// Returns the CPU seconds per GB of the relay thread, and the GB per second.
#[expect(clippy::cast_precision_loss, reason = "gigabytes are far from the limits of a double")]
fn relay(way: RelayMode, bytes: u64) -> (f64, f64) {
    let (source, sender) = pair();
    let (sink, taker) = pair();
    let writer = std::thread::spawn(move || send(sender, bytes));
    let reader = std::thread::spawn(move || take(taker));
    let relay = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a loop");
        runtime.block_on(async {
            let stream = |socket: TcpStream| {
                socket.set_nonblocking(true).expect("a socket");
                Stream::Tcp(tokio::net::TcpStream::from_std(socket).expect("a socket"))
            };
            let (mut source, mut sink) = (stream(source), stream(sink));
            let begun = thread_time();
            match way {
                RelayMode::Copy(room) => copy(&mut source, &mut sink, room).await,
                RelayMode::Splice => splice(&source, &sink).await,
            }
            thread_time().saturating_sub(begun)
        })
    });
    let begun = Instant::now();
    let cpu = relay.join().expect("the relay ends");
    let elapsed = begun.elapsed();
    writer.join().expect("all is sent");
    assert_eq!(reader.join().expect("all is taken"), bytes);
    let gigabytes = bytes as f64 / 1e9;
    (cpu.as_secs_f64() / gigabytes, gigabytes / elapsed.as_secs_f64())
}

async fn copy(source: &mut Stream, sink: &mut Stream, room: usize) {
    let mut buffer = Buffer::with_capacity(room);
    loop {
        match poll_fn(|cx| source.poll_fill(cx, &mut buffer)).await.expect("the source is there") {
            Fill::End => return,
            Fill::Bytes(_) => {}
        }
        poll_fn(|cx| {
            while !buffer.is_empty() {
                let count = ready!(sink.poll_write(cx, buffer.held())).expect("the sink is there");
                buffer.consume(count);
            }
            Poll::Ready(())
        })
        .await;
    }
}

async fn splice(source: &Stream, sink: &Stream) {
    let pool = PipePool::new(Arc::new(SharedPipes::new()));
    let mut splice = Splice::default();
    loop {
        let step = poll_fn(|cx| splice.poll(cx, source, sink, &pool, &mut u64::MAX.clone())).await;
        match step.expect("both are there") {
            Spliced::Bytes(_) => {}
            Spliced::End => return,
            Spliced::Done | Spliced::NoPipe => unreachable!("there is a pipe, and no end is set"),
        }
    }
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let one = TcpStream::connect(listener.local_addr().expect("a port")).expect("a connection");
    (listener.accept().expect("a connection").0, one)
}

fn send(mut socket: TcpStream, mut bytes: u64) {
    let block = vec![7_u8; 1 << 20];
    while bytes > 0 {
        let count = usize::try_from(bytes).unwrap_or(usize::MAX).min(block.len());
        socket.write_all(block.get(..count).unwrap_or_default()).expect("the relay takes it");
        bytes -= count as u64;
    }
}

fn take(mut socket: TcpStream) -> u64 {
    let (mut block, mut total) = (vec![0_u8; 1 << 20], 0);
    loop {
        match socket.read(&mut block).expect("the relay gives it") {
            0 => return total,
            count => total += count as u64,
        }
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}
