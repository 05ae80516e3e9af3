;; It was built for something else.
(module (memory (export "memory") 1) (func (export "malloc") (param i32) (result i32) (i32.const 0)))
