module chkscope

go 1.26.0

require golang.org/x/sys v0.50.0

require github.com/ulikunitz/xz v0.5.17
