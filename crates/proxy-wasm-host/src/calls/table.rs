//! Macro for tables of host functions.

/// Defines host functions in `env`: name, parameters (`i32` numbers), and the expression that is their result. A
/// parameter `text + len` is two numbers that form the [`Region`](crate::vm::Region) `text`.
macro_rules! host_functions {
    ($linker:ident { $($name:literal($guest:ident $(, $param:ident $(+ $len:ident)?)*) => $result:expr;)* }) => {
        $($linker.func_wrap("env", $name, |mut guest: Guest<'_, H> $(, $param: u32 $(, $len: u32)?)*| {
            $($(let $param = Region::new($param, $len);)?)*
            let $guest = &mut guest;
            $result
        })?;)*
    };
}

pub(super) use host_functions;
