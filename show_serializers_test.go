package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestShowTree: the serializers of a state as a tree of types.
func TestShowTree(t *testing.T) {
	dir, flags := fixture(t, "v3-heap-checkpoint")
	var doc struct {
		Nodes []struct {
			Serializers []showSerializer
		}
	}
	text := run(append(flags, "show", dir, "*/operator/rules", "--json")...).wantCode(t, exitOK).out
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Nodes) != 1 || len(doc.Nodes[0].Serializers) != 2 {
		t.Fatalf("%v in %s", err, text)
	}
	if tree := doc.Nodes[0].Serializers[1].Tree; len(tree) != 8 || tree[2].Depth != 2 || *tree[2].Name != "street" || tree[2].Type != "String" {
		t.Errorf("%+v", tree)
	}
	run(append(flags, "show", dir, "*/keyed/order")...).wantCode(t, exitOK).
		wantOut(t, "  serializers\n    KEY_SERIALIZER: Long [LongSerializer 3]\n    NAMESPACE_SERIALIZER: VoidNamespace [VoidNamespaceSerializer 3]\n    VALUE_SERIALIZER: POJO Jobs$Order [PojoSerializerSnapshot 2]\n      address: POJO Jobs$Address")
}

// TestShowAgainst: what Flink makes of the states of one release with the
// serializers of another.
func TestShowAgainst(t *testing.T) {
	a, flags := fixture(t, "v3-heap-checkpoint")
	b, mapped := fixture(t, "v6-file-merging")
	r := run(append(mapped, "show", a, "*/operator/pending-orders", "--against", b)...).wantCode(t, exitOK)
	r.wantOut(t, "VALUE_SERIALIZER: incompatible. Flink refuses the restore (StateMigrationException)\n      tags: Nullable was Kryo java.util.List (TypeSerializerSnapshot)")
	run(append(flags, "show", a, "*/operator/union-offsets", "--against", a)...).wantCode(t, exitOK).wantOut(t, "VALUE_SERIALIZER: compatible as is. Nothing to do")
	// An operator, and the row for all its keyed names, are compared state by state.
	key := "restored with the serializers of " + a
	for selector, states := range map[string]int{"2e5b298c776b375c07269a9f5b4ca9bb": 2, "9c32e3838cee893dbb2fc90ccad79598/keyed": 16, "9c32e3838cee893dbb2fc90ccad79598/*": 16} {
		r := run(append(flags, "show", a, selector, "--against", a)...).wantCode(t, exitOK)
		if n := strings.Count(r.out, key); n != states || strings.Contains(r.out, "has no such state") {
			t.Errorf("%s: %d states are compared, not %d", selector, n, states)
		}
	}
	other, _ := fixture(t, "v6-no-uids")
	run(append(flags, "show", a, "*/operator/rules", "--against", other)...).wantCode(t, exitOK).wantOut(t, "that snapshot has no such state")
	run(append(flags, "show", a, "*", "--against", a+"/nowhere")...).wantCode(t, exitFailed)
}

func (r result) wantOut(t *testing.T, part string) result {
	t.Helper()
	if !strings.Contains(r.out, part) {
		t.Fatalf("stdout does not hold %q:\n%s", part, r.out)
	}
	return r
}
