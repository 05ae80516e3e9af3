//! Inspection of a shared library without running its code: detects a Go runtime.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Whether a file contains a Go runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoRuntime {
    /// It contains one: opening the file starts the runtime.
    Inside,
    /// It contains none.
    None,
}

/// Determines whether a shared library contains a Go runtime, by the names of its sections.
///
/// # Errors
/// The error of reading the file; `InvalidData` if it is not a 64-bit ELF file of this machine's byte order.
pub fn go_runtime(path: &Path) -> io::Result<GoRuntime> {
    let file = File::open(path)?;
    let names = section_names(&file)?;
    let is_go =
        names.split(|&byte| byte == 0).any(|name| GO_SECTIONS.iter().any(|known| name.ends_with(known)));
    Ok(if is_go { GoRuntime::Inside } else { GoRuntime::None })
}

/// Reads the table of section names: NUL-terminated texts.
fn section_names(file: &File) -> io::Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0).map_err(|_| not_elf())?;
    if !header.starts_with(b"\x7fELF\x02") || header.get(5) != Some(&NATIVE_ORDER) {
        return Err(not_elf());
    }
    let sections_at = u64::from_ne_bytes(part(&header, 0x28)?);
    let section_bytes = u64::from(u16::from_ne_bytes(part(&header, 0x3a)?));
    let names_index = u64::from(u16::from_ne_bytes(part(&header, 0x3e)?));
    if sections_at == 0 {
        // Without a section table nothing can be determined.
        return Ok(Vec::new());
    }
    let entry_at = section_bytes.checked_mul(names_index).and_then(|at| at.checked_add(sections_at));
    let mut entry = [0; SECTION_BYTES];
    file.read_exact_at(&mut entry, entry_at.ok_or_else(not_elf)?)?;
    let names_at = u64::from_ne_bytes(part(&entry, 0x18)?);
    let names_len = u64::from_ne_bytes(part(&entry, 0x20)?).min(NAMES_BYTES_MAX);
    let mut names = vec![0; usize::try_from(names_len).map_err(|_| not_elf())?];
    file.read_exact_at(&mut names, names_at)?;
    Ok(names)
}

/// Returns the names of the symbols that a shared library leaves to the dynamic loader, without running its code.
///
/// # Errors
/// The error of reading the file; `InvalidData` if it is not a 64-bit ELF file of this machine's byte order, or has an
/// implausible symbol table.
pub(crate) fn undefined_symbols(path: &Path) -> io::Result<Vec<String>> {
    let file = File::open(path)?;
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0).map_err(|_| not_elf())?;
    if !header.starts_with(b"\x7fELF\x02") || header.get(5) != Some(&NATIVE_ORDER) {
        return Err(not_elf());
    }
    let sections_at = u64::from_ne_bytes(part(&header, 0x28)?);
    let section_bytes = u64::from(u16::from_ne_bytes(part(&header, 0x3a)?));
    let count = u16::from_ne_bytes(part(&header, 0x3c)?);
    let section = |index: u64| -> io::Result<[u8; SECTION_BYTES]> {
        let at = section_bytes.checked_mul(index).and_then(|at| at.checked_add(sections_at));
        let mut entry = [0; SECTION_BYTES];
        file.read_exact_at(&mut entry, at.ok_or_else(not_elf)?)?;
        Ok(entry)
    };
    for index in 0..count {
        let symbols = section(index.into())?;
        if u32::from_ne_bytes(part(&symbols, 0x04)?) != SECTION_DYNAMIC_SYMBOLS {
            continue;
        }
        let names = content(&file, &section(u32::from_ne_bytes(part(&symbols, 0x28)?).into())?)?;
        let table = content(&file, &symbols)?;
        return Ok(table
            .chunks_exact(SYMBOL_BYTES)
            .filter_map(|entry| undefined_name(entry, &names))
            .collect());
    }
    Ok(Vec::new())
}

/// Returns the name of a symbol that is not defined in its file.
fn undefined_name(entry: &[u8], names: &[u8]) -> Option<String> {
    if u16::from_ne_bytes(part(entry, 0x06).ok()?) != 0 {
        return None;
    }
    let at = usize::try_from(u32::from_ne_bytes(part(entry, 0).ok()?)).ok()?;
    let name = names.get(at..)?.split(|&byte| byte == 0).next()?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// Reads the content of a section.
fn content(file: &File, section: &[u8]) -> io::Result<Vec<u8>> {
    let at = u64::from_ne_bytes(part(section, 0x18)?);
    let len = u64::from_ne_bytes(part(section, 0x20)?);
    if len > SYMBOLS_BYTES_MAX {
        return Err(not_elf());
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(|_| not_elf())?];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    bytes.get(at..at + N).and_then(|part| part.try_into().ok()).ok_or_else(not_elf)
}

fn not_elf() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not a shared library for this machine")
}

/// Sections written by the Go linker; which of them exist depends on its version and flags.
const GO_SECTIONS: [&[u8]; 4] = [b".note.go.buildid", b".go.buildinfo", b".gopclntab", b".go.module"];

const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
/// `SHT_DYNSYM`.
const SECTION_DYNAMIC_SYMBOLS: u32 = 11;
const SYMBOLS_BYTES_MAX: u64 = 64 << 20;
const NAMES_BYTES_MAX: u64 = 1 << 20;
const NATIVE_ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_program_contains_no_go_runtime() {
        assert_eq!(go_runtime(Path::new("/proc/self/exe")).unwrap(), GoRuntime::None);
    }

    #[test]
    fn functions_of_other_libraries_are_undefined_symbols() {
        let symbols = undefined_symbols(Path::new("/proc/self/exe")).unwrap();
        assert!(symbols.iter().any(|name| name == "dlopen" || name == "malloc"), "{symbols:?}");
        assert!(!symbols.iter().any(String::is_empty));
    }

    #[test]
    fn a_file_that_is_not_a_library_is_reported() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert_eq!(go_runtime(&manifest).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(undefined_symbols(&manifest).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(go_runtime(Path::new("/nowhere.so")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
