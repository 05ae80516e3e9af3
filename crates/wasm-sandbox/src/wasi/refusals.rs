//! WASI functions for files, folders, sockets and signals, which compilers import; all of them return an error.

use wasmtime::{Caller, Linker};

use crate::store::Confined;

use super::descriptors::check;
use super::errno::{Errno, wire};

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    define_files(linker, module)?;
    define_paths(linker, module)?;
    define_sockets(linker, module)?;
    linker.func_wrap(module, "proc_raise", |_: Caller<'_, T>, _: u32| wire(Err(Errno::Missing)))?;
    Ok(())
}

/// Refuses a file operation: standard streams are not files, and there are no other descriptors.
fn no_file(descriptor: u32) -> u32 {
    wire(check(descriptor).and(Err(Errno::NotSupported)))
}

fn no_socket(descriptor: u32) -> u32 {
    wire(check(descriptor).and(Err(Errno::NoSocket)))
}

/// Refuses a path operation: no folder is open.
fn no_folder() -> u32 {
    wire(Err(Errno::BadDescriptor))
}

fn define_files<T: Confined>(linker: &mut Linker<T>, m: &str) -> wasmtime::Result<()> {
    linker.func_wrap(m, "fd_advise", |_: Caller<'_, T>, fd: u32, _: u64, _: u64, _: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_allocate", |_: Caller<'_, T>, fd: u32, _: u64, _: u64| no_file(fd))?;
    linker.func_wrap(m, "fd_datasync", |_: Caller<'_, T>, fd: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_sync", |_: Caller<'_, T>, fd: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_fdstat_set_rights", |_: Caller<'_, T>, fd: u32, _: u64, _: u64| no_file(fd))?;
    linker.func_wrap(m, "fd_filestat_set_size", |_: Caller<'_, T>, fd: u32, _: u64| no_file(fd))?;
    linker.func_wrap(m, "fd_filestat_set_times", |_: Caller<'_, T>, fd: u32, _: u64, _: u64, _: u32| {
        no_file(fd)
    })?;
    linker
        .func_wrap(m, "fd_pread", |_: Caller<'_, T>, fd: u32, _: u32, _: u32, _: u64, _: u32| no_file(fd))?;
    linker
        .func_wrap(m, "fd_pwrite", |_: Caller<'_, T>, fd: u32, _: u32, _: u32, _: u64, _: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_readdir", |_: Caller<'_, T>, fd: u32, _: u32, _: u32, _: u64, _: u32| {
        no_file(fd)
    })?;
    linker.func_wrap(m, "fd_renumber", |_: Caller<'_, T>, fd: u32, _: u32| no_file(fd))?;
    linker.func_wrap(m, "fd_prestat_get", |_: Caller<'_, T>, _: u32, _: u32| no_folder())?;
    linker.func_wrap(m, "fd_prestat_dir_name", |_: Caller<'_, T>, _: u32, _: u32, _: u32| no_folder())?;
    Ok(())
}

fn define_paths<T: Confined>(linker: &mut Linker<T>, m: &str) -> wasmtime::Result<()> {
    for name in ["path_create_directory", "path_remove_directory", "path_unlink_file"] {
        linker.func_wrap(m, name, |_: Caller<'_, T>, _: u32, _: u32, _: u32| no_folder())?;
    }
    for name in ["path_filestat_get", "path_symlink"] {
        linker.func_wrap(m, name, |_: Caller<'_, T>, _: u32, _: u32, _: u32, _: u32, _: u32| no_folder())?;
    }
    for name in ["path_readlink", "path_rename"] {
        linker.func_wrap(m, name, |_: Caller<'_, T>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| {
            no_folder()
        })?;
    }
    linker.func_wrap(
        m,
        "path_filestat_set_times",
        |_: Caller<'_, T>, _: u32, _: u32, _: u32, _: u32, _: u64, _: u64, _: u32| no_folder(),
    )?;
    linker.func_wrap(
        m,
        "path_link",
        |_: Caller<'_, T>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| no_folder(),
    )?;
    linker.func_wrap(
        m,
        "path_open",
        |_: Caller<'_, T>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u64, _: u64, _: u32, _: u32| {
            no_folder()
        },
    )?;
    Ok(())
}

fn define_sockets<T: Confined>(linker: &mut Linker<T>, m: &str) -> wasmtime::Result<()> {
    linker.func_wrap(m, "sock_accept", |_: Caller<'_, T>, fd: u32, _: u32, _: u32| no_socket(fd))?;
    linker.func_wrap(
        m,
        "sock_recv",
        |_: Caller<'_, T>, fd: u32, _: u32, _: u32, _: u32, _: u32, _: u32| no_socket(fd),
    )?;
    linker.func_wrap(m, "sock_send", |_: Caller<'_, T>, fd: u32, _: u32, _: u32, _: u32, _: u32| {
        no_socket(fd)
    })?;
    linker.func_wrap(m, "sock_shutdown", |_: Caller<'_, T>, fd: u32, _: u32| no_socket(fd))?;
    Ok(())
}
