;; Each level is told; one that there is not is refused, and so is a message beyond the memory.
;; covers: proxy_log
;; do: tick
(data (i32.const 16) "hello")
(func (export "proxy_on_tick") (param i32)
  (call $tell (call $proxy_log (i32.const 2) (i32.const 16) (i32.const 5)))
  (call $tell (call $proxy_log (i32.const 3) (i32.const 16) (i32.const 5)))
  (call $tell (call $proxy_log (i32.const 4) (i32.const 16) (i32.const 5)))
  (call $tell (call $proxy_log (i32.const 5) (i32.const 16) (i32.const 5)))
  (call $tell (call $proxy_log (i32.const 6) (i32.const 16) (i32.const 5)))
  (call $tell (call $proxy_log (i32.const 2) (i32.const 65535) (i32.const 2))))
;;> # tick
;;> 1: log Info "hello"
;;> tell 0
;;> 1: log Warn "hello"
;;> tell 0
;;> 1: log Error "hello"
;;> tell 0
;;> 1: log Critical "hello"
;;> tell 0
;;> tell 2
;;> tell 6
;;> = ()
