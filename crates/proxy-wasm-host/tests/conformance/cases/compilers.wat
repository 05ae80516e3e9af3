;; What compilers for C++ leave in modules.
;; covers: emscripten_notify_memory_growth, pthread_equal
;; do: tick
(func (export "proxy_on_tick") (param i32)
  (call $emscripten_notify_memory_growth (i32.const 0))
  (call $tell (call $pthread_equal (i32.const 5) (i32.const 5)))
  (call $tell (call $pthread_equal (i32.const 5) (i32.const 6))))
;;> # tick
;;> tell 1
;;> tell 0
;;> = ()
