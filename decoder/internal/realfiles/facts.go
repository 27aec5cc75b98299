package realfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chkscope/decoder/serde"
)

// Fact prints a value as the programs did that wrote the facts.txt files: as
// Java's toString.
func Fact(v serde.Value) string {
	var parts []string
	for i := range v.Items {
		parts = append(parts, Fact(v.Items[i]))
	}
	switch v.Form {
	case serde.Text:
		return v.Text
	case serde.Real32, serde.Real64:
		return strings.Replace(v.String(), "e+0", "E", 1)
	case serde.Millis:
		return strconv.FormatInt(v.N, 10)
	case serde.Sequence:
		return "[" + strings.Join(parts, ", ") + "]"
	case serde.Fields:
		class := v.Shape.Type[strings.LastIndexAny(v.Shape.Type, ".$")+1:]
		switch {
		case v.Shape.Positional:
			return "(" + strings.Join(parts, ",") + ")"
		case class == "Address":
			return parts[0] + "/" + parts[1]
		case class == "Order":
			return strings.Join([]string{Fact(v.Field("id")), Fact(v.Field("product")), Fact(v.Field("amount")), Fact(v.Field("tags")), Fact(v.Field("address"))}, "|")
		case class == "KafkaTopicPartition":
			return fmt.Sprintf("KafkaTopicPartition{topic='%s', partition=%s}", parts[0], parts[1])
		case class == "NextTransactionalIdHint":
			return fmt.Sprintf("%s{lastParallelism=%s, nextFreeTransactionalId=%s}", class, parts[1], parts[0])
		}
		for i := range parts {
			parts[i] = v.Shape.Names[i] + "=" + parts[i]
		}
		if class == "State" {
			parts[2] = "context=KafkaTransactionContext{transactionalIds=" + strings.TrimPrefix(parts[2], "context=") + "}"
		}
		return class + "{" + strings.Join(parts, ", ") + "}"
	}
	return v.String()
}

// KeyedFact is Fact with what only keyed values have.
func KeyedFact(state string, v serde.Value) string {
	switch {
	case v.Form == serde.TTLValue:
		return Fact(v.Items[0])
	case v.Form == serde.Binary:
		var n []string
		for _, b := range []byte(v.Text) {
			n = append(n, fmt.Sprint(int8(b)))
		}
		return "[" + strings.Join(n, ", ") + "]"
	case state == "aggregate":
		return Fact(v.Items[0]) + "#" + Fact(v.Items[1])
	case v.Form == serde.Sequence:
		var in []string
		for _, e := range v.Items {
			in = append(in, KeyedFact("", e))
		}
		return "[" + strings.Join(in, ", ") + "]"
	case state == "click-avro":
		var in []string
		for i, e := range v.Items {
			in = append(in, fmt.Sprintf("%q: %s", v.Shape.Names[i], avroText(e)))
		}
		return "{" + strings.Join(in, ", ") + "}"
	}
	return Fact(v)
}

func avroText(v serde.Value) string {
	if v.Form == serde.Text {
		return fmt.Sprintf("%q", v.Text)
	}
	return v.String()
}

// FactsFile is the name of the file in the folder of a snapshot of lab that
// tells what Flink read in it; "" where there is none.
func FactsFile(s *Snapshot) string {
	about, err := os.ReadFile(filepath.Join(s.Folder, "about.txt"))
	if err != nil {
		return ""
	}
	chk := filepath.Base(filepath.Dir(s.Name))
	own := "facts-" + chk + ".txt"
	switch {
	case exists(filepath.Join(s.Folder, "facts-intended.txt")):
		return "facts-intended.txt" // Flink itself cannot read that snapshot
	case exists(filepath.Join(s.Folder, own)) && !(strings.Contains(string(about), "\nsnapshot: ") && strings.Contains(string(about), "/"+chk+"\nfacts")):
		return own
	case !regexp.MustCompile(`(?m)^snapshot: .*` + regexp.QuoteMeta(chk) + `$`).Match(about):
		return "" // one of a chain without facts of its own
	}
	return "facts.txt"
}

// CompareAbout compares what was read of snapshots of lab with the lines of a kind
// ("keyed state") in their about.txt, which Flink's own classes wrote. Folders and
// got are by the name of the snapshot; got has the lines. At least so many lines
// must have been compared.
func CompareAbout(t testing.TB, kind string, folders map[string]string, got map[string]map[string]bool, atLeast int) {
	t.Helper()
	compared := 0
	line := regexp.MustCompile(`(?m)^  ` + kind + ` (.*)$`)
	for name, folder := range folders {
		about, err := os.ReadFile(filepath.Join(folder, "about.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`(?m)^snapshot: (.*)$`).FindSubmatch(about); m == nil || !strings.HasSuffix(filepath.Dir(name), string(m[1])) {
			continue
		}
		for _, m := range line.FindAllSubmatch(about, -1) {
			compared++
			if !got[name][string(m[1])] {
				t.Errorf("%s: %s is not in %v", name, m[1], got[name])
			}
		}
	}
	if compared < atLeast {
		t.Errorf("only %d states compared", compared)
	}
}
