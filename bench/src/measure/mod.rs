//! What the kernel and the files say: CPU, memory, sizes, the machine.

pub mod cpu;
pub mod elf;
pub mod machine;
pub mod memory;
pub mod tree;
