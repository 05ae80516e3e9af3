;; Three descriptors that are no files, and no others.
;; covers: fd_fdstat_get, fd_fdstat_set_flags, fd_filestat_get, fd_read, fd_seek, fd_tell, fd_close, fd_prestat_get, fd_prestat_dir_name
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $fd_fdstat_get (i32.const 1) (i32.const 0)))
  (call $tell64 (i64.load (i32.const 0)))
  (call $tell64 (i64.load (i32.const 8)))
  (call $tell (call $fd_fdstat_get (i32.const 3) (i32.const 0)))
  (call $tell (call $fd_fdstat_get (i32.const 1) (i32.const 65520)))
  (call $tell (call $fd_fdstat_set_flags (i32.const 1) (i32.const 4)))
  (call $tell (call $fd_fdstat_set_flags (i32.const 3) (i32.const 4)))
  (call $tell (call $fd_filestat_get (i32.const 2) (i32.const 0)))
  (call $tell (i32.load8_u (i32.const 16)))
  (call $tell (call $fd_filestat_get (i32.const 3) (i32.const 0)))
  (i32.store (i32.const 16) (i32.const 77))
  (call $tell (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
  (call $tell (i32.load (i32.const 16)))
  (call $tell (call $fd_read (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 16)))
  (call $tell (call $fd_seek (i32.const 1) (i64.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $fd_seek (i32.const 3) (i64.const 0) (i32.const 0) (i32.const 0)))
  (call $tell (call $fd_tell (i32.const 1) (i32.const 0)))
  (call $tell (call $fd_close (i32.const 1)))
  (call $tell (call $fd_close (i32.const 3)))
  (call $tell (call $fd_prestat_get (i32.const 3) (i32.const 0)))
  (call $tell (call $fd_prestat_dir_name (i32.const 3) (i32.const 0) (i32.const 8))))
;;> # tick
;;> tell 0
;;> tell 2
;;> tell 64
;;> tell 8
;;> tell 21
;;> tell 0
;;> tell 8
;;> tell 0
;;> tell 2
;;> tell 8
;;> tell 0
;;> tell 0
;;> tell 8
;;> tell 70
;;> tell 8
;;> tell 70
;;> tell 0
;;> tell 8
;;> tell 8
;;> tell 8
;;> = ()
