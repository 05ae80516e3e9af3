//! Files, folders, sockets and signals: functions that compilers import and that are always refused.

use wasmtime::Linker;

use crate::host::Host;
use crate::vm::{Guest, State};

use super::descriptors::check;
use super::errno::{Errno, wire};

pub(super) fn define<H: Host>(linker: &mut Linker<State<H>>, module: &str) -> wasmtime::Result<()> {
    define_files(linker, module)?;
    define_paths(linker, module)?;
    define_sockets(linker, module)?;
    linker.func_wrap(module, "proc_raise", |_: Guest<'_, H>, _: u32| wire(Err(Errno::Missing)))?;
    Ok(())
}

/// Standard streams are no files, and there are no others.
fn no_file(descriptor: u32) -> u32 {
    wire(check(descriptor).and(Err(Errno::NotSupported)))
}

fn no_socket(descriptor: u32) -> u32 {
    wire(check(descriptor).and(Err(Errno::NoSocket)))
}

/// There are no folders that a path could begin in.
fn no_folder() -> u32 {
    wire(Err(Errno::BadDescriptor))
}

fn define_files<H: Host>(linker: &mut Linker<State<H>>, m: &str) -> wasmtime::Result<()> {
    linker.func_wrap(m, "fd_advise", |_: Guest<'_, H>, fd: u32, _: u64, _: u64, _: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_allocate", |_: Guest<'_, H>, fd: u32, _: u64, _: u64| no_file(fd))?;
    linker.func_wrap(m, "fd_datasync", |_: Guest<'_, H>, fd: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_sync", |_: Guest<'_, H>, fd: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_fdstat_set_rights", |_: Guest<'_, H>, fd: u32, _: u64, _: u64| no_file(fd))?;
    linker.func_wrap(m, "fd_filestat_set_size", |_: Guest<'_, H>, fd: u32, _: u64| no_file(fd))?;
    linker.func_wrap(m, "fd_filestat_set_times", |_: Guest<'_, H>, fd: u32, _: u64, _: u64, _: u32| {
        no_file(fd)
    })?;
    linker
        .func_wrap(m, "fd_pread", |_: Guest<'_, H>, fd: u32, _: u32, _: u32, _: u64, _: u32| no_file(fd))?;
    linker
        .func_wrap(m, "fd_pwrite", |_: Guest<'_, H>, fd: u32, _: u32, _: u32, _: u64, _: u32| no_file(fd))?;
    linker
        .func_wrap(m, "fd_readdir", |_: Guest<'_, H>, fd: u32, _: u32, _: u32, _: u64, _: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_renumber", |_: Guest<'_, H>, fd: u32, _: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_prestat_get", |_: Guest<'_, H>, _: u32, _: u32| no_folder())?;
    linker.func_wrap(m, "fd_prestat_dir_name", |_: Guest<'_, H>, _: u32, _: u32, _: u32| no_folder())?;
    Ok(())
}

fn define_paths<H: Host>(linker: &mut Linker<State<H>>, m: &str) -> wasmtime::Result<()> {
    for name in ["path_create_directory", "path_remove_directory", "path_unlink_file"] {
        linker.func_wrap(m, name, |_: Guest<'_, H>, _: u32, _: u32, _: u32| no_folder())?;
    }
    for name in ["path_filestat_get", "path_symlink"] {
        linker.func_wrap(m, name, |_: Guest<'_, H>, _: u32, _: u32, _: u32, _: u32, _: u32| no_folder())?;
    }
    for name in ["path_readlink", "path_rename"] {
        linker.func_wrap(m, name, |_: Guest<'_, H>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| {
            no_folder()
        })?;
    }
    linker.func_wrap(
        m,
        "path_filestat_set_times",
        |_: Guest<'_, H>, _: u32, _: u32, _: u32, _: u32, _: u64, _: u64, _: u32| no_folder(),
    )?;
    linker.func_wrap(
        m,
        "path_link",
        |_: Guest<'_, H>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| no_folder(),
    )?;
    linker.func_wrap(
        m,
        "path_open",
        |_: Guest<'_, H>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u64, _: u64, _: u32, _: u32| no_folder(),
    )?;
    Ok(())
}

fn define_sockets<H: Host>(linker: &mut Linker<State<H>>, m: &str) -> wasmtime::Result<()> {
    linker.func_wrap(m, "sock_accept", |_: Guest<'_, H>, fd: u32, _: u32, _: u32| no_socket(fd))?;
    linker.func_wrap(
        m,
        "sock_recv",
        |_: Guest<'_, H>, fd: u32, _: u32, _: u32, _: u32, _: u32, _: u32| no_socket(fd),
    )?;
    linker.func_wrap(m, "sock_send", |_: Guest<'_, H>, fd: u32, _: u32, _: u32, _: u32, _: u32| {
        no_socket(fd)
    })?;
    linker.func_wrap(m, "sock_shutdown", |_: Guest<'_, H>, fd: u32, _: u32| no_socket(fd))?;
    Ok(())
}
