package connector

import (
	"fmt"
	"regexp"
	"strings"

	"chkscope/decoder/serde"
)

var (
	pendingFact = regexp.MustCompile(`FileSinkCommittable\{bucketId=(\w+), pendingFile=\w+\{commitRecoverable=LocalRecoverable\{targetFile=([^,]*), tempFile=([^,]*), offset=(\d+)\}, targetPath=([^,]*), fileSize=(\d+)\}`)
	cleanUpFact = regexp.MustCompile(`FileSinkCommittable\{bucketId=(\w+), pendingFile=null, inProgressFileToCleanup=\w+\{resumeRecoverable=LocalRecoverable\{targetFile=([^,]*), tempFile=([^,]*), offset=(\d+)\}`)
	splitFact   = regexp.MustCompile(`(?m)^      FileSourceSplit\{id=(\d+), filePath=(.*), offset=(\d+), length=(\d+), fileModificationTime=(\d+), fileSize=(\d+), hostnames=\[\], readerPosition=null\}$`)
	pathFact    = regexp.MustCompile(`(?m)^      (file:.*)$`)
)

// fileSinkFacts: committables, several in a line.
func fileSinkFacts(facts string, out map[string]int) {
	count("FileSink pending", pendingFact, facts, out)
	count("FileSink clean up", cleanUpFact, facts, out)
}

// fileSourceFacts: the enumerator's splits and paths.
func fileSourceFacts(facts string, out map[string]int) {
	count("FileSource pending", splitFact, facts, out)
	count("FileSource path", pathFact, facts, out)
}

func count(kind string, re *regexp.Regexp, facts string, out map[string]int) {
	for _, m := range re.FindAllStringSubmatch(facts, -1) {
		out[kind+": "+strings.Join(m[1:], " ")]++
	}
}

// countFiles finds the same in what was decoded.
func countFiles(d Decoded, got map[string]int) {
	v := d.Value
	switch d.Connector {
	case "FileSource enumerator":
		for _, s := range v.Field("pending").Items {
			got[fmt.Sprintf("FileSource pending: %s %s %d %d %d %d", s.Field("id").Text, s.Field("path").Text, s.Field("offset").N, s.Field("length").N,
				s.Field("modified").N, s.Field("file_size").N)]++
		}
		for _, p := range v.Field("processed_paths").Items {
			got["FileSource path: "+p.Text]++
		}
	case "sink committer":
		for _, c := range v.Field("checkpoints").Items {
			for _, s := range c.Field("subtasks").Items {
				for _, r := range s.Field("requests").Items {
					countCommittable(r.Field("committable"), got)
				}
			}
		}
	}
}

func countCommittable(c serde.Value, got map[string]int) {
	for part, kind := range map[string]string{"pending": "FileSink pending", "in_progress_to_clean_up": "FileSink clean up"} {
		p := c.Field(part)
		if p.Form != serde.Fields {
			continue
		}
		f := p.Field("recoverable")
		line := fmt.Sprintf("%s: %s %s %s %d", kind, c.Field("bucket").Text, f.Field("target").Text, f.Field("temporary").Text, f.Field("offset").N)
		if part == "pending" {
			line += fmt.Sprintf(" %s %d", p.Field("path").Text, p.Field("size").N)
		}
		got[line]++
	}
}
