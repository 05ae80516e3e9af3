//! Loading files: whole or not at all, and every problem with its position.

#![expect(clippy::panic, reason = "a test may fail by panicking")]

mod place;

use std::fs;
use std::os::unix::fs::symlink;

use eddy_source::FileSource;
use place::SourceTestDirectory;

const GOOD: &str =
    "listeners: [{address: 127.0.0.1:8080, routes: site}]\nroutes: {site: [{respond: {status: 200}}]}\n";

fn problems(source: &FileSource) -> Vec<String> {
    match source.load() {
        Ok(loaded) => panic!("taken: {loaded:?}"),
        Err(rejected) => rejected.problems.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_file_is_read_and_checked() {
    let place = SourceTestDirectory::new("good");
    let loaded = FileSource::new(vec![place.write("eddy.yaml", GOOD)]).load().unwrap();
    assert_eq!(loaded.checked.config.listeners.len(), 1);
    assert_eq!(loaded.sources.len(), 1);
    assert_eq!(loaded.checked.config.version, eddy_spec::version_of(&loaded.sources));
}

#[test]
fn a_directory_is_read_in_name_order() {
    let place = SourceTestDirectory::new("directory");
    place.write("20-routes.yaml", "routes: {site: [{cluster: users}]}\n");
    place.write("10-listeners.yaml", "listeners: [{address: 127.0.0.1:8080, routes: site}]\n");
    place.write("30-clusters.yml", "clusters: {users: {endpoints: [127.0.0.1:9000]}}\n");
    place.write(".hidden.yaml", "no: such\n");
    place.write("README.md", "not read\n");
    let loaded = FileSource::new(vec![place.path("")]).load().unwrap();
    let names: Vec<_> = loaded.sources.iter().map(|source| source.path.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["10-listeners.yaml", "20-routes.yaml", "30-clusters.yml"]);
}

#[test]
fn an_unreadable_file_is_reported_by_name() {
    let place = SourceTestDirectory::new("bad");
    let empty = place.write("empty.yaml", "");
    let missing = place.path("missing.yaml");
    let source = FileSource::new(vec![empty.clone(), missing.clone(), "/dev/zero".into()]);
    let told = problems(&source);
    assert_eq!(told[0], format!("{}: error: this file is empty", empty.display()));
    assert!(
        told[1].starts_with(&format!("{}: error: can't read this file: ", missing.display())),
        "{}",
        told[1]
    );
    assert_eq!(told[2], "/dev/zero: error: this is neither a file nor a directory");
}

#[test]
fn a_large_file_is_refused_before_it_is_read() {
    let place = SourceTestDirectory::new("large");
    let path = place.write("large.yaml", "");
    fs::File::options().write(true).open(&path).unwrap().set_len((16 << 20) + 1).unwrap();
    assert!(problems(&FileSource::new(vec![path]))[0].contains("too large: at most 16 MiB"));
}

#[test]
fn bytes_that_are_not_utf8_are_located() {
    let place = SourceTestDirectory::new("utf8");
    let path = place.path("eddy.yaml");
    fs::write(&path, b"listeners:\n  - address: \xc3\xbc\xff\n").unwrap();
    let told = problems(&FileSource::new(vec![path.clone()]));
    assert_eq!(
        told,
        [format!("{}:2:15: error: this is not UTF-8\n  hint: save the file as UTF-8", path.display())]
    );
}

#[test]
fn an_empty_directory_is_a_problem() {
    let place = SourceTestDirectory::new("nothing");
    assert!(
        problems(&FileSource::new(vec![place.path("")]))[0]
            .ends_with("there is no file `*.yaml` in this directory")
    );
}

#[test]
fn links_are_followed() {
    let place = SourceTestDirectory::new("links");
    let target = place.write("real.txt", GOOD);
    symlink(target, place.path("eddy.yaml")).unwrap();
    assert!(FileSource::new(vec![place.path("eddy.yaml")]).load().is_ok());
}

#[test]
fn problems_of_all_files_are_reported_together() {
    let place = SourceTestDirectory::new("all");
    place.write("a.yaml", "listener: []\n");
    place.write("b.yaml", "rutes: {}\n");
    let told = problems(&FileSource::new(vec![place.path("")]));
    assert!(
        told[0].contains("unknown key `listener`") && told[1].contains("unknown key `rutes`"),
        "{told:?}"
    );
}

#[test]
fn any_bytes_are_accepted_or_refused() {
    let place = SourceTestDirectory::new("bytes");
    let mut refused = 0;
    for at in 0..GOOD.len() {
        let mut bytes = GOOD.as_bytes().to_vec();
        bytes[at] = bytes[at].wrapping_mul(167).wrapping_add(u8::try_from(at).unwrap());
        fs::write(place.path("eddy.yaml"), &bytes).unwrap();
        if let Err(rejected) = FileSource::new(vec![place.path("eddy.yaml")]).load() {
            assert!(rejected.problems.iter().all(|problem| problem.line > 0), "{rejected}");
            refused += 1;
        }
    }
    assert!(refused > GOOD.len() / 2, "{refused}");
}

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";

#[test]
fn a_folder_of_manifests_is_read_with_the_folders_in_it() {
    let place = SourceTestDirectory::new("manifests");
    place.write("b.yaml", SERVICE);
    place.write("a.json", r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "b"}}"#);
    fs::create_dir_all(place.path("sub/deep")).unwrap();
    fs::create_dir_all(place.path(".git")).unwrap();
    place.write("sub/deep/c.yml", "apiVersion: v1\nkind: Service\nmetadata: {name: c}\n");
    place.write("sub/values.yaml", "replicas: 3\n");
    place.write(".git/d.yaml", "no: such\n");
    let listeners =
        place.write("../listeners-of-manifests.yaml", "listeners: [{address: 127.0.0.1:8080, demo: true}]\n");
    let loaded = FileSource::new(vec![listeners.clone(), place.path("")]).load();
    fs::remove_file(listeners).unwrap();
    let loaded = loaded.unwrap();
    let names: Vec<_> =
        loaded.sources.iter().skip(1).map(|source| source.path.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["b.yaml", "a.json", "c.yml"]);
    let told: Vec<String> = loaded.checked.warnings.iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|told| told.contains("values.yaml: warning: skipped: this is not a manifest")),
        "{told:?}"
    );
    let watched = loaded.checked.config.companions();
    for path in ["a.json", "sub", "sub/deep", "sub/deep/c.yml", "sub/values.yaml"] {
        assert!(watched.contains(&place.path(path)), "{path}: {watched:?}");
    }
}

#[test]
fn folders_below_a_folder_without_manifests_are_ignored() {
    let place = SourceTestDirectory::new("no-manifests");
    place.write("eddy.yaml", GOOD);
    fs::create_dir_all(place.path("sub")).unwrap();
    place.write("sub/a.yaml", "not: [well formed\n");
    assert_eq!(FileSource::new(vec![place.path("")]).load().unwrap().sources.len(), 1);
}
