//! Free ports for the targets, below the kernel's ephemeral ports.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Result, bail};

/// Hands out ports, each only once.
#[derive(Debug)]
pub struct Ports {
    next: u16,
}

impl Ports {
    /// Starts at a port that depends on `seed`, so that parallel runs rarely try the same ports.
    pub fn new(seed: u32) -> Self {
        let offset = u16::try_from(seed % u32::from(LAST - FIRST)).unwrap_or(0);
        Self { next: FIRST + offset }
    }

    /// Returns a loopback address that is not in use.
    pub fn take(&mut self) -> Result<SocketAddr> {
        for _ in FIRST..LAST {
            let port = self.next;
            self.next = if port + 1 < LAST { port + 1 } else { FIRST };
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            if TcpListener::bind(address).is_ok() {
                return Ok(address);
            }
        }
        bail!("no free port between {FIRST} and {LAST}")
    }
}

const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ() {
        let mut ports = Ports::new(7);
        assert_ne!(ports.take().unwrap(), ports.take().unwrap());
        let mut last = Ports { next: LAST - 1 };
        last.take().unwrap();
        assert!(last.next < LAST);
    }
}
