package main

import (
	"fmt"
	"io"
	"strings"

	"chkscope/decoder/serde"
	"chkscope/model"
)

// showSerializer is a serializer of a state, as the header of its stream has it.
type showSerializer struct {
	Key    string     `json:"key"`  // VALUE_SERIALIZER, KEY_SERIALIZER, ...
	Kind   string     `json:"kind"` // what its values look like
	Class  *text      `json:"class"`
	Type   *text      `json:"type"` // class of the values, where the snapshot names it
	Opaque bool       `json:"opaque"`
	Why    *string    `json:"why"`  // why values cannot be decoded; null where they can
	Tree   []showType `json:"tree"` // of types, parents first
}

// showType is one line of a type tree.
type showType struct {
	Depth   int    `json:"depth"`
	Name    *text  `json:"name"` // field or part; null at the top
	Type    text   `json:"type"`
	Class   *text  `json:"class"`
	Version number `json:"version"`
	Why     *text  `json:"why"`

	line string
}

// showChange is what became of a serializer in another snapshot.
type showChange struct {
	Key     string           `json:"key"`
	Result  string           `json:"result"`
	Effect  string           `json:"effect"`
	Changes []showDifference `json:"changes"`

	words string
}

type showDifference struct {
	Path   text    `json:"path"`
	Text   text    `json:"text"`
	Result string  `json:"result"`
	Rule   *string `json:"rule"` // class of Flink that decides
}

// resultWords are results in documents.
var resultWords = map[serde.Compatibility]string{
	serde.CompatibleAsIs: "as_is", serde.CompatibleReconfigured: "reconfigured", serde.CompatibleAfterMigration: "after_migration",
	serde.Incompatible: "incompatible", serde.Undecided: "unknown",
}

// serializersOf gives what stream headers say about a named state.
func serializersOf(s *snapshot, n model.Node) []showSerializer {
	out := []showSerializer{}
	if class := s.tree.Class(n); class != model.ClassState && class != model.ClassCell || s.tree.Whole(n) {
		return out
	}
	for _, x := range s.Serializers(s.tree, n) {
		if x.Type == nil {
			continue
		}
		class := x.Type.Class
		if class == "" {
			class = x.Type.SerializerClass
		}
		v := showSerializer{Key: x.Key, Kind: x.Type.Kind.String(), Class: orNull(class), Type: orNull(x.Type.Type), Opaque: x.Type.Opaque, Why: stringOrNull(serde.Unreadable(x.Type)), Tree: []showType{}}
		for _, l := range serde.Describe(x.Type) {
			version := number(l.Version)
			if l.Class == "" {
				version = number(model.Unknown)
			}
			v.Tree = append(v.Tree, showType{l.Depth, orNull(l.Name), text(l.Type), orNull(l.Class), version, orNull(l.Why), l.String()})
		}
		out = append(out, v)
	}
	return out
}

// changesOf compares the serializers of a node's state with those in other.
func changesOf(s *snapshot, n model.Node, other *snapshot) []showChange {
	class, kind := s.tree.Class(n), s.tree.Kind(n)
	if class != model.ClassState && class != model.ClassCell || kind != model.KindOperator && kind != model.KindKeyed || s.tree.Whole(n) {
		return []showChange{}
	}
	list, ok := s.Against(s.tree, n, other.Snapshot)
	if !ok {
		const missing = "that snapshot has no such state, or a header cannot be read"
		return []showChange{{Result: "missing", Effect: missing, Changes: []showDifference{}, words: missing}}
	}
	out := []showChange{}
	for _, c := range list {
		v := showChange{Key: c.Key, Result: resultWords[c.Result], Effect: c.Effect, Changes: []showDifference{}, words: c.Result.String()}
		for _, d := range c.Changes {
			v.Changes = append(v.Changes, showDifference{text(d.Path), text(d.Text), resultWords[d.Result], stringOrNull(d.Rule)})
		}
		out = append(out, v)
	}
	return out
}

func writeSerializers(w io.Writer, list []showSerializer) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "  serializers")
	for _, x := range list {
		for i, l := range x.Tree {
			head := ""
			if i == 0 {
				head = x.Key + ": "
			}
			fmt.Fprintf(w, "    %s%s%s\n", strings.Repeat("  ", l.Depth), head, model.Clean(l.line))
		}
	}
}

func writeChanges(w io.Writer, against string, n showNode) {
	if len(n.Against) == 0 {
		return
	}
	fmt.Fprintf(w, "  restored with the serializers of %s\n", model.Clean(against))
	for _, c := range n.Against {
		if c.Key == "" {
			fmt.Fprintf(w, "    %s\n", c.words)
			continue
		}
		fmt.Fprintf(w, "    %s: %s. %s\n", c.Key, c.words, strings.ToUpper(c.Effect[:1])+c.Effect[1:])
		for _, d := range c.Changes {
			line := string(d.Text)
			if d.Path != "" {
				line = string(d.Path) + ": " + line
			}
			if d.Rule != nil && *d.Rule != "" {
				line += " (" + *d.Rule + ")"
			}
			fmt.Fprintf(w, "      %s\n", model.Clean(line))
		}
	}
}
