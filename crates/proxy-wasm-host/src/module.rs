//! Compiled module with its checked imports and exports.

use thiserror::Error;
use wasm_sandbox::Engine;
use wasmtime::{ExternType, FuncType, ModuleExport, ValType};

use crate::abi::{AbiVersion, Callback, Family, Function, Number, Signature};

/// Compiled and checked module. Clones share the module.
#[derive(Clone)]
pub struct Module {
    engine: Engine,
    code: wasmtime::Module,
    version: AbiVersion,
    callbacks: Callbacks,
    allocator: &'static str,
    unknown_imports: Vec<String>,
}

/// Export of each callback, by its number.
pub(crate) type Callbacks = [Option<CallbackExport>; Callback::ALL.len()];

/// Export that implements a callback.
#[derive(Clone, Copy)]
pub(crate) struct CallbackExport {
    pub(crate) export: ModuleExport,
    pub(crate) signature: Signature,
}

/// Handling of imports that this host does not provide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownImports {
    /// The module is refused.
    #[default]
    Refuse,
    /// The module is accepted; a call of such a function is a fault.
    Trap,
}

/// Error of loading a module.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// The code is not a WebAssembly module, or it uses features that the engine does not support.
    #[error("this is not a WebAssembly module, or it uses unsupported features")]
    Code {
        /// Underlying error.
        #[source]
        source: wasmtime::Error,
    },
    /// The module declares none of the supported ABI versions.
    #[error(
        "the module exports none of `proxy_abi_version_0_1_0`, `proxy_abi_version_0_2_0`, \
         `proxy_abi_version_0_2_1` and `proxy_abi_version_0_2_100`: it was not built for Proxy-Wasm"
    )]
    Version,
    /// The module has an import that this host does not provide.
    #[error("the module imports `{name}`, which this host does not provide")]
    UnknownImport {
        /// Module and name of the import.
        name: String,
    },
    /// The type of an import differs from the host function's.
    #[error("the module imports `{name}` as {found}, but it is {expected}")]
    ImportType {
        /// Module and name of the import.
        name: String,
        /// Type in the module.
        found: String,
        /// Type of the host function.
        expected: String,
    },
    /// The type of a callback differs from the ABI's.
    #[error("the module exports `{name}` as {found}, but the ABI has {expected}")]
    ExportType {
        /// Name of the export.
        name: String,
        /// Type in the module.
        found: String,
        /// Type that hosts call.
        expected: String,
    },
    /// The module does not export its memory.
    #[error("the module exports no memory named `memory`")]
    Memory,
    /// The module exports no allocator.
    #[error("the module exports neither `proxy_on_memory_allocate` nor `malloc`")]
    Allocator,
}

impl Module {
    /// Compiles and checks a module, binary or (with wasmtime's feature for it) as text.
    ///
    /// # Errors
    /// The code is not a module, was built for another ABI, has unknown imports, or exports functions that hosts cannot
    /// call.
    ///
    /// # Cost
    /// Compiling takes milliseconds to seconds, on all processors; with a cache folder only the first time.
    pub fn compile(engine: &Engine, code: &[u8], unknown: UnknownImports) -> Result<Self, ModuleError> {
        let code =
            wasmtime::Module::new(engine.machine(), code).map_err(|source| ModuleError::Code { source })?;
        let is_marked = |version: &&AbiVersion| code.get_export(version.marker()).is_some();
        let version = *AbiVersion::ALL.iter().rev().find(is_marked).ok_or(ModuleError::Version)?;
        let unknown_imports = check_imports(&code, unknown)?;
        check_memory(&code)?;
        let allocator = find_allocator(&code)?;
        check_start(&code)?;
        let callbacks = find_callbacks(&code)?;
        Ok(Self { engine: engine.clone(), code, version, callbacks, allocator, unknown_imports })
    }

    /// Returns the ABI version that the module was built for.
    pub fn abi_version(&self) -> AbiVersion {
        self.version
    }

    /// Whether the module has this callback. Calling a missing callback costs nothing.
    pub fn has(&self, callback: Callback) -> bool {
        self.found(callback).is_some()
    }

    /// Returns the unknown imports as `module.name`; calling one is a fault.
    pub fn unknown_imports(&self) -> &[String] {
        &self.unknown_imports
    }

    /// Returns the imports that are only known by name: a call is passed to
    /// [`Host::unsupported`](crate::Host::unsupported).
    pub fn unsupported_imports(&self) -> impl Iterator<Item = &'static str> {
        self.code.imports().filter_map(|import| {
            let function = Function::find(import.module(), import.name())?;
            (function.family == Family::Unsupported).then_some(function.name)
        })
    }

    /// Returns the engine that runs the module.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn code(&self) -> &wasmtime::Module {
        &self.code
    }

    pub(crate) fn found(&self, callback: Callback) -> Option<CallbackExport> {
        self.callbacks.get(callback as usize).copied().flatten()
    }

    /// Returns the name of the module's allocator function.
    pub(crate) fn allocator(&self) -> &'static str {
        self.allocator
    }
}

