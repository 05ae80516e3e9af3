;; There are no files: a descriptor of one is unknown, and the standard ones do nothing of the kind.
;; covers: fd_advise, fd_allocate, fd_datasync, fd_fdstat_set_rights, fd_filestat_set_size, fd_filestat_set_times, fd_pread, fd_pwrite, fd_readdir, fd_renumber, fd_sync
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $fd_advise (i32.const 3) (i64.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_advise (i32.const 1) (i64.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_allocate (i32.const 3) (i64.const 0) (i64.const 0)))
  (call $tell (call $fd_allocate (i32.const 1) (i64.const 0) (i64.const 0)))
  (call $tell (call $fd_datasync (i32.const 3)))
  (call $tell (call $fd_datasync (i32.const 1)))
  (call $tell (call $fd_fdstat_set_rights (i32.const 3) (i64.const 0) (i64.const 0)))
  (call $tell (call $fd_fdstat_set_rights (i32.const 1) (i64.const 0) (i64.const 0)))
  (call $tell (call $fd_filestat_set_size (i32.const 3) (i64.const 0)))
  (call $tell (call $fd_filestat_set_size (i32.const 1) (i64.const 0)))
  (call $tell (call $fd_filestat_set_times (i32.const 3) (i64.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_filestat_set_times (i32.const 1) (i64.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_pread (i32.const 3) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_pread (i32.const 1) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_pwrite (i32.const 3) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_pwrite (i32.const 1) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_readdir (i32.const 3) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_readdir (i32.const 1) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0)))
  (call $tell (call $fd_renumber (i32.const 3) (i32.const 0)))
  (call $tell (call $fd_renumber (i32.const 1) (i32.const 0)))
  (call $tell (call $fd_sync (i32.const 3)))
  (call $tell (call $fd_sync (i32.const 1))))
;;> # tick
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> tell 8
;;> tell 58
;;> = ()
