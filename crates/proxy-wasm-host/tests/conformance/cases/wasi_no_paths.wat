;; There are no folders that a path could begin in.
;; covers: path_create_directory, path_filestat_get, path_filestat_set_times, path_link, path_open, path_readlink, path_remove_directory, path_rename, path_symlink, path_unlink_file
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $path_create_directory (i32.const 3) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_filestat_get (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_filestat_set_times (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $path_link (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_readlink (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_remove_directory (i32.const 3) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_rename (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_symlink (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $path_unlink_file (i32.const 3) (i32.const 0) (i32.const 0))))
;;> # tick
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> tell 8
;;> = ()
