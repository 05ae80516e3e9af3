//! Event loop of the origin: accepts connections and handles their events.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Context, Result};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::net::{accept_with, bind, getsockname, listen, socket_with, sockopt};

use super::answer::OriginResponseCache;
use super::connection::{ConnectionInterest, OriginConnection};

/// A bound origin.
#[derive(Debug)]
pub struct BenchOrigin {
    listener: OwnedFd,
    epoll: OwnedFd,
    address: SocketAddr,
    /// Connections by socket number.
    connections: Vec<Option<OriginConnection>>,
    answers: OriginResponseCache,
    buffer: Vec<u8>,
}

impl BenchOrigin {
    /// Binds `address`; port 0 selects a free port.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let listener =
            socket_with(family, SocketType::STREAM, flags, None).context("cannot create a socket")?;
        sockopt::set_socket_reuseaddr(&listener, true)?;
        bind(&listener, &address).with_context(|| format!("cannot bind `{address}`"))?;
        listen(&listener, BACKLOG)?;
        let address = SocketAddr::try_from(getsockname(&listener)?)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        Ok(Self {
            listener,
            epoll,
            address,
            connections: Vec::new(),
            answers: OriginResponseCache::default(),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Returns the bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves forever.
    ///
    /// # Errors
    /// Returns an error if waiting for events fails.
    pub fn serve(&mut self) -> Result<()> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).context("cannot wait for events"),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept(),
                    key => self.turn(key, event.flags),
                }
            }
        }
    }

    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC;
        while let Ok(socket) = accept_with(&self.listener, flags) {
            let Ok(index) = usize::try_from(socket.as_raw_fd()) else { continue };
            let is_ready = sockopt::set_tcp_nodelay(&socket, true).is_ok()
                && epoll::add(&self.epoll, &socket, key_of(index), epoll::EventFlags::IN).is_ok();
            if !is_ready {
                continue;
            }
            if self.connections.len() <= index {
                self.connections.resize_with(index + 1, || None);
            }
            if let Some(place) = self.connections.get_mut(index) {
                *place = Some(OriginConnection::new(socket));
            }
        }
    }

    fn turn(&mut self, key: u64, flags: epoll::EventFlags) {
        let Ok(index) = usize::try_from(key) else { return };
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        let was_writing = flags.contains(epoll::EventFlags::OUT);
        let next = if was_writing {
            connection.handle_writable()
        } else {
            connection.handle_readable(&mut self.buffer, &mut self.answers)
        };
        let interest = match next {
            ConnectionInterest::Read if was_writing => epoll::EventFlags::IN,
            ConnectionInterest::Write if !was_writing => epoll::EventFlags::OUT,
            ConnectionInterest::Read | ConnectionInterest::Write => return,
            ConnectionInterest::Close => {
                self.connections[index] = None;
                return;
            }
        };
        if epoll::modify(&self.epoll, connection.socket(), key_of(index), interest).is_err() {
            self.connections[index] = None;
        }
    }
}

fn key_of(index: usize) -> epoll::EventData {
    epoll::EventData::new_u64(index as u64)
}

const LISTENER: u64 = u64::MAX;
const BACKLOG: i32 = 4096;
const READ_BYTES: usize = 128 * 1024;
const EVENTS_MAX: usize = 256;
