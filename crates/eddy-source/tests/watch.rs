//! Watching files: every kind of change is reported once, when it is finished.

mod place;

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use eddy_source::{FileSource, Watcher};
use place::SourceTestDirectory;
use tokio::time::timeout;

async fn is_changed(watcher: &mut Watcher) -> bool {
    timeout(Duration::from_secs(10), watcher.changed()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_write_is_noticed_once() {
    let place = SourceTestDirectory::new("write");
    let path = place.write("eddy.yaml", "a");
    let mut watcher = FileSource::new(vec![path]).watch();
    assert!(!is_changed(&mut watcher).await);
    place.write("eddy.yaml", "ab");
    assert!(is_changed(&mut watcher).await);
    assert!(!is_changed(&mut watcher).await);
}

#[tokio::test(start_paused = true)]
async fn a_rename_over_the_file_is_noticed() {
    let place = SourceTestDirectory::new("rename");
    let path = place.write("eddy.yaml", "a");
    let mut watcher = FileSource::new(vec![path.clone()]).watch();
    let other = place.write("eddy.yaml.new", "b");
    fs::rename(other, path).unwrap();
    assert!(is_changed(&mut watcher).await);
}

#[tokio::test(start_paused = true)]
async fn a_swapped_symlink_is_noticed() {
    let place = SourceTestDirectory::new("link");
    for version in ["v1", "v2"] {
        fs::create_dir(place.path(version)).unwrap();
        place.write(&format!("{version}/eddy.yaml"), "same text");
    }
    symlink("v1", place.path("..data")).unwrap();
    symlink("..data/eddy.yaml", place.path("eddy.yaml")).unwrap();
    let mut watcher = FileSource::new(vec![place.path("eddy.yaml")]).watch();
    assert!(!is_changed(&mut watcher).await);
    symlink("v2", place.path("..next")).unwrap();
    fs::rename(place.path("..next"), place.path("..data")).unwrap();
    assert!(is_changed(&mut watcher).await);
}

#[tokio::test(start_paused = true)]
async fn files_that_a_configuration_references_are_watched_with_it() {
    let place = SourceTestDirectory::new("companions");
    let source = FileSource::new(vec![place.write("eddy.yaml", "a")]);
    let module = place.write("a.wasm", "a");
    let mut watcher = source.watch();
    place.write("a.wasm", "ab");
    assert!(!is_changed(&mut watcher).await, "nobody named it");
    let before = source.accompany(vec![module]);
    assert!(is_changed(&mut watcher).await, "it is one more file to look at");
    assert_eq!(source.snapshot_companions(), before);
    place.write("a.wasm", "abc");
    assert!(is_changed(&mut watcher).await);
    assert_ne!(source.snapshot_companions(), before);
    source.accompany(Vec::new());
    assert!(is_changed(&mut watcher).await);
    place.write("a.wasm", "abcd");
    assert!(!is_changed(&mut watcher).await, "nobody names it any more");
}

#[tokio::test(start_paused = true)]
async fn created_and_removed_files_are_noticed() {
    let place = SourceTestDirectory::new("come");
    place.write("a.yaml", "a");
    let mut watcher = FileSource::new(vec![place.path("")]).watch();
    place.write("notes.txt", "not watched");
    assert!(!is_changed(&mut watcher).await);
    let added = place.write("b.yaml", "b");
    assert!(is_changed(&mut watcher).await);
    fs::remove_file(added).unwrap();
    assert!(is_changed(&mut watcher).await);
}

#[tokio::test(start_paused = true)]
async fn a_change_in_several_steps_is_reported_when_finished() {
    let place = SourceTestDirectory::new("steps");
    let path = place.write("eddy.yaml", "0");
    let mut watcher = FileSource::new(vec![path]).watch();
    let begin = tokio::time::Instant::now();
    let writer = async {
        for step in 1..=30 {
            place.write("eddy.yaml", &"x".repeat(step));
            #[expect(clippy::disallowed_methods, reason = "the pace of the writer, in paused time")]
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let ((), ()) = tokio::join!(writer, watcher.changed());
    assert!(begin.elapsed() >= Duration::from_millis(1500), "{:?}", begin.elapsed());
    assert!(!is_changed(&mut watcher).await);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_loses_nothing() {
    let place = SourceTestDirectory::new("dropped");
    let path = place.write("eddy.yaml", "0");
    let mut watcher = FileSource::new(vec![path]).watch();
    place.write("eddy.yaml", "01");
    // The future is dropped while the change settles.
    assert!(timeout(Duration::from_millis(550), watcher.changed()).await.is_err());
    assert!(is_changed(&mut watcher).await);
}
