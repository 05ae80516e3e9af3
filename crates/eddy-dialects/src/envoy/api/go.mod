module descriptors

go 1.26
