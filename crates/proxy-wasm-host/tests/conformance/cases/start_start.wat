;; Without `_initialize` there is `_start`, and `main` is not called.
;; covers: _start
;; do: 
(func (export "_start") (call $tell (i32.const 1)))
(func (export "main") (param i32 i32) (result i32) (call $tell (i32.const 99)) (i32.const 0))
;;> tell 1
