//! Lookup of this process's control groups: its own and those above it, in cgroup version 1 or 2.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group file of one controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupFile {
    /// Name of the controller's hierarchy in version 1.
    pub(super) controller: &'static str,
    /// File name in version 1.
    pub(super) v1: &'static str,
    /// File name in version 2.
    pub(super) v2: &'static str,
}

impl GroupFile {
    /// Reads the file of each group that has it. The file systems are looked up below `root`.
    pub(super) fn read_all(self, root: &Path) -> Vec<String> {
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let files = groups.lines().filter_map(|line| self.files_of(line)).flatten();
        files.filter_map(|file| fs::read_to_string(root.join(file)).ok()).collect()
    }

    /// Returns the files for a line of `/proc/self/cgroup`: hierarchy number, controllers, path of the group.
    fn files_of(self, line: &str) -> Option<Vec<PathBuf>> {
        match line.splitn(3, ':').collect::<Vec<_>>().as_slice() {
            ["0", "", path] => Some(files(Path::new("sys/fs/cgroup"), path, self.v2)),
            [_, controllers, path] if controllers.split(',').any(|name| name == self.controller) => {
                Some(files(&Path::new("sys/fs/cgroup").join(self.controller), path, self.v1))
            }
            _ => None,
        }
    }
}

/// Returns the files of a group and of those above it. In a container the group is mounted at the top, whatever its
/// path is called.
fn files(mount: &Path, path: &str, name: &str) -> Vec<PathBuf> {
    let groups = Path::new(path.trim_start_matches('/')).ancestors();
    groups.map(|group| mount.join(group).join(name)).collect()
}

/// Control group files for a test, below a folder of its own.
#[cfg(test)]
pub(super) struct StubRoot(pub(super) PathBuf);

#[cfg(test)]
impl StubRoot {
    /// Creates these files; `name` distinguishes the folders of tests.
    pub(super) fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let root = Self(std::env::temp_dir().join(format!("eddy-cgroup-{name}-{}", std::process::id())));
        files.iter().for_each(|(file, text)| root.write(file, text));
        root
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[cfg(test)]
impl Drop for StubRoot {
    fn drop(&mut self) {
        // Without files, no folder was created.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: GroupFile = GroupFile { controller: "memory", v1: "old", v2: "new" };

    #[track_caller]
    fn check(name: &str, files: &[(&str, &str)], expected: &[&str]) {
        let root = StubRoot::with(name, files);
        assert_eq!(FILE.read_all(&root.0), expected, "{name}");
    }

    #[test]
    fn cgroups_are_read_from_the_innermost_up() {
        let groups = ("proc/self/cgroup", "0::/system.slice/eddy.service\n");
        let own = ("sys/fs/cgroup/system.slice/eddy.service/new", "a");
        check("own", &[groups, own], &["a"]);
        check("above", &[groups, own, ("sys/fs/cgroup/system.slice/new", "b")], &["a", "b"]);
        // A container sees its own group at the top.
        check("container", &[groups, ("sys/fs/cgroup/new", "c")], &["c"]);
        check("none", &[], &[]);
    }

    #[test]
    fn cgroups_of_version_1_are_found_by_their_controller() {
        let groups = ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b/c\n0::/\n");
        let own = ("sys/fs/cgroup/memory/b/c/old", "a");
        let other = ("sys/fs/cgroup/memory/a/old", "z");
        check("v1", &[groups, own, other], &["a"]);
        check("v1-top", &[groups, ("sys/fs/cgroup/memory/old", "b")], &["b"]);
    }
}