fn check_imports(code: &wasmtime::Module, unknown: UnknownImports) -> Result<Vec<String>, ModuleError> {
    let mut names = Vec::new();
    for import in code.imports() {
        let name = format!("{}.{}", import.module(), import.name());
        let ExternType::Func(found) = import.ty() else {
            return Err(ModuleError::UnknownImport { name });
        };
        let Some(function) = Function::find(import.module(), import.name()) else {
            if unknown == UnknownImports::Refuse {
                return Err(ModuleError::UnknownImport { name });
            }
            names.push(name);
            continue;
        };
        if !is_function(&found, function) {
            let expected = shape(function.params.iter().copied().map(val_type), function.has_result);
            return Err(ModuleError::ImportType { name, found: shape_of(&found), expected });
        }
    }
    Ok(names)
}

fn is_function(found: &FuncType, function: &Function) -> bool {
    let params: Vec<ValType> = function.params.iter().copied().map(val_type).collect();
    let results: &[ValType] = if function.has_result { &[ValType::I32] } else { &[] };
    is_same(found.params(), &params) && is_same(found.results(), results)
}

fn is_same(found: impl ExactSizeIterator<Item = ValType>, expected: &[ValType]) -> bool {
    found.len() == expected.len()
        && found.zip(expected).all(|(found, expected)| ValType::eq(&found, expected))
}

fn val_type(number: Number) -> ValType {
    match number {
        Number::I32 => ValType::I32,
        Number::I64 => ValType::I64,
    }
}

fn check_memory(code: &wasmtime::Module) -> Result<(), ModuleError> {
    match code.get_export("memory") {
        Some(ExternType::Memory(memory)) if !memory.is_64() && !memory.is_shared() => Ok(()),
        _ => Err(ModuleError::Memory),
    }
}

fn find_allocator(code: &wasmtime::Module) -> Result<&'static str, ModuleError> {
    let name = ALLOCATORS.into_iter().find(|name| code.get_export(name).is_some());
    let name = name.ok_or(ModuleError::Allocator)?;
    check_export(code, name, &[Signature { params: 1, results: 1 }])?;
    Ok(name)
}

fn check_start(code: &wasmtime::Module) -> Result<(), ModuleError> {
    // Functions that are never called may have any type.
    if check_export(code, "_initialize", &[Signature { params: 0, results: 0 }])?.is_some() {
        check_export(code, "main", &[Signature { params: 2, results: 1 }])?;
    } else {
        check_export(code, "_start", &[Signature { params: 0, results: 0 }])?;
    }
    Ok(())
}

fn find_callbacks(code: &wasmtime::Module) -> Result<Callbacks, ModuleError> {
    let mut callbacks = [None; Callback::ALL.len()];
    for (slot, callback) in callbacks.iter_mut().zip(Callback::ALL) {
        let signature = check_export(code, callback.name(), callback.signatures())?;
        *slot = signature
            .zip(code.get_export_index(callback.name()))
            .map(|(signature, export)| CallbackExport { export, signature });
    }
    Ok(callbacks)
}

/// Checks an optional export and returns its signature.
fn check_export(
    code: &wasmtime::Module,
    name: &str,
    signatures: &[Signature],
) -> Result<Option<Signature>, ModuleError> {
    let Some(export) = code.get_export(name) else { return Ok(None) };
    let expected = || {
        let shapes = signatures.iter().map(|signature| {
            shape(std::iter::repeat_n(ValType::I32, signature.params), signature.results == 1)
        });
        shapes.collect::<Vec<_>>().join(" or ")
    };
    let ExternType::Func(found) = export else {
        let found = "something other than a function".to_owned();
        return Err(ModuleError::ExportType { name: name.to_owned(), found, expected: expected() });
    };
    let has = |signature: &&Signature| {
        is_same(found.params(), &vec![ValType::I32; signature.params])
            && is_same(found.results(), &vec![ValType::I32; signature.results])
    };
    match signatures.iter().find(has) {
        Some(signature) => Ok(Some(*signature)),
        None => Err(ModuleError::ExportType {
            name: name.to_owned(),
            found: shape_of(&found),
            expected: expected(),
        }),
    }
}

fn shape_of(found: &FuncType) -> String {
    let results = list(found.results());
    format!("({}) -> ({results})", list(found.params()))
}

fn shape(params: impl Iterator<Item = ValType>, has_result: bool) -> String {
    let results = if has_result { "i32" } else { "" };
    format!("({}) -> ({results})", list(params))
}

fn list(types: impl Iterator<Item = ValType>) -> String {
    types.map(|each| each.to_string()).collect::<Vec<_>>().join(", ")
}

const ALLOCATORS: [&str; 2] = ["proxy_on_memory_allocate", "malloc"];
