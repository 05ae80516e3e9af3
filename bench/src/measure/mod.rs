//! Measurements from the kernel and from files: CPU, memory, program sizes, the machine.

pub mod cpu;
pub mod elf;
pub mod machine;
pub mod memory;
pub mod tree;
