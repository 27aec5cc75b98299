module chkscope

go 1.26
