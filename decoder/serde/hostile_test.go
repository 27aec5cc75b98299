package serde_test

import (
	"runtime"
	"strings"
	"testing"

	"chkscope/decoder/serde"
)

// TestHostileSnapshots: a type of a million parts, or of parts in one another without
// end, is refused, and takes no more memory than its bytes account for.
func TestHostileSnapshots(t *testing.T) {
	const n = 1_000_000
	wide := w().utf(javaRT+"TupleSerializerSnapshot").i32(3, 0x000DE704, 1).utf("T").i32(0x001457FD, 1, n)
	field := snap(base+"NullValueSerializer$NullValueSerializerSnapshot", 3)
	for range n {
		wide.sub(field)
	}
	deep := w()
	for range n {
		deep.utf(base+"ListSerializerSnapshot").i32(3, 0x000DE704, 1, 0x001457FD, 1, 1)
	}
	pojo := w().utf(javaRT + "PojoSerializerSnapshot").i32(2).utf("P").i64(0x000004F2C69A3D70).i32(n)
	for range n {
		pojo.utf("f").raw(0).sub(frame(field))
	}
	old := w().utf(base+"CollectionSerializerConfigSnapshot").i32(0x7A53C4F0).sub(serBytes(javaString("x"))).i32(1, n)
	for range n {
		old.i32(0, 0)
	}
	old.i32(0)
	claims := w().utf(javaRT+"TupleSerializerSnapshot").i32(3, 0x000DE704, 1).utf("T").i32(0x001457FD, 1, 1<<30)
	for _, c := range []struct {
		name string
		typ  *enc
		want string
	}{
		{"a million fields", wide, "serializer snapshots"},
		{"a million levels", deep, "in one another"},
		{"a POJO of a million fields", pojo, "serializer snapshots"},
		{"an old list of a million types", old, "serializer snapshots"},
		{"a number without its fields", claims, "between 0 and 0"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := serde.NewReader("file", c.typ.b, 0)
		r.Snap()
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 500<<20 {
			t.Errorf("%s: %d bytes were allocated for %d", c.name, after.TotalAlloc-before.TotalAlloc, len(c.typ.b))
		}
	}
}
