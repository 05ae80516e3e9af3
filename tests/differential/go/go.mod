module eddy.test/differential

go 1.22
