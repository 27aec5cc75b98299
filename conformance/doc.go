// Package conformance lets real Flink judge what chkscope writes.
//
// The Java program beside it (src, pom.xml; one Maven profile per Flink version) makes snapshots of a job with every kind of state, restores
// snapshots, and tells every value that Flink read as one line of text: a fact. The tests drive it: they make a snapshot, edit a copy with
// the chkscope binary, let Flink restore both, and compare the facts. They are skipped without Java and Maven.
//
//	go test ./conformance                              the judge itself and the founding incident, a minute or two
//	CHKSCOPE_CONFORMANCE=part go test ./conformance    the matrix with one old, one middle and one new Flink, under 10 minutes
//	CHKSCOPE_CONFORMANCE=full go test -timeout 60m ./conformance    the whole matrix; writes its tables into both READMEs
//
// By hand: `mvn -P flink-1.20 package` in this directory, then `./flink 1.20 COMMAND …` (Main.java says which).
package conformance
