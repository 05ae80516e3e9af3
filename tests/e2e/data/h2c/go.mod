module eddy.test/h2c

go 1.24
