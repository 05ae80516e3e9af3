//! Output of `cargo metadata`: packages, their dependencies and the first file of each target.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::tree::SourceTree;

/// Packages of the workspace and of other manifests in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Every package of the tree.
    pub packages: Vec<WorkspacePackage>,
}

/// A package of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspacePackage {
    /// Name of the package.
    pub name: String,
    /// Path of the manifest, relative to the root.
    pub manifest: String,
    /// Dependencies in the manifest, including build and test dependencies.
    pub imports: Vec<Import>,
    /// First file of each target: libraries, programs, tests, benches.
    pub roots: Vec<CrateRoot>,
    /// Packages that it is built with, its own dependencies and theirs, each with the importing package.
    pub reached: BTreeMap<String, String>,
}

/// One dependency in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Name of the imported package.
    pub name: String,
    /// Whether the imported package is in the tree.
    pub is_local: bool,
    /// Whether only tests and benches use it.
    pub is_dev: bool,
}

/// The first file of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrateRoot {
    /// Path relative to the root of the tree.
    pub path: String,
    /// Kind of the target.
    pub kind: RootKind,
}

/// Kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// A library or program.
    Product,
    /// A test, bench, example or build script.
    Support,
}

impl Workspace {
    /// Runs `cargo metadata` on every manifest of the tree.
    ///
    /// # Errors
    /// When cargo can't be run or doesn't accept a manifest.
    pub fn load(root: &Path, tree: &SourceTree) -> Result<Self> {
        let mut workspace = Self::default();
        let manifests = tree.iter().map(|(path, _)| path).filter(|path| is_manifest(path));
        let mut manifests: Vec<&str> = manifests.collect();
        // The shortest path first: the workspace manifest covers most of the others.
        manifests.sort_by_key(|path| path.len());
        for manifest in manifests {
            if !workspace.packages.iter().any(|package| package.manifest == manifest) {
                workspace.packages.extend(ask_cargo(root, manifest)?);
            }
        }
        let graph: CargoMetadataGraph = parse(&run_cargo(root, "Cargo.toml", &[])?)?;
        for package in &mut workspace.packages {
            package.reached = graph.reached(&package.name);
        }
        Ok(workspace)
    }
}

fn is_manifest(path: &str) -> bool {
    path == "Cargo.toml" || path.ends_with("/Cargo.toml")
}

fn ask_cargo(root: &Path, manifest: &str) -> Result<Vec<WorkspacePackage>> {
    let answer: CargoMetadataOutput = parse(&run_cargo(root, manifest, &["--no-deps"])?)?;
    answer.packages.into_iter().map(|package| package.below(root)).collect()
}

/// Runs `cargo metadata` on a manifest and returns its output.
fn run_cargo(root: &Path, manifest: &str, options: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root.join(manifest))
        .args(options)
        .output()
        .context("can't run `cargo metadata`")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo doesn't accept `{manifest}`: {errors}");
    Ok(output.stdout)
}

fn parse<'j, T: Deserialize<'j>>(output: &'j [u8]) -> Result<T> {
    serde_json::from_slice(output).context("can't read `cargo metadata`")
}

/// Output of `cargo metadata` with all dependencies.
#[derive(Deserialize)]
struct CargoMetadataGraph {
    packages: Vec<GraphPackage>,
    resolve: GraphNodes,
}

#[derive(Deserialize)]
struct GraphPackage {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct GraphNodes {
    nodes: Vec<GraphNode>,
}

#[derive(Deserialize)]
struct GraphNode {
    id: String,
    deps: Vec<GraphEdge>,
}

#[derive(Deserialize)]
struct GraphEdge {
    pkg: String,
    dep_kinds: Vec<GraphEdgeKind>,
}

#[derive(Deserialize)]
struct GraphEdgeKind {
    kind: Option<String>,
}

impl CargoMetadataGraph {
    /// Returns the packages that `package` is built with, each with the package that imports it on a shortest path.
    fn reached(&self, package: &str) -> BTreeMap<String, String> {
        let names: HashMap<&str, &str> =
            self.packages.iter().map(|package| (&*package.id, &*package.name)).collect();
        let nodes: HashMap<&str, &GraphNode> =
            self.resolve.nodes.iter().map(|node| (&*node.id, node)).collect();
        let first = self.packages.iter().find(|one| one.name == package);
        let mut queue: VecDeque<&str> = first.iter().map(|first| &*first.id).collect();
        let mut seen: HashSet<&str> = queue.iter().copied().collect();
        let mut reached = BTreeMap::new();
        while let Some(id) = queue.pop_front() {
            let edges = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            for edge in
                edges.filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev")))
            {
                let (Some(name), Some(importer)) = (names.get(&*edge.pkg), names.get(id)) else { continue };
                if seen.insert(&*edge.pkg) {
                    reached.entry((*name).to_owned()).or_insert_with(|| (*importer).to_owned());
                    queue.push_back(&edge.pkg);
                }
            }
        }
        reached
    }
}

#[derive(Deserialize)]
struct CargoMetadataOutput {
    packages: Vec<AnsweredPackage>,
}

#[derive(Deserialize)]
struct AnsweredPackage {
    name: String,
    manifest_path: String,
    dependencies: Vec<AnsweredDependency>,
    targets: Vec<AnsweredTarget>,
}

#[derive(Deserialize)]
struct AnsweredDependency {
    name: String,
    path: Option<String>,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct AnsweredTarget {
    kind: Vec<String>,
    src_path: String,
}

impl AnsweredPackage {
    fn below(self, root: &Path) -> Result<WorkspacePackage> {
        let imports = self.dependencies.into_iter().map(|dependency| Import {
            name: dependency.name,
            is_local: dependency.path.is_some(),
            is_dev: dependency.kind.as_deref() == Some("dev"),
        });
        let roots = self.targets.into_iter().map(|target| {
            let is_support = |kind: &String| SUPPORT_KINDS.contains(&kind.as_str());
            let kind = if target.kind.iter().any(is_support) { RootKind::Support } else { RootKind::Product };
            Ok(CrateRoot { path: below(root, &target.src_path)?, kind })
        });
        Ok(WorkspacePackage {
            manifest: below(root, &self.manifest_path)?,
            imports: imports.collect(),
            reached: BTreeMap::new(),
            roots: roots.collect::<Result<_>>()?,
            name: self.name,
        })
    }
}

fn below(root: &Path, path: &str) -> Result<String> {
    let path = Path::new(path).strip_prefix(root).with_context(|| format!("`{path}` is outside the tree"))?;
    Ok(path.to_string_lossy().replace('\\', "/"))
}

const SUPPORT_KINDS: [&str; 4] = ["test", "bench", "example", "custom-build"];
