;; What is printed becomes records, line by line.
;; covers: fd_write
;; do: tick
(data (i32.const 32) "one\ntwo\nth" "re\n")
(func (export "proxy_on_tick") (param i32)
  (i32.store (i32.const 0) (i32.const 32)) (i32.store (i32.const 4) (i32.const 9))
  (i32.store (i32.const 8) (i32.const 41)) (i32.store (i32.const 12) (i32.const 4))
  (call $tell (call $fd_write (i32.const 1) (i32.const 0) (i32.const 2) (i32.const 16)))
  (call $tell (i32.load (i32.const 16)))
  (call $tell (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 16)))
  (call $tell (call $fd_write (i32.const 2) (i32.const 8) (i32.const 1) (i32.const 16)))
  (call $tell (call $fd_write (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
  (call $tell (call $fd_write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 16)))
  (call $tell (call $fd_write (i32.const 1) (i32.const 65530) (i32.const 1) (i32.const 16)))
  (call $tell (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 65533)))
  (i32.store (i32.const 4) (i32.const -1))
  (call $tell (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))))
;;> # tick
;;> 1: print Stdout "one"
;;> 1: print Stdout "two"
;;> 1: print Stdout "thre"
;;> tell 0
;;> tell 13
;;> 1: print Stderr "one"
;;> 1: print Stderr "two"
;;> tell 0
;;> 1: print Stderr "thre"
;;> tell 0
;;> tell 8
;;> tell 8
;;> tell 21
;;> tell 21
;;> tell 21
;;> = ()
